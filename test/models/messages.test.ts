import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toAssistantMessage, toToolMessage } from '../../src/models/messages.ts';

describe('toAssistantMessage', () => {
  it('keeps what a provider attached to reasoning and calls', () => {
    const providerMetadata = { anthropic: { signature: 'c2ln' } };
    const message = toAssistantMessage({
      content: [
        { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'b3BhcXVl' } } },
        { type: 'reasoning', text: 'Think.', providerMetadata },
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'read_note', input: '{"id":1}', providerMetadata },
      ],
    });
    expect(message).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'b3BhcXVl' } } },
        { type: 'reasoning', text: 'Think.', providerOptions: providerMetadata },
        {
          type: 'tool-call',
          toolCallId: 'call_1',
          toolName: 'read_note',
          input: { id: 1 },
          providerOptions: providerMetadata,
        },
      ],
    });
  });

  it('leaves out empty texts and sources, which providers do not take', () => {
    const message = toAssistantMessage({
      content: [
        { type: 'text', text: '' },
        { type: 'source', sourceType: 'url', id: 'source_1', url: 'https://example.com' },
        { type: 'text', text: 'Hi.' },
      ],
    });
    expect(message.content).toEqual([{ type: 'text', text: 'Hi.' }]);
  });

  it('gives an empty answer a text, without which providers refuse what follows', () => {
    expect(toAssistantMessage({ content: [] }).content).toEqual([{ type: 'text', text: '(no answer)' }]);
  });
});

describe('toToolMessage', () => {
  type Output = LanguageModelV4ToolResultPart['output'];
  const convert = (output: Output) =>
    toToolMessage([{ type: 'tool-result', toolCallId: 'call_1', toolName: 'read_note', output }]).content;
  const image = (mediaType: string) => ({
    type: 'file' as const,
    mediaType,
    data: { type: 'data' as const, data: 'aGk=' },
  });

  it('keeps each result with the id of its call', () => {
    const output: Output = { type: 'error-text', value: 'Broken.' };
    expect(convert(output)).toEqual([{ type: 'tool-result', toolCallId: 'call_1', toolName: 'read_note', output }]);
  });

  it('keeps images in the formats that models read, and names other files', () => {
    const value = [image('image/png'), image('image/svg+xml'), image('audio/wav'), { type: 'text' as const, text: '' }];
    expect(convert({ type: 'content', value })).toMatchObject([
      {
        output: {
          type: 'content',
          value: [
            image('image/png'),
            { type: 'text', text: '[image/svg+xml, which cannot be shown here]' },
            { type: 'text', text: '[audio/wav, which cannot be shown here]' },
          ],
        },
      },
    ]);
  });

  it.each<[Output, Output]>([
    [
      { type: 'error-text', value: '' },
      { type: 'error-text', value: 'The tool failed without a message.' },
    ],
    [
      { type: 'content', value: [{ type: 'text', text: '' }] },
      { type: 'text', value: '' },
    ],
  ])('fills what providers refuse to take empty: %j', (output, expected) => {
    expect(convert(output)).toMatchObject([{ output: expected }]);
  });
});
