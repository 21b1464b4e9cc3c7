import { afterEach, describe, expect, it } from 'vitest';
import { TunnelError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/redaction.ts';
import type { BrokenConnection, TunnelHostOptions } from '../../src/tunnel/host.ts';
import { findClosedPort, json, startHttpServer } from '../support/network/http-server.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { startScriptedRelay, type ScriptedRelay, type Welcome } from '../support/network/scripted-relay.ts';
import { catchError } from '../support/service/service-client.ts';
import { createLineLogger, openTestHost, scope } from '../support/network/tunnel-host.ts';

const target = 'http://127.0.0.1:9/mcp';
const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

async function open(script: readonly Welcome[], options: Partial<TunnelHostOptions> = {}) {
  const relay = await startScriptedRelay(script);
  stack.push(relay);
  const host = await openTestHost(relay, target, options);
  stack.push(host);
  return { relay, host };
}

/** Advances a clock until a promise is settled. */
async function advanceUntil<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const watch = promise.finally(() => {
    state.isSettled = true;
  });
  watch.catch(() => {});
  for (let turn = 0; turn < 5000 && !state.isSettled; turn += 1) {
    await clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return promise;
}

describe('opening a tunnel', () => {
  it('offers one subprotocol and the token, and takes the hello for connected', async () => {
    const { relay, host } = await open([{}]);
    const peer = await relay.peer(1);
    expect([peer.socket.protocol, peer.token, host.isConnected]).toEqual([
      'svc-tunnel.v1',
      'connect-token-canary',
      true,
    ]);
    expect(peer.socket.extensions).toBe('');
  });

  it.each([4001, 4002])('fails at once when the relay closes with %i', async (close) => {
    await using relay = await startScriptedRelay([{ close }]);
    const error = await catchError(openTestHost(relay, target));
    expect(error).toBeInstanceOf(TunnelError);
    expect(error).toMatchObject({ code: 'TUNNEL', exitCode: 3, closeCode: close });
    expect(relay.peers.length).toBe(1);
  });

  it('fails when the relay stays silent or away for a minute', async () => {
    const clock = new ManualClock();
    await using silent = await startScriptedRelay(['silence']);
    const away = { ...silent, relayWsUrl: `ws://127.0.0.1:${await findClosedPort()}/agent` };
    for (const [relay, cause] of [
      [silent, 'no hello within 15 s'],
      [away, 'ECONNREFUSED'],
    ] as const) {
      const error = await advanceUntil(clock, catchError(openTestHost(relay, target, { clock })));
      expect(error.message).toMatch(/^The relay could not be reached for /);
      expect((error.cause as Error).message).toContain(cause);
    }
  });

  it.each([
    ['another-tunnel.v1', 'answered with "another-tunnel.v1".'],
    [null, 'answered with no subprotocol.'],
  ])('ends at once where the relay speaks %j', async (subprotocol, answered) => {
    await using relay = await startScriptedRelay(['silence'], { subprotocol });
    const error = await catchError(openTestHost(relay, target, { clock: new ManualClock() }));
    expect(error).toMatchObject({ message: `The relay was offered the subprotocol svc-tunnel.v1 and ${answered}` });
    expect((error as TunnelError).hint).toContain('`--service` of the command');
  });

  it('ends when it is cancelled', async () => {
    await using relay = await startScriptedRelay(['silence']);
    const stop = new AbortController();
    const opening = catchError(openTestHost(relay, target, { signal: stop.signal }));
    await relay.peer(1);
    stop.abort(new Error('enough'));
    expect((await opening).message).toBe('enough');
  });

  it.each([
    'http://127.0.0.1/',
    'ws://example.test/agent',
    'wss://u:p@example.test/',
    'wss://example.test/#a',
    'nonsense?k=canary',
  ])('refuses to send the token to %j', async (relayWsUrl) => {
    const error = await catchError(openTestHost({ relayWsUrl, connectToken: new Secret('canary') }, target));
    expect(error).toMatchObject({ code: 'CONFIGURATION' });
    expect(error.message).not.toContain('canary');
  });

  it.each(['ftp://127.0.0.1/', 'http://u:canary@127.0.0.1/', '127.0.0.1:80'])(
    'refuses %j as its target',
    async (url) => {
      await using relay = await startScriptedRelay();
      const error = await catchError(openTestHost(relay, url));
      expect(error).toMatchObject({ code: 'CONFIGURATION' });
      expect(error.message).not.toContain('canary');
    },
  );
});

describe('a connection that ends', () => {
  it.each([1000, 1001, 1006, 1011, 1012, 4000])('with %i is dialled again', async (code) => {
    const breaks: BrokenConnection[] = [];
    let minted = 0;
    const relay = await startScriptedRelay();
    stack.push(relay);
    const remint = async () => {
      minted += 1;
      return { relayWsUrl: relay.relayWsUrl, connectToken: new Secret('another-token') };
    };
    const host = await openTestHost(relay, target, { remint, onBreak: (lost) => breaks.push(lost) });
    stack.push(host);
    const first = await relay.peer(1);
    if (code === 1006) first.socket.terminate();
    else first.socket.close(code);
    const second = await relay.peer(2);
    await expect.poll(() => host.isConnected).toBe(true);
    expect(breaks).toEqual([{ lastCallAtMs: null, isFinal: false }]);
    expect([second.token, minted]).toEqual(code === 4000 ? ['another-token', 1] : ['connect-token-canary', 0]);
  });

  it.each([
    [4001, 'Another host took over this tunnel.'],
    [4002, 'The tunnel was closed, or another job was granted one under the same server name.'],
  ])('with %i is lost for good', async (code, message) => {
    const breaks: BrokenConnection[] = [];
    const { relay, host } = await open([{}], { onBreak: (lost) => breaks.push(lost) });
    (await relay.peer(1)).socket.close(code);
    const error = await host.lost;
    expect(error).toMatchObject({ message, closeCode: code });
    expect(breaks).toEqual([{ lastCallAtMs: null, isFinal: true }]);
    expect([host.isConnected, relay.peers.length]).toEqual([false, 1]);
  });

  it('twice with 1008 is lost for good', async () => {
    const { relay, host } = await open([{}, { close: 1008 }]);
    (await relay.peer(1)).socket.close(1008);
    expect((await host.lost).message).toBe('The relay refused the connection twice, with close code 1008.');
    expect(relay.peers.length).toBe(2);
  });

  it('with 4000 is lost if the service gives no other grant', async () => {
    const noWay = await open([{}], { remint: () => Promise.reject(new Error('the service said no')) });
    (await noWay.relay.peer(1)).socket.close(4000);
    expect(await noWay.host.lost).toMatchObject({ closeCode: 4000, cause: { message: 'the service said no' } });
    const none = await open([{}]);
    (await none.relay.peer(1)).socket.close(4000);
    expect(await none.host.lost).toMatchObject({ closeCode: 4000 });
  });

  it('asks for one grant at a time, and for no more than three a minute', async () => {
    let asking = 0;
    let most = 0;
    let minted = 0;
    const relay: ScriptedRelay = await startScriptedRelay([{}, { close: 4000 }]);
    stack.push(relay);
    const remint = async () => {
      asking += 1;
      minted += 1;
      most = Math.max(most, asking);
      await new Promise((resolve) => setTimeout(resolve, 5));
      asking -= 1;
      return relay;
    };
    const host = await openTestHost(relay, target, { remint });
    stack.push(host);
    (await relay.peer(1)).socket.close(4000);
    expect((await host.lost).message).toBe('The relay refused the token of each of 3 new grants within a minute.');
    expect([minted, most]).toEqual([3, 1]);
  });

  it('gives up the calls that were under way on it', async () => {
    await using server = await startHttpServer(() => {});
    const relay = await startScriptedRelay();
    stack.push(relay);
    const breaks: Array<number | null> = [];
    const onBreak = ({ lastCallAtMs }: BrokenConnection) => breaks.push(lastCallAtMs);
    const host = await openTestHost(relay, server.origin, { onBreak });
    stack.push(host);
    const peer = await relay.peer(1);
    peer.request(1, scope);
    await expect.poll(() => host.inFlight).toBe(1);
    const beforeMs = performance.now();
    peer.socket.terminate();
    await relay.peer(2);
    expect(host.inFlight).toBe(0);
    expect(breaks).toEqual([expect.any(Number)]);
    expect(breaks[0]).toBeGreaterThanOrEqual(beforeMs);
  });

  it('reports when its last call was over', async () => {
    await using server = await startHttpServer((response) => void response.end('done'));
    const relay = await startScriptedRelay();
    stack.push(relay);
    const breaks: Array<number | null> = [];
    const onBreak = ({ lastCallAtMs }: BrokenConnection) => breaks.push(lastCallAtMs);
    const host = await openTestHost(relay, server.origin, { onBreak });
    stack.push(host);
    const peer = await relay.peer(1);
    const beforeMs = performance.now();
    peer.request(1, scope);
    await expect.poll(() => peer.frames.some(({ t }) => t === 'res_end')).toBe(true);
    const afterMs = performance.now();
    peer.socket.terminate();
    await relay.peer(2);
    expect(breaks).toEqual([expect.any(Number)]);
    expect(breaks[0]).toBeGreaterThanOrEqual(beforeMs);
    expect(breaks[0]).toBeLessThanOrEqual(afterMs);
  });

  it('without a close frame is noticed by its silence, and dialled again', async () => {
    const clock = new ManualClock();
    const { relay } = await open([{}], { clock });
    const first = await relay.peer(1);
    // Neither reads, and so neither answers pings, nor closes.
    first.socket.pause();
    await clock.advance(7400);
    expect(relay.peers.length).toBe(1);
    await clock.advance(200);
    await relay.peer(2);
  });
});

describe('disposing a tunnel', () => {
  it('lets calls under way end, and turns others away', async () => {
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    await using server = await startHttpServer(async (response) => {
      await finish;
      response.end('done');
    });
    await using relay = await startScriptedRelay();
    const host = await openTestHost(relay, server.origin, { drainTimeoutMs: 60_000 });
    const peer = await relay.peer(1);
    peer.request(1, scope, { method: 'POST' });
    await expect.poll(() => server.requests.length).toBe(1);
    const closed = host[Symbol.asyncDispose]();
    peer.request(2, scope);
    expect(await peer.waitFor('abort', 2)).toMatchObject({ code: 'overloaded' });
    resolve();
    await closed;
    expect(peer.read(1).toString()).toBe('done');
    expect(relay.peers.length).toBe(1);
  });

  it('does not wait for streams that only listen, nor longer than it may', async () => {
    const clock = new ManualClock();
    await using server = await startHttpServer((response, { method }) => {
      response.writeHead(200, { 'content-type': method === 'GET' ? 'text/event-stream' : 'text/plain' }).flushHeaders();
    });
    await using relay = await startScriptedRelay();
    const listening = await openTestHost(relay, server.origin, { drainTimeoutMs: 60_000 });
    (await relay.peer(1)).request(1, scope);
    await (await relay.peer(1)).waitFor('res', 1);
    await listening[Symbol.asyncDispose]();

    const waiting = await openTestHost(relay, server.origin, { drainTimeoutMs: 2000, clock });
    (await relay.peer(2)).request(1, scope, { method: 'POST' });
    await (await relay.peer(2)).waitFor('res', 1);
    const closed = waiting[Symbol.asyncDispose]();
    await clock.advance(2000);
    await closed;
    expect(clock.sleeping).toBe(0);
  });

  it('logs nothing that is secret', async () => {
    await using server = await startHttpServer(json(200, {}));
    const { logger, lines } = createLineLogger();
    const relay = await startScriptedRelay([{}, { close: 4000 }, {}]);
    stack.push(relay);
    const remint = async () => ({ relayWsUrl: relay.relayWsUrl, connectToken: new Secret('second-canary') });
    const url = `${server.origin}/path-canary/mcp`;
    const host = await openTestHost(relay, url, { logger, remint });
    const peer = await relay.peer(1);
    peer.request(1, `${scope}?k=url-canary`, { headers: [['authorization', 'header-canary']] });
    await peer.waitFor('res_end', 1);
    peer.socket.terminate();
    await relay.peer(3);
    await host[Symbol.asyncDispose]();
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => line.includes('canary'))).toEqual([]);
  });
});
