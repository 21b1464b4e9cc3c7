import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { ClientOffer } from '../../src/model/client-abilities.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { everythingServerPath } from '../support/servers/bundled-servers.ts';
import { type EverythingServer, startEverythingServer } from '../support/servers/everything-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';

let server: EverythingServer;
let bridge: RunningServer;

beforeAll(async () => {
  server = await startEverythingServer();
  bridge = await openTestServer({ command: `${process.execPath} ${everythingServerPath} stdio` });
});

afterAll(async () => {
  await bridge[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function run(
  toolName: string,
  args: Record<string, unknown>,
  { client, needle }: { client: ClientOffer; needle: string },
  url = server.url,
) {
  const target: Target = { url, serverName: 'everything', protocol: 'legacy' };
  const steps = [callStep(toolName, args), assertStep({ type: 'toolResultContains', needle })];
  const testCase = createCase(steps, { advancedConfig: { client } });
  return await runCase(testCase, target, { clock: systemClock, timeoutMs: 30_000 });
}

const everything: Array<[string, Record<string, unknown>, { client: ClientOffer; needle: string }]> = [
  [
    'trigger-elicitation-request',
    {},
    { client: { elicitation: [{ accept: { name: 'Ada', check: true } }] }, needle: 'Ada' },
  ],
  [
    'trigger-url-elicitation',
    { url: 'https://example.com' },
    { client: { elicitation: ['accept'] }, needle: 'accept' },
  ],
  [
    'trigger-sampling-request',
    { prompt: 'Hi' },
    { client: { sampling: [{ text: 'A summary' }] }, needle: 'A summary' },
  ],
  ['get-roots-list', {}, { client: { roots: ['file:///workspace'] }, needle: 'file:///workspace' }],
];

describe.each(everything)('%s of server-everything', (toolName, args, { client, needle }) => {
  it('passes with an answer, and fails where the result is another one', async () => {
    expect(await run(toolName, args, { client, needle })).toMatchObject({ error: null, result: 'passed' });
    expect((await run(toolName, args, { client, needle: 'Grace' })).result).toBe('failed');
  });

  it('has no result in a case that does not offer what it needs', async () => {
    const { result, error } = await run(toolName, args, { client: {}, needle });
    expect(result).toBeNull();
    expect(error).toContain(`lists the tool "${toolName}" only to clients that offer`);
  });
});

const asTasks: typeof everything = [
  [
    'trigger-elicitation-request-async',
    {},
    { client: { elicitation: [{ accept: { name: 'Ada', favoriteColor: 'Green' } }] }, needle: '- Name: Ada' },
  ],
  [
    'trigger-sampling-request-async',
    { prompt: 'Hi' },
    { client: { sampling: [{ text: 'A summary' }] }, needle: '"text": "A summary"' },
  ],
];

describe.each(asTasks)('%s of server-everything, which asks as a task', (toolName, args, { client, needle }) => {
  it.concurrent('passes with an answer, which the server fetches when the task is over', async () => {
    expect(await run(toolName, args, { client, needle })).toMatchObject({ error: null, result: 'passed' });
  });

  it.concurrent('passes through the bridge', async () => {
    const polled = { client, needle: 'Poll 1: completed' };
    expect(await run(toolName, args, polled, bridge.url)).toMatchObject({ error: null, result: 'passed' });
  });

  it.concurrent('fails where the result is another one', async () => {
    expect((await run(toolName, args, { client, needle: 'Grace' })).result).toBe('failed');
  });

  it.concurrent('has no result in a case that does not offer what it needs', async () => {
    const { result, error } = await run(toolName, args, { client: {}, needle });
    expect(result).toBeNull();
    expect(error).toContain(
      `lists the tool "${toolName}" only to clients that offer ${Object.keys(client).join()}, which the case does not`,
    );
  });

  it.concurrent('has no result where no answer is left', async () => {
    const nothing: ClientOffer = client.sampling === undefined ? { elicitation: [] } : { sampling: [] };
    const { result, error } = await run(toolName, args, { client: nothing, needle });
    expect(result).toBeNull();
    expect(error).toContain('and it has no answer. Add an answer');
  });
});
