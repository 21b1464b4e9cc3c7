import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import type { ModelParameters } from '../../src/cases/case.ts';
import { startConversation } from '../../src/models/conversation.ts';
import type { ModelCall } from '../../src/models/language-model.ts';
import { explainMissingParameter, readProviders } from '../../src/models/providers.ts';
import { createFingerprinter } from '../../src/models/recordings/fingerprint.ts';
import { compileIgnore } from '../../src/models/recordings/ignore.ts';
import { buildCall, openEnd, openTestSource, testProviderKey } from '../support/models/model-source.ts';
import { openScriptedProvider, type ScriptedAnswer } from '../support/models/scripted-provider.ts';
import { createScriptedSession } from '../support/models/scripted-session.ts';

const all = { reasoningEffort: 'low', maxOutputTokens: 700, topP: 0.9, seed: 7 } as const;

/** Sends one call to a provider, and returns its request with the warnings. */
async function send(
  provider: string,
  name: string,
  { call = buildCall('Hello'), timeoutMs, answers = [{ text: 'Hi.' }] }: SendOptions = {},
) {
  const format = provider === 'anthropic' ? 'anthropic' : 'compatible';
  await using scripted = await openScriptedProvider({ format, answers });
  const prefix = provider === 'google' ? 'GEMINI' : provider.toUpperCase();
  const environment = { [`${prefix}_API_KEY`]: testProviderKey, [`${prefix}_BASE_URL`]: scripted.baseUrl };
  await using source = openTestSource(
    { format, baseUrl: scripted.baseUrl },
    { providers: readProviders({ environment }) },
  );
  const model = { provider, name };
  const session = await source.openSession({ model, caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() });
  const error = await session
    .answer(call, { ...openEnd, ...(timeoutMs !== undefined && { timeoutMs }) })
    .then(() => null)
    .catch((reason: unknown) => String(reason));
  const warnings = source.listWarnings();
  return { body: scripted.requests[0]?.body, warnings, error };
}

interface SendOptions {
  call?: ModelCall;
  timeoutMs?: number;
  answers?: ScriptedAnswer[];
}

const hello = [{ role: 'user', content: 'Hello' }] satisfies OpenAI.ChatCompletionMessageParam[];

describe('the parameters of a model', () => {
  it('are written as the Chat Completions API of OpenAI describes them', async () => {
    const { body, warnings } = await send('openai', 'gpt-5-mini', { call: buildCall('Hello', all) });
    expect(body).toEqual({
      model: 'gpt-5-mini',
      messages: hello,
      max_completion_tokens: 700,
      reasoning_effort: 'low',
      top_p: 0.9,
      seed: 7,
    } satisfies OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['mistral', { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9, random_seed: 7 }],
    ['xai', { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9, seed: 7 }],
    ['openrouter', { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9, seed: 7 }],
    ['ollama', { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9, seed: 7 }],
    ['gateway', { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9, seed: 7 }],
  ])('have the names of %s', async (provider, members) => {
    const { body } = await send(provider, 'some-model', { call: buildCall('Hello', all) });
    expect(body).toEqual({ model: 'some-model', messages: hello, ...members });
  });

  it.each(['google', 'deepseek'])('without a seed have the names of %s', async (provider) => {
    const { seed: _seed, ...taken } = all;
    const { body } = await send(provider, 'some-model', { call: buildCall('Hello', taken) });
    const members = { max_tokens: 700, reasoning_effort: 'low', top_p: 0.9 };
    expect(body).toEqual({ model: 'some-model', messages: hello, ...members });
  });

  it('end the thinking of DeepSeek by the member that its reference names', async () => {
    const { body } = await send('deepseek', 'deepseek-flash', {
      call: buildCall('Hello', { reasoningEffort: 'none' }),
    });
    expect(body).toEqual({ model: 'deepseek-flash', messages: hello, thinking: { type: 'disabled' } });
  });

  it('are written as the Messages API describes them', async () => {
    const { seed: _seed, topP: _topP, ...taken } = all;
    const { body, warnings } = await send('anthropic', 'claude-opus-4-6', { call: buildCall('Hello', taken) });
    expect(body).toEqual({
      model: 'claude-opus-4-6',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      max_tokens: 700,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    } satisfies Anthropic.MessageCreateParamsNonStreaming);
    expect(warnings).toEqual([]);
  });

  it('say a model without efforts how much it may think, in addition to its answer', async () => {
    const call = buildCall('Hello', { reasoningEffort: 'low', maxOutputTokens: 700 });
    const { body } = await send('anthropic', 'claude-haiku-4-5', { call });
    expect(body).toMatchObject({
      max_tokens: 7100,
      thinking: { type: 'enabled', budget_tokens: 6400 },
    } satisfies Partial<Anthropic.MessageCreateParamsNonStreaming>);
    expect(body).not.toHaveProperty('output_config');
  });

  it('are absent from a call that sets none', async () => {
    expect((await send('openai', 'gpt-5-mini')).body).toEqual({ model: 'gpt-5-mini', messages: hello });
    expect(Object.keys((await send('anthropic', 'claude-haiku-4-5')).body ?? {}).toSorted()).toEqual([
      'max_tokens',
      'messages',
      'model',
    ]);
  });

  it('go into every call of a conversation', async () => {
    const session = createScriptedSession([{ calls: [{ tool: 'a', input: {} }] }, { text: 'Done.' }]);
    const settings = { system: null, temperature: null, toolChoice: null, maxSteps: 3, parameters: all };
    await startConversation(session, settings).ask(
      'Go',
      { tools: [], onAnswer: () => {}, callTool: async () => ({ content: [], isError: false }) },
      openEnd,
    );
    expect(session.asked).toHaveLength(2);
    for (const call of session.asked) expect(call).toMatchObject(all);
  });
});

describe('a parameter that a provider has not', () => {
  it.each(['anthropic', 'google', 'deepseek'])('is named: the seed of %s', (provider) => {
    expect(explainMissingParameter(provider, { seed: 1 })).toBe(
      `${provider} takes no \`seed\`; leave it out, or set it in the cases of other providers`,
    );
    expect(explainMissingParameter(provider, { topP: 1, reasoningEffort: 'high' })).toBeNull();
  });

  it.each(['openai', 'mistral', 'xai', 'openrouter', 'ollama', 'gateway'])('is none of %s', (provider) => {
    expect(explainMissingParameter(provider, all)).toBeNull();
  });
});

describe('the fingerprint of a call', () => {
  const fingerprint = (parameters: ModelParameters) =>
    createFingerprinter({ redactor: createRedactor(), ignore: compileIgnore([]) }).readCall(
      buildCall('Hello', parameters),
    );

  it('is that of earlier recordings if no parameter is set', () => {
    expect(fingerprint({}).stored.parameters).toEqual({});
  });

  it.each<ModelParameters>([{ reasoningEffort: 'low' }, { maxOutputTokens: 700 }, { topP: 0.9 }, { seed: 7 }])(
    'differs with %j',
    (parameters) => {
      expect(fingerprint(parameters).parameters).not.toBe(fingerprint({}).parameters);
      expect(fingerprint(parameters).stored.parameters).toEqual(parameters);
    },
  );
});

describe('the time limit of a call', () => {
  it('replaces that of the gate', async () => {
    const slow = { answers: [{ fault: 'hang' as const }] };
    const { error } = await send('openai', 'gpt-5-mini', { ...slow, timeoutMs: 50 });
    expect(error).toMatch(/gave no answer/);
  });
});
