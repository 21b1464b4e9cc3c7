import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toAssistantMessage, toToolMessage } from '../../src/models/model-messages.ts';
import { buildCall, openEnd, openTestSource } from '../support/models/model-source.ts';
import type { ProviderFormat } from '../support/models/scripted-provider.ts';
import { catchError } from '../support/service/service-client.ts';

const formats: ProviderFormat[] = ['anthropic', 'compatible'];
const tools = ['read_note', 'list_notes'].map((name) => ({
  type: 'function' as const,
  name,
  inputSchema: { type: 'object' as const, properties: {} },
}));

/** A provider that was written elsewhere, as the judge of what is sent and of how its answers are read. */
const provider = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });

beforeAll(async () => {
  await provider.start();
});

afterAll(async () => {
  await provider.stop();
});

beforeEach(() => {
  provider.clearFixtures();
  provider.clearRequests();
});

describe.each(formats)('an independent provider in the %s format', (format) => {
  const open = () => openTestSource({ format, baseUrl: `${provider.url}/v1` });

  it('holds a conversation of several turns', async () => {
    provider.onTurn(0, 'name is Ada', { content: 'Hello, Ada.' });
    provider.onTurn(1, 'What is my name', { content: 'Ada.' });
    await using source = open();
    const session = await source.openTestSession();
    const { prompt } = buildCall('My name is Ada.');
    const first = await session.answer({ prompt, tools: [] }, openEnd);
    const next = [...prompt, toAssistantMessage(first), ...buildCall('What is my name?').prompt];
    const second = await session.answer({ prompt: next, tools: [] }, openEnd);
    expect(first.content).toMatchObject([{ type: 'text', text: 'Hello, Ada.' }]);
    expect(second.content).toMatchObject([{ type: 'text', text: 'Ada.' }]);
    expect(second.finishReason.unified).toBe('stop');
  });

  it('calls two tools at once, and reads both results', async () => {
    provider.on(
      { userMessage: 'notes', hasToolResult: false },
      {
        toolCalls: [
          { id: 'call_list', name: 'list_notes', arguments: '{}' },
          { id: 'call_read', name: 'read_note', arguments: '{"id":7}' },
        ],
      },
    );
    provider.on({ toolResultContains: 'Buy milk' }, { content: 'You wanted milk.' });
    await using source = open();
    const session = await source.openTestSession();
    const { prompt } = buildCall('What do my notes say?');
    const first = await session.answer({ prompt, tools }, openEnd);
    const calls = first.content.filter((part) => part.type === 'tool-call');
    expect(first.finishReason.unified).toBe('tool-calls');
    expect(calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual([
      ['call_list', 'list_notes', '{}'],
      ['call_read', 'read_note', '{"id":7}'],
    ]);
    const results = calls.map(({ toolCallId, toolName }) => ({
      toolCallId,
      toolName,
      content: [{ type: 'text' as const, text: toolName === 'read_note' ? 'Buy milk' : '7' }],
      isError: false,
    }));
    const next = [...prompt, toAssistantMessage(first), toToolMessage(results)];
    const second = await session.answer({ prompt: next, tools }, openEnd);
    expect(second.content).toMatchObject([{ type: 'text', text: 'You wanted milk.' }]);
  });

  it('gets back the reasoning that it signed', async () => {
    provider.on(
      { userMessage: 'Think', hasToolResult: false },
      {
        toolCalls: [{ id: 'call_1', name: 'list_notes', arguments: '{}' }],
        reasoning: 'The notes will say.',
        reasoningSignature: 'c2lnbmF0dXJl',
      },
    );
    provider.on({ userMessage: 'Think', hasToolResult: true }, { content: 'Done.' });
    await using source = open();
    const session = await source.openTestSession();
    const { prompt } = buildCall('Think first.');
    const first = await session.answer({ prompt, tools }, openEnd);
    const result = { toolCallId: 'call_1', toolName: 'list_notes', content: [], isError: false };
    const next = [...prompt, toAssistantMessage(first), toToolMessage([result])];
    const second = await session.answer({ prompt: next, tools }, openEnd);
    expect(first.content[0]).toMatchObject({ type: 'reasoning', text: 'The notes will say.' });
    expect(second.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
  });

  it('cuts an answer off by its length', async () => {
    provider.onMessage('story', { content: 'Once upon a', finishReason: 'length' });
    await using source = open();
    const session = await source.openTestSession();
    const answer = await session.answer(buildCall('Tell me a story.'), openEnd);
    expect(answer.finishReason.unified).toBe('length');
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Once upon a' }]);
  });

  it('withholds an answer because of its content', async () => {
    const finishReason = format === 'anthropic' ? 'refusal' : 'content_filter';
    provider.onMessage('harm', { content: 'No.', finishReason });
    await using source = open();
    const session = await source.openTestSession();
    const error = await catchError(session.answer(buildCall('Do harm.'), openEnd));
    expect(error).toMatchObject({ kind: 'filtered', message: expect.stringContaining(`(${finishReason})`) as string });
  });

  it('refuses the key', async () => {
    const message = 'That key is unknown.';
    provider.onMessage('Hello', { error: { message, type: 'authentication_error' }, status: 401 });
    await using source = open();
    const session = await source.openTestSession();
    const error = await catchError(session.answer(buildCall('Hello'), openEnd));
    expect(error).toMatchObject({ kind: 'refused', message: expect.stringContaining(message) as string });
    expect(provider.getRequests().length).toBe(1);
  });

  it('limits the rate once, and is called again after as long as it asks', async () => {
    provider.on(
      { userMessage: 'Hello', sequenceIndex: 0 },
      { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 4 },
    );
    provider.on({ userMessage: 'Hello', sequenceIndex: 1 }, { content: 'Hi.' });
    await using source = open();
    const session = await source.openTestSession();
    const answer = await session.answer(buildCall('Hello'), openEnd);
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Hi.' }]);
    expect(source.clock.sleepsMs[0]).toBe(4200);
    expect(provider.getRequests().length).toBe(2);
  });
});
