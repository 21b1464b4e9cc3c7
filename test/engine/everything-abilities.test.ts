import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { ClientOffer } from '../../src/model/client-abilities.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { everythingServerPath } from '../support/servers/bundled-servers.ts';
import { type EverythingServer, startEverythingServer } from '../support/servers/everything-server.ts';
import { openTestServer, type TestServer } from '../support/servers/running-server.ts';

// Cases that pass and fail on each tool are in test/gate/everything-tools.test.ts.

let server: EverythingServer;
let bridge: TestServer;

beforeAll(async () => {
  server = await startEverythingServer();
  bridge = await openTestServer({ command: `${process.execPath} ${everythingServerPath} stdio` });
});

afterAll(async () => {
  await bridge[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function run(steps: Step[], { client = {}, url = server.url }: { client?: ClientOffer; url?: string } = {}) {
  const testCase = createCase(steps, { advancedConfig: { client } });
  const target = { url, serverName: 'everything', protocol: 'legacy' as const };
  return await runCase(testCase, target, { clock: systemClock, timeoutMs: 30_000 });
}

it.concurrent.each([
  ['trigger-elicitation-request', 'elicitation'],
  ['trigger-elicitation-request-async', 'elicitation'],
  ['trigger-url-elicitation', 'elicitation'],
  ['trigger-sampling-request', 'sampling'],
  ['trigger-sampling-request-async', 'sampling'],
  ['get-roots-list', 'roots'],
])('gives a case that calls %s no result where it does not offer %s', async (toolName, ability) => {
  const { result, error } = await run([callStep(toolName)]);
  expect(result).toBeNull();
  const reason = `lists the tool "${toolName}" only to clients that offer ${ability}, which the case does not`;
  expect(error).toContain(reason);
});

const asTasks: Array<[toolName: string, args: Record<string, unknown>, client: ClientOffer, none: ClientOffer]> = [
  ['trigger-elicitation-request-async', {}, { elicitation: [{ accept: { name: 'Ada' } }] }, { elicitation: [] }],
  ['trigger-sampling-request-async', { prompt: 'Hi' }, { sampling: [{ text: 'A summary' }] }, { sampling: [] }],
];

describe.concurrent.each(asTasks)('%s of server-everything, which asks as a task', (toolName, args, client, none) => {
  it('passes through the bridge', async () => {
    const assertion = assertStep({ type: 'toolResultContains', needle: 'Poll 1: completed' });
    const outcome = await run([callStep(toolName, args), assertion], { client, url: bridge.url });
    expect(outcome).toMatchObject({ error: null, result: 'passed' });
  });

  it('has no result where no answer is left', async () => {
    const { result, error } = await run([callStep(toolName, args)], { client: none });
    expect(result).toBeNull();
    expect(error).toContain('and it has no answer. Add an answer');
  });
});

it('fails a case whose arguments the server refuses, unless it expects that', async () => {
  const call = callStep('get-sum', { a: 'two', b: 3 });
  const error = expect.stringMatching(/^get-sum answered with an error: "MCP error -32602: /);
  expect(await run([call])).toMatchObject({ status: 'completed', result: 'failed', error });
  const expected = assertStep({ type: 'toolError', error: { contains: 'expected number' } });
  expect(await run([call, expected])).toMatchObject({ result: 'passed' });
});
