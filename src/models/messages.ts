import type {
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isRecord, tryParseJson } from '../base/json.ts';
import type { ModelAnswer } from './language-model.ts';

type MessageOf<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>;
export type AssistantMessage = MessageOf<'assistant'>;
export type ToolMessage = MessageOf<'tool'>;

/**
 * Turns an answer into the message that stands for it in the next prompt. Reasoning keeps the signature that its provider checks, and
 * calls keep their ids, so that the results find them.
 */
export function toAssistantMessage({ content }: Pick<ModelAnswer, 'content'>): AssistantMessage {
  const parts = content.flatMap(convertContent);
  // Providers refuse a message without content where another one follows it.
  return { role: 'assistant', content: parts.length === 0 ? [{ type: 'text', text: emptyAnswer }] : parts };
}

const emptyAnswer = '(no answer)';
const emptyError = 'The tool failed without a message.';

function convertContent(part: LanguageModelV4Content): AssistantMessage['content'] {
  const options = keepMetadata(part.providerMetadata);
  switch (part.type) {
    case 'text':
      // Anthropic refuses empty texts.
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options }];
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...options }];
    case 'tool-call': {
      const { toolCallId, toolName } = part;
      return [{ type: 'tool-call', toolCallId, toolName, input: readToolInput(part.input), ...options }];
    }
    case 'custom':
      return [{ type: 'custom', kind: part.kind, ...options }];
    case 'file':
    case 'reasoning-file':
      return [{ type: part.type, mediaType: part.mediaType, data: part.data, ...options }];
    // Only tools that a provider runs itself lead to these, and no call offers one.
    case 'source':
    case 'tool-approval-request':
    case 'tool-result':
      return [];
  }
}

/** What a part brought from its provider goes back to it under the same names. */
function keepMetadata(metadata: SharedV4ProviderMetadata | undefined): { providerOptions?: SharedV4ProviderMetadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

/**
 * Reads the arguments of a call for the next prompt. Providers take an object only, so anything else is wrapped in one: the model sees
 * what it wrote.
 */
function readToolInput(input: string): Record<string, unknown> {
  if (input.trim() === '') return {};
  const value = tryParseJson(input);
  return isRecord(value) ? value : { INVALID_JSON: input };
}

/**
 * Turns the results of calls into the message that answers them. All results of one answer go into one message, in the order of its
 * calls: providers refuse an answer of which a call has no result.
 */
export function toToolMessage(results: readonly LanguageModelV4ToolResultPart[]): ToolMessage {
  return {
    role: 'tool',
    content: results.map(({ output, ...result }) => ({ ...result, output: adaptOutput(output) })),
  };
}

/** The formats that all providers read. */
const readableImages: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

type OutputPart = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

/** Providers refuse a conversation for a file in a format that they do not read, and for an empty text. */
function adaptOutput(output: LanguageModelV4ToolResultOutput): LanguageModelV4ToolResultOutput {
  // Anthropic refuses an error without content.
  if (output.type === 'error-text' && output.value === '') return { ...output, value: emptyError };
  if (output.type !== 'content') return output;
  const value = output.value.flatMap((part): OutputPart[] => {
    if (part.type === 'text') return part.text === '' ? [] : [part];
    if (part.type === 'file' && readableImages.has(part.mediaType)) return [part];
    const what = part.type === 'file' ? part.mediaType : 'content';
    return [{ type: 'text', text: `[${what}, which cannot be shown here]` }];
  });
  return value.length === 0 ? { type: 'text', value: '' } : { ...output, value };
}
