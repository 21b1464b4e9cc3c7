import type {
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isRecord, isTooDeep, tryParseJson } from '../base/json.ts';
import { formatCount } from '../base/text.ts';

type MessageOf<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>;
export type AssistantMessage = MessageOf<'assistant'>;
export type ToolMessage = MessageOf<'tool'>;

/**
 * Turns an answer into the message that stands for it in the next prompt. Reasoning keeps the signature that its provider checks, and
 * calls keep their ids, so that the results find them.
 */
export function toAssistantMessage({ content }: { content: readonly LanguageModelV4Content[] }): AssistantMessage {
  return { role: 'assistant', content: content.flatMap(convertContent) };
}

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
 * what it wrote. So is an object that nests too deep to be written again.
 */
function readToolInput(input: string): Record<string, unknown> {
  if (input.trim() === '') return {};
  const value = tryParseJson(input);
  return isRecord(value) && !isTooDeep(value) ? value : { INVALID_JSON: input };
}

/** A part of a tool's result, as MCP has it; the data of a file is Base64. */
export type ToolResultContent = { type: 'text'; text: string } | { type: 'file'; mediaType: string; data: string };

/** The result of one call, as the model gets it. */
export interface ToolResult {
  toolCallId: string;
  toolName: string;
  content: readonly ToolResultContent[];
  /** An error has text only; providers take no images with one. */
  isError: boolean;
}

/**
 * Turns the results of calls into the message that answers them. All results of one answer go into one message, in the order of its
 * calls: providers refuse an answer of which a call has no result.
 */
export function toToolMessage(results: readonly ToolResult[]): ToolMessage {
  return { role: 'tool', content: results.map(convertResult) };
}

function convertResult({ toolCallId, toolName, content, isError }: ToolResult): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output: convertOutput(content, isError) };
}

/** The files that all providers read. Of any other, a model gets the type and the size. */
const readableImages: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

type ContentOutput = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>;

function convertOutput(content: readonly ToolResultContent[], isError: boolean): LanguageModelV4ToolResultOutput {
  const isReadable = (part: ToolResultContent) => part.type === 'file' && readableImages.has(part.mediaType);
  if (isError || !content.some(isReadable)) {
    const value = content.map(describePart).join('\n');
    return isError ? { type: 'error-text', value } : { type: 'text', value };
  }
  return {
    type: 'content',
    value: content.flatMap((part): ContentOutput['value'] => {
      if (part.type === 'file' && isReadable(part)) {
        return [{ type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } }];
      }
      const text = describePart(part);
      return text === '' ? [] : [{ type: 'text', text }];
    }),
  };
}

/** A part as a text. */
export function describePart(part: ToolResultContent): string {
  if (part.type === 'text') return part.text;
  const size = formatCount(Buffer.byteLength(part.data, 'base64'), 'byte');
  return `[${part.mediaType}, ${size}, which cannot be shown here]`;
}

/**
 * How many bytes of text a result takes in the next prompt. Images are not counted: what one costs depends on the provider.
 */
export function measureText({ content, isError }: Pick<ToolResult, 'content' | 'isError'>): number {
  const output = convertOutput(content, isError);
  if (output.type === 'text' || output.type === 'error-text') return Buffer.byteLength(output.value);
  if (output.type !== 'content') return 0;
  return output.value.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0);
}
