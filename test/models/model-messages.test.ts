import { describe, expect, it } from 'vitest';
import {
  measureText,
  toAssistantMessage,
  toToolMessage,
  type ToolResultContent,
} from '../../src/models/model-messages.ts';

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

  it.each([
    ['no object', '[1]'],
    ['no JSON', '{"id":'],
    ['nested deeper than can be written', `{"id":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('wraps arguments that are %s', (_what, input) => {
    const call = { type: 'tool-call' as const, toolCallId: 'call_1', toolName: 'read_note', input };
    const [part] = toAssistantMessage({ content: [call] }).content;
    expect(part).toMatchObject({ type: 'tool-call', input: { INVALID_JSON: input } });
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
});

describe('toToolMessage', () => {
  const convert = (content: ToolResultContent[], isError = false) =>
    toToolMessage([{ toolCallId: 'call_1', toolName: 'read_note', content, isError }]).content.map((part) =>
      part.type === 'tool-result' ? part.output : part,
    );
  const image = (mediaType: string): ToolResultContent => ({ type: 'file', mediaType, data: 'aGk=' });

  it('joins texts', () => {
    const texts: ToolResultContent[] = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(convert(texts)).toEqual([{ type: 'text', value: 'one\ntwo' }]);
    expect(convert(texts, true)).toEqual([{ type: 'error-text', value: 'one\ntwo' }]);
    expect(convert([])).toEqual([{ type: 'text', value: '' }]);
  });

  it('keeps images in the formats that models read, and names others', () => {
    expect(convert([image('image/png'), image('image/svg+xml'), { type: 'text', text: '' }])).toEqual([
      {
        type: 'content',
        value: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
          { type: 'text', text: '[image/svg+xml, 2 bytes, which cannot be shown here]' },
        ],
      },
    ]);
    expect(convert([image('image/svg+xml')])).toEqual([
      { type: 'text', value: '[image/svg+xml, 2 bytes, which cannot be shown here]' },
    ]);
  });

  it('measures the text of a result, and no image', () => {
    const content = [image('image/png'), image('audio/wav'), { type: 'text' as const, text: 'é' }];
    expect(measureText({ content, isError: false })).toBe(
      '[audio/wav, 2 bytes, which cannot be shown here]'.length + 2,
    );
    expect(measureText({ content: [{ type: 'text', text: 'abc' }], isError: true })).toBe(3);
    expect(measureText({ content: [], isError: false })).toBe(0);
  });

  it('names the images of an error', () => {
    expect(convert([{ type: 'text', text: 'Broken.' }, image('image/png')], true)).toEqual([
      { type: 'error-text', value: 'Broken.\n[image/png, 2 bytes, which cannot be shown here]' },
    ]);
  });
});
