import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { createScriptedSession, type ScriptedAnswer } from '../support/models/scripted-session.ts';
import { createAskingServer } from '../support/servers/asking-server.ts';
import { type FixtureMcpServer, startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer({}, { era: 'both', create: createAskingServer });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function run(script: ReadonlyArray<ScriptedAnswer | Error>, protocol: 'legacy' | 'modern', assertion: Assertion) {
  const session = createScriptedSession(script);
  const steps = [callStep('ask', { needs: ['sampling'] }), assertStep(assertion)];
  const testCase = createCase(steps, { advancedConfig: { client: { sampling: 'model' } } });
  const target = { url: server.url, serverName: 'asking', protocol };
  const openModel = async () => session;
  return { session, outcome: await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000, openModel }) };
}

describe.each(['legacy', 'modern'] as const)('sampling by the model of the case, %s era', (era) => {
  it('asks the model what the server asks, and counts its tokens', async () => {
    const contains: Assertion = { type: 'toolResultContains', needle: 'Three notes.' };
    const { session, outcome } = await run([{ text: 'Three notes.' }], era, contains);
    expect(outcome.error).toBeNull();
    expect(session.asked).toMatchObject([
      {
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Summarize the notes.' }] }],
        maxOutputTokens: 50,
      },
    ]);
    expect(outcome.usage).toMatchObject({ modelCalls: 1 });
    expect(outcome.trace.messages.map(({ role }) => role)).toEqual(['assistant', 'server', 'client', 'tool']);
    expect(outcome.trace.spans.map(({ category }) => category)).toEqual(['llm', 'client', 'tool', 'step', 'step']);
  });

  it('fails where the answer of the model is not what the case expects', async () => {
    const { outcome } = await run([{ text: 'None.' }], era, { type: 'toolResultContains', needle: 'Three' });
    expect(outcome.result).toBe('failed');
  });

  it('leaves the iteration without a result where the model gives no answer', async () => {
    const error = new ModelError('The provider is down.', { kind: 'unavailable' });
    const { outcome } = await run([error], era, { type: 'samplingRequested' });
    expect(outcome).toMatchObject({ result: null, error: 'The provider is down.' });
  });

  it('judges what was asked for', async () => {
    const asked = async (message: string) => await run([{ text: 'a' }], era, { type: 'samplingRequested', message });
    expect((await asked('Summarize')).outcome.result).toBe('passed');
    const { outcome } = await asked('Translate');
    expect(outcome.error).toBe(
      'samplingRequested: the server asked for sampling with a message that contains "Translate" not at all; it asked "Summarize the notes.".',
    );
  });
});
