import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { ClientOffer } from '../../src/model/client-abilities.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type EverythingServer, startEverythingServer } from '../support/servers/everything-server.ts';

let server: EverythingServer;
let target: Target;

beforeAll(async () => {
  server = await startEverythingServer();
  target = { url: server.url, serverName: 'everything', protocol: 'legacy' };
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function run(
  toolName: string,
  args: Record<string, unknown>,
  { client, needle }: { client: ClientOffer; needle: string },
) {
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

it.each(['trigger-elicitation-request-async', 'trigger-sampling-request-async'])(
  '%s of server-everything has no result, since no client here runs tasks for a server',
  async (toolName) => {
    const client: ClientOffer = { elicitation: ['accept'], sampling: [{ text: 'A summary' }], roots: [] };
    const { result, error } = await run(toolName, {}, { client, needle: 'Ada' });
    expect(result).toBeNull();
    expect(error).toContain(`lists the tool "${toolName}" only to clients that run its requests as tasks`);
  },
);
