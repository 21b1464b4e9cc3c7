import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { openTestServer } from '../support/servers/running-server.ts';
import { systemClock } from '../../src/base/time.ts';
import { openSession } from '../../src/mcp/session.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/** A server that logs its start, each message and its end. After its handshake, it asks the client for a sign of life. `count` counts its calls. */
const server = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const log = (line) => appendFileSync('log', line + '\\n');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const capabilities = { tools: {} };
const ids = new Set();
let calls = 0;
log('start');
console.error('is up');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  log(method ?? 'answer to ' + id);
  if (method === 'notifications/initialized') send({ id: 'alive', method: 'ping' });
  if (id === undefined || method === undefined) return;
  if (ids.has(id)) log('id used again');
  ids.add(id);
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'counts', version: '1' } } });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'count', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'call ' + ++calls }] } });
}).on('close', () => log('end'));
`;

const writeEvals = (runs: number) => `suite: x
cases:
  - title: Counts
    runs: ${runs}
    steps: [{ toolCall: count }, { assert: { toolResultContains: call 1 } }]
`;

/** What a process got from its clients. The order of an answer and the next request does not matter. */
interface Life {
  handshakes: number;
  answers: number;
  lists: number;
  calls: number;
}

/** Reads the lives of the processes, none of which started before the last one had ended. */
async function readLives(workspace: Workspace): Promise<Life[]> {
  const [, ...processes] = (await workspace.read('log')).split(/^start\n/m);
  return processes.map((text) => {
    const lines = text.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('end');
    expect(lines).not.toContain('id used again');
    const count = (wanted: string) => lines.filter((line) => line === wanted).length;
    expect(count('initialize')).toBe(count('notifications/initialized'));
    return {
      handshakes: count('initialize'),
      answers: count('answer to alive'),
      lists: count('tools/list'),
      calls: count('tools/call'),
    };
  });
}

async function run(inputs: { runs: number; isolation: string; sandbox?: string }) {
  const { runs, ...options } = inputs;
  await using workspace = await createWorkspace({ 'x.evals.yaml': writeEvals(runs), 'server.mjs': server });
  const { report } = await runEmbeddedGate(workspace, {
    'server-command': `${process.execPath} server.mjs`,
    ...options,
  });
  return { totals: report.totals, lives: await readLives(workspace) };
}

const checked: Life = { handshakes: 1, answers: 0, lists: 0, calls: 0 };
const listed: Life = { handshakes: 1, answers: 1, lists: 1, calls: 0 };
const called = { handshakes: 1, answers: 1, calls: 1 };

describe('a server with a process for each iteration', () => {
  it.each(['off', 'auto'])('has the process of the readiness check list its tools (sandbox: %s)', async (sandbox) => {
    const { totals, lives } = await run({ runs: 1, isolation: 'iteration', sandbox });
    expect(totals).toMatchObject({ passed: 1, failed: 0 });
    expect(lives).toMatchObject([listed, called]);
  });

  it('starts a fresh process for the second iteration', async () => {
    const { totals, lives } = await run({ runs: 2, isolation: 'iteration' });
    expect(totals).toMatchObject({ passed: 2, failed: 0 });
    expect(lives).toMatchObject([listed, called, called]);
  });
});

describe('a server with one process for the run', () => {
  it('starts once, so that the second iteration sees the calls of the first', async () => {
    const { totals, lives } = await run({ runs: 2, isolation: 'run' });
    expect(totals).toMatchObject({ passed: 1, failed: 1 });
    expect(lives).toMatchObject([{ ...called, calls: 2 }]);
  });
});

describe('the process of the readiness check', () => {
  const open = (workspace: Workspace) =>
    openTestServer({
      command: `${process.execPath} server.mjs`,
      cwd: workspace.path,
      sessions: { count: 2, warmProcesses: 1, isExclusive: true },
    });
  const target = { serverName: 'counts', protocol: 'legacy' as const };
  const signal = new AbortController().signal;

  it('gives its output to the first session', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': server });
    await using running = await open(workspace);
    using visit = await running.witness?.visit({ isAlone: false, signal });
    await using session = await openSession({ ...running.endpoint, ...target }, { clock: systemClock, signal });
    await session.listTools({ signal });
    expect(await visit?.readOutput(session.id)).toMatchObject([{ text: 'is up' }]);
  });

  it('ends before another one starts for a client that announces abilities', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': server });
    {
      await using running = await open(workspace);
      const abilities = { roots: async () => [] };
      await using session = await openSession(
        { ...running.endpoint, ...target },
        { clock: systemClock, signal, abilities },
      );
      await session.listTools({ signal });
    }
    expect(await readLives(workspace)).toEqual([checked, listed]);
  });

  it('ends before another one starts for a client over HTTP', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': server });
    {
      await using running = await open(workspace);
      await using session = await openSession({ url: running.url, ...target }, { clock: systemClock, signal });
      await session.callTool('count', {}, { signal });
    }
    expect(await readLives(workspace)).toEqual([checked, { ...called, lists: 0 }]);
  });
});
