import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/time.ts';
import { type Chromium, startChromium } from '../../src/browser/chromium.ts';
import { openView } from '../../src/browser/view.ts';
import type { AppPolicy } from '../../src/model/app-policy.ts';
import { findChromiumForGate, missingBrowser } from '../support/browser.ts';

/** A server on loopback that any page may read, and the connections that it got. */
async function startOrigin() {
  let connections = 0;
  const http = createServer((_, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('answered');
  });
  http.on('connection', () => (connections += 1));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    address: `127.0.0.1:${(http.address() as AddressInfo).port}`,
    countConnections: () => connections,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

describe.skipIf(missingBrowser !== null)('a document in a browser', () => {
  let chromium: Chromium;
  beforeAll(async () => {
    if (missingBrowser === null) chromium = await startChromium(findChromiumForGate(), systemClock);
  });
  afterAll(async () => await chromium?.[Symbol.asyncDispose]());

  /** Loads a document whose script says what each request comes to, in one message. */
  async function load(
    script: string,
    policy: AppPolicy | null,
    { head = '', mayReachLoopback = true }: { head?: string; mayReachLoopback?: boolean } = {},
  ) {
    const said = Promise.withResolvers<unknown>();
    const html = `<!doctype html>${head}<script>(async () => { ${script} })().then((said) => parent.postMessage(said, '*'))</script>`;
    await using view = await openView(chromium.devtools, {
      html,
      policy,
      mayReachLoopback,
      onMessage: (message) => said.resolve(message),
    });
    await view.load();
    return { said: await said.promise, errors: view.consoleErrors.entries };
  }

  it('reaches no origin that its policy does not have, on any way', async () => {
    await using other = await startOrigin();
    const script = `
      const refusal = (load) => new Promise((resolve) => { const it = load(); it.onerror = () => resolve('refused'); it.onload = it.onopen = () => resolve('loaded'); });
      navigator.sendBeacon('http://${other.address}/');
      open('http://${other.address}/');
      return Promise.all([
        fetch('http://${other.address}/').then(() => 'loaded', () => 'refused'),
        fetch('/own').then(() => 'loaded', () => 'refused'),
        refusal(() => new WebSocket('ws://${other.address}/')),
        refusal(() => Object.assign(new Image(), { src: 'http://${other.address}/a.png' })),
      ]);`;
    const hints = `<link rel="preconnect" href="http://${other.address}"><link rel="prefetch" href="http://${other.address}/a">`;
    const { said } = await load(script, { connectDomains: ['https://api.example.com'] }, { head: hints });
    expect(said).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(other.countConnections()).toBe(0);
  });

  it('reaches a server on loopback that its policy has, and no other', async () => {
    await using declared = await startOrigin();
    await using other = await startOrigin();
    const script = `
      const read = (url) => fetch(url).then((response) => response.text(), () => 'refused');
      return Promise.all([read('http://${declared.address}/'), read('http://${other.address}/')]);`;
    const policy = { connectDomains: [`http://${declared.address}`] };
    const { said, errors } = await load(script, policy);
    expect(said).toEqual(['answered', 'refused']);
    expect(errors.join('\n')).toContain(`'http://${other.address}/' violates`);
    expect(errors.join('\n')).not.toContain(`'http://${declared.address}/' violates`);
    const connections = declared.countConnections();
    expect((await load(script, policy, { mayReachLoopback: false })).said).toEqual(['refused', 'refused']);
    expect([declared.countConnections(), other.countConnections()]).toEqual([connections, 0]);
  });

  it('has an origin, a store and a world of its own', async () => {
    const script = `
      const before = localStorage.getItem('a'); localStorage.setItem('a', 'b');
      let host = 'closed'; try { host = parent.document.title; } catch {}
      let top = 'closed'; try { window.top.location = 'https://view.invalid/'; } catch {}
      return { origin, before, host, top, probe: typeof mcpEvalProbe, gate: typeof toGate, cookie: document.cookie };`;
    for (const _ of [1, 2]) {
      const { said } = await load(script, null);
      expect(said).toEqual({
        origin: 'https://view.invalid',
        before: null,
        host: 'closed',
        top: 'closed',
        probe: 'undefined',
        gate: 'undefined',
        cookie: '',
      });
    }
  });

  it('cannot change what the probe finds by changing its own functions', async () => {
    const html = `<!doctype html><p>Here</p><script>
      document.querySelectorAll = () => []; Element.prototype.checkVisibility = () => false; globalThis.mcpEvalProbe = null;
      parent.postMessage('ready', '*')</script>`;
    const ready = Promise.withResolvers<void>();
    await using view = await openView(chromium.devtools, {
      html,
      policy: null,
      mayReachLoopback: true,
      onMessage: () => ready.resolve(),
    });
    await view.load();
    await ready.promise;
    const count = await view.world.call('() => mcpEvalProbe.find({ text: "Here" }, null).length', [], z.number());
    expect(count).toBe(1);
  });

  it('keeps 20 errors of its console, each cut, and counts the others', async () => {
    const { errors } = await load(
      `for (let i = 0; i < 25; i += 1) console.error('x'.repeat(1000)); await new Promise((r) => setTimeout(r, 50)); return 1;`,
      null,
    );
    expect([errors.length, errors[0]?.length]).toEqual([20, 300]);
  });
});
