import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { openTunnelPath, type TunnelPath } from '../support/network/tunnel-path.ts';
import { everythingServerPath } from '../support/servers/bundled-servers.ts';
import { startEverythingServer, type EverythingServer } from '../support/servers/everything-server.ts';
import { openTestServer, type TestServer } from '../support/servers/running-server.ts';

/** All ways to server-everything, each to one of its own. */
let servers: { direct: EverythingServer; bridge: TestServer; tunnel: TunnelPath };

beforeAll(async () => {
  const direct = await startEverythingServer();
  const bridge = await openTestServer({ command: `${process.execPath} ${everythingServerPath} stdio` });
  servers = { direct, bridge, tunnel: await openTunnelPath(bridge.url) };
});
afterAll(async () => {
  await servers.tunnel[Symbol.asyncDispose]();
  await servers.bridge[Symbol.asyncDispose]();
  await servers.direct[Symbol.asyncDispose]();
});

async function run(way: 'direct' | 'bridge' | 'tunnel', steps: Step[]): Promise<CaseOutcome> {
  const { direct, bridge, tunnel } = servers;
  const url = { direct: direct.url, bridge: bridge.url, tunnel: tunnel.publicUrl }[way];
  const target = { url, serverName: 'everything', protocol: 'legacy' as const };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 60_000 });
}

const query = callStep('simulate-research-query', { topic: 'tea' });
const toggle = callStep('toggle-simulated-logging');
const operation = callStep('trigger-long-running-operation', { duration: 0.2, steps: 3 });

describe.each(['direct', 'bridge', 'tunnel'] as const)('server-everything, %s', (way) => {
  // The reference server takes a second for each of the four stages of its task.
  it.concurrent('runs a task to its result, and reports its states', async () => {
    const outcome = await run(way, [
      query,
      assertStep({ type: 'toolResultContains', needle: '# Research Report: tea' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    const reports = outcome.trace.metadata?.notifications ?? [];
    expect(reports.map((report) => (report.kind === 'task' ? report.status : report.kind))).toContain('completed');
  });

  it.concurrent('reports the progress of an operation', async () => {
    const assertion = { type: 'progressReported', minCount: 3, toolName: operation.toolName } as const;
    expect(await run(way, [operation, assertStep(assertion)])).toMatchObject({ result: 'passed', error: null });
  });

  it.concurrent('logs what the case asks for', async () => {
    const assertion = { type: 'logged', contains: 'level', level: 'debug' } as const;
    expect(await run(way, [toggle, assertStep(assertion)])).toMatchObject({ result: 'passed', error: null });
  });
});

describe('a task of server-everything that asks its client', () => {
  it('gets the scripted answer with the request for the result', async () => {
    const steps = [
      callStep('simulate-research-query', { topic: 'python', ambiguous: true }),
      assertStep({ type: 'toolResultContains', needle: '# Research Report: python (snake)' }),
    ];
    const client = { elicitation: [{ accept: { interpretation: 'snake' } }] };
    const target = { url: servers.direct.url, serverName: 'everything', protocol: 'legacy' as const };
    const testCase = createCase(steps, { advancedConfig: { client } });
    const outcome = await runCase(testCase, target, { clock: systemClock, timeoutMs: 60_000 });
    expect(outcome).toMatchObject({ result: 'passed', error: null });
  });
});

describe('a case on server-everything fails', () => {
  it.concurrent('on arguments that the server makes no task for', async () => {
    const outcome = await run('direct', [callStep('simulate-research-query', { topic: 3 })]);
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toMatch(/^simulate-research-query failed with JSON-RPC error -32602: /);
  });

  it.concurrent('on progress that says something else', async () => {
    const outcome = await run('direct', [operation, assertStep({ type: 'progressReported', message: 'Boiling' })]);
    const error =
      'progressReported: the server reported no progress with a message that contains "Boiling", the latest 3 of 3.';
    expect(outcome).toMatchObject({ result: 'failed', error });
  });

  it.concurrent('on log messages that say something else', async () => {
    const outcome = await run('direct', [toggle, assertStep({ type: 'logged', contains: 'boiling', level: 'debug' })]);
    expect(outcome.error).toMatch(/^logged: the server logged .*; expected one that contains "boiling"\.$/);
  });
});
