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
 * Turns an answer into its message for the next prompt. Reasoning keeps the signature that its provider checks, and calls keep their
 * ids, because the results refer to them.
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
    // These parts come only from tools that a provider runs itself, and no call offers such a tool.
    case 'source':
    case 'tool-approval-request':
    case 'tool-result':
      return [];
  }
}

/** Returns a part's metadata for the next request: a provider expects its data back under the same names. */
function keepMetadata(metadata: SharedV4ProviderMetadata | undefined): { providerOptions?: SharedV4ProviderMetadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

/**
 * Reads the arguments of a call for the next prompt. Providers accept only objects, so any other text is wrapped in one, where the model
 * sees its own text. An object that is nested too deeply to be written again is wrapped as well.
 */
function readToolInput(input: string): Record<string, unknown> {
  if (input.trim() === '') return {};
  const value = tryParseJson(input);
  return isRecord(value) && !isTooDeep(value) ? value : { INVALID_JSON: input };
}

/** A part of a tool result, as in MCP. The data of a file is Base64. */
export type ToolResultContent = { type: 'text'; text: string } | { type: 'file'; mediaType: string; data: string };

/** The result of one call of a tool, as the model gets it. */
export interface ToolResult {
  toolCallId: string;
  toolName: string;
  content: readonly ToolResultContent[];
  /** An error has only text, because providers accept no images in one. */
  isError: boolean;
}

/**
 * Turns the results of calls into one message. It has the results of all calls of an answer, in the order of the calls: providers refuse
 * a conversation in which a call has no result.
 */
export function toToolMessage(results: readonly ToolResult[]): ToolMessage {
  return { role: 'tool', content: results.map(convertResult) };
}

function convertResult({ toolCallId, toolName, content, isError }: ToolResult): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output: convertOutput(content, isError) };
}

/** The file types that all providers can read. For other files, a model gets only the type and the size. */
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

/** Describes a part as text. */
export function describePart(part: ToolResultContent): string {
  if (part.type === 'text') return part.text;
  const size = formatCount(Buffer.byteLength(part.data, 'base64'), 'byte');
  return `[${part.mediaType}, ${size}, which cannot be shown here]`;
}

/** Measures the bytes of text that a result takes in the next prompt. It does not count images, because their cost depends on the provider. */
export function measureText({ content, isError }: Pick<ToolResult, 'content' | 'isError'>): number {
  const output = convertOutput(content, isError);
  if (output.type === 'text' || output.type === 'error-text') return Buffer.byteLength(output.value);
  if (output.type !== 'content') return 0;
  return output.value.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0);
}
