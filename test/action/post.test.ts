import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createJobOutput } from '../../src/action/action-logger.ts';
import { runPost } from '../../src/action/post.ts';
import { captureOutput } from '../support/process/captured-output.ts';
import { isRunning } from '../support/process/processes.ts';

afterEach(() => {
  for (const name of Object.keys(process.env)) if (/^(?:STATE|INPUT)_/.test(name)) delete process.env[name];
});

/** Answers 404 to everything and keeps the keys that it was sent. */
async function startKeyCollector() {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization ?? '');
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    keys,
    url: `http://127.0.0.1:${port}/api/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.runIf(process.platform === 'linux')('runPost', () => {
  it('stops processes with the marker of the main step, and reports their number', async () => {
    const marker = randomUUID();
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
      detached: true,
      env: { ...process.env, MCP_EVAL_CI_PROCESS: marker },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    process.env['STATE_processMarker'] = marker;
    const printed = await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0));
    expect(printed).toBe('Processes of the server that had been left running and are stopped now: 1.\n');
    expect(isRunning(child.pid ?? 0)).toBe(false);
    expect(await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0))).toBe('');
  });

  it('does nothing if the main step never started a server', async () => {
    expect(await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0))).toBe('');
  });
});

describe('runPost with resources in an eval service', () => {
  const leftovers = {
    projectId: 'p',
    servers: [],
    runs: [{ suiteId: 's', runId: 'r', marker: 'm' }],
  };

  it('sends the key to the service of the inputs, whatever the state names', async () => {
    await using real = await startKeyCollector();
    await using other = await startKeyCollector();
    process.env['STATE_leftovers'] = JSON.stringify({ ...leftovers, profile: 'mcpjam', baseUrl: other.url });
    Object.assign(process.env, {
      INPUT_SERVICE: 'svc',
      'INPUT_BASE-URL': real.url,
      'INPUT_API-KEY': 'the-key',
      INPUT_TESTS: '- title: one',
      'INPUT_SERVER-COMMAND': 'server',
    });
    await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0));
    expect(other.keys).toEqual([]);
    expect(new Set(real.keys)).toEqual(new Set(['Bearer the-key']));
  });

  it('sends no request if the inputs name no service', async () => {
    await using other = await startKeyCollector();
    process.env['STATE_leftovers'] = JSON.stringify({ ...leftovers, profile: 'svc', baseUrl: other.url });
    Object.assign(process.env, { INPUT_TESTS: '- title: one', 'INPUT_SERVER-COMMAND': 'server' });
    const printed = await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0));
    expect(printed).toContain('the inputs name no service. Nothing was cleared.');
    expect(other.keys).toEqual([]);
  });
});
