import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { noModelUsage } from '../../src/model/usage.ts';
import { toAssistantMessage, toToolMessage } from '../../src/models/model-messages.ts';
import { measureUsage } from '../../src/models/usage.ts';
import { buildCall, openEnd, openTestSource, testModels, testProviderKey } from '../support/models/model-source.ts';
import { openScriptedProvider, type ModelReply, type ProviderFormat } from '../support/models/scripted-provider.ts';
import { catchError } from '../support/service/service-client.ts';

const formats: ProviderFormat[] = ['anthropic', 'compatible'];

const readNote = {
  type: 'function',
  name: 'read_note',
  description: 'Reads a note.',
  inputSchema: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
} as const;

describe.each(formats)('a model in the %s format', (format) => {
  const answerOnce = async (reply: ModelReply) => {
    await using provider = await openScriptedProvider({ format, answers: [reply] });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    return await session.answer(buildCall('Hello', { tools: [readNote] }), openEnd);
  };

  it('answers with text, and says that the answer is live', async () => {
    const answer = await answerOnce({ text: 'Hi.' });
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: 'Hi.' }],
      finishReason: { unified: 'stop' },
      isReplayed: false,
    });
  });

  it('returns an answer that its length cut off', async () => {
    const answer = await answerOnce({ text: 'Once upon a', finishReason: 'length' });
    expect(answer.finishReason.unified).toBe('length');
    expect(answer.content).toMatchObject([{ text: 'Once upon a' }]);
  });

  it('counts cached tokens apart', async () => {
    const { usage } = await answerOnce({ text: 'Hi.', usage: { input: 20, cacheRead: 100, output: 7 } });
    expect(usage.inputTokens).toMatchObject({ total: 120, noCache: 20, cacheRead: 100 });
    expect(usage.outputTokens.total).toBe(7);
  });

  it('counts what is read from and written to a cache, if the format says it', async () => {
    const usage = { input: 20, cacheRead: 100, cacheWrite: 40, output: 7 };
    const measured = measureUsage(await answerOnce({ text: 'Hi.', usage }));
    const written = format === 'anthropic' ? { inputTokens: 160, cacheWriteTokens: 40 } : { inputTokens: 120 };
    expect(measured).toEqual({ ...noModelUsage, modelCalls: 1, cachedInputTokens: 100, outputTokens: 7, ...written });
    expect(measureUsage(await answerOnce({ text: 'Hi.' }))).not.toHaveProperty('cacheWriteTokens');
  });

  it('calls tools in parallel, each with its id', async () => {
    const answer = await answerOnce({
      toolCalls: [
        { id: 'call_a', name: 'read_note', arguments: { id: 1 } },
        { id: 'call_b', name: 'read_note', arguments: { id: 2 } },
      ],
    });
    expect(answer.finishReason.unified).toBe('tool-calls');
    expect(answer.content).toEqual([
      expect.objectContaining({ type: 'tool-call', toolCallId: 'call_a', toolName: 'read_note', input: '{"id":1}' }),
      expect.objectContaining({ type: 'tool-call', toolCallId: 'call_b', toolName: 'read_note', input: '{"id":2}' }),
    ]);
  });

  it('ends the call with the reason of the signal', async () => {
    await using provider = await openScriptedProvider({ format, answers: () => ({ fault: 'hang' }) });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    const stopping = new AbortController();
    const answering = catchError(session.answer(buildCall('Hello'), stopping));
    const reason = new Error('The run was cancelled.');
    while (provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stopping.abort(reason);
    expect(await answering).toBe(reason);
    expect(provider.requests.length).toBe(1);
  });

  it('ends the call when its source is closed', async () => {
    await using provider = await openScriptedProvider({ format, answers: () => ({ fault: 'hang' }) });
    const source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    const answering = catchError(session.answer(buildCall('Hello'), openEnd));
    while (provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await source[Symbol.asyncDispose]();
    expect(await answering).toMatchObject({ code: 'CANCELLED' });
  });

  it('gets the key of the run rather than that of the environment, and keeps both out of messages', async () => {
    const keyOfRun = 'sk-canary-of-the-run-93f1';
    const echo = (key: string) => ({
      status: 401,
      body: { error: { message: `Wrong key ${key}, ${testProviderKey}.` } },
    });
    await using provider = await openScriptedProvider({ format, answers: [{ text: 'Hi.' }, echo(keyOfRun)] });
    const redactor = createRedactor();
    await using source = openTestSource({ format, baseUrl: provider.baseUrl }, { redactor });
    const session = await source.openSession({
      model: testModels[format],
      caseId: 'case_1',
      iterationNumber: 1,
      apiKeys: new Map([[testModels[format].provider, keyOfRun]]),
    });
    await session.answer(buildCall('Hello'), openEnd);
    const error = await catchError(session.answer(buildCall('Hello'), openEnd));
    const [header, prefix] = format === 'anthropic' ? ['x-api-key', ''] : ['authorization', 'Bearer '];
    expect(provider.requests[0]?.headers[header]).toBe(`${prefix}${keyOfRun}`);
    expect(error.message).toContain('refuses the key in model-api-keys (401): Wrong key ***, ***.');
  });

  it('is spoken to by this project, and not asked for a stream', async () => {
    await using provider = await openScriptedProvider({ format, answers: [{ text: 'Hi.' }] });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    await session.answer(buildCall('Hello', { temperature: 0, maxOutputTokens: 50 }), openEnd);
    const [request] = provider.requests;
    expect(request?.headers['user-agent']).toMatch(/^mcp-eval-ci\//);
    expect(request?.body).toMatchObject({ model: testModels[format].name, temperature: 0 });
    expect(request?.body['stream'] ?? false).toBe(false);
    expect(request?.body).not.toHaveProperty('tools');
  });

  it('keeps the calls of two iterations of a case apart', async () => {
    await using provider = await openScriptedProvider({
      format,
      answers: ({ turn, userText }) =>
        turn === 1 ? { toolCalls: [{ name: 'read_note', arguments: {} }] } : { text: `Answer to ${userText}` },
    });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const texts = await Promise.all(
      ['one', 'two'].map(async (text) => {
        const session = await source.openTestSession();
        const { prompt } = buildCall(text);
        const first = await session.answer({ prompt, tools: [readNote] }, openEnd);
        const results = first.content
          .filter((part) => part.type === 'tool-call')
          .map(({ toolCallId, toolName }) => ({ toolCallId, toolName, content: [], isError: false }));
        const next = [...prompt, toAssistantMessage(first), toToolMessage(results)];
        const second = await session.answer({ prompt: next, tools: [readNote] }, openEnd);
        return second.content.map((part) => (part.type === 'text' ? part.text : part.type));
      }),
    );
    expect(texts).toEqual([['Answer to one'], ['Answer to two']]);
  });
});

it('is refused where no key is known for the provider', async () => {
  await using source = openTestSource({ format: 'anthropic', baseUrl: 'http://127.0.0.1:9' });
  const request = { caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() };
  const error = await catchError(source.openSession({ ...request, model: { provider: 'mistral', name: 'small' } }));
  expect(error).toMatchObject({ code: 'MODEL', kind: 'refused' });
  expect(error.message).toBe('There is no API key for the provider mistral: MISTRAL_API_KEY is not set.');
});

it('warns once that a model ignores a temperature, and does not send it', async () => {
  await using provider = await openScriptedProvider({ format: 'anthropic', answers: () => ({ text: 'Hi.' }) });
  const warnings: string[] = [];
  const logger = { ...silentLogger, warning: (message: string) => warnings.push(message) };
  await using source = openTestSource({ format: 'anthropic', baseUrl: provider.baseUrl }, { logger });
  const model = { provider: 'anthropic', name: 'claude-opus-4-7' };
  const session = await source.openSession({ model, caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() });
  await session.answer(buildCall('Hello', { temperature: 0 }), openEnd);
  await session.answer(buildCall('Hello', { temperature: 0 }), openEnd);
  expect(provider.requests.map(({ body }) => 'temperature' in body)).toEqual([false, false]);
  expect(warnings).toEqual(['anthropic/claude-opus-4-7 ignores `temperature`, which it does not support.']);
});
