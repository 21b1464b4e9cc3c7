import { isRecord } from '../base/json.ts';

/** What a tool answered, as the `tool-result` part of a message keeps it. */
export interface ToolOutput {
  /** The text of the result, blocks one per line. */
  text: string;
  /** Undefined where the result carries none, or where it was not kept. */
  structuredContent: unknown;
  isError: boolean;
  /** Whether this is the MCP result as the server gave it, and not what a model was shown of it. */
  isVerbatim: boolean;
}

/** Traces have been seen in which an output was wrapped twice; nothing sensible is wrapped deeper than this. */
const deepestWrapping = 3;

/**
 * Reads what a `tool-result` part kept of a result: in `result` the MCP result itself, or else in `output` one of the
 * AI SDK's kinds (`json`, `text`, `content`, `error-text`, `error-json`). Null where nothing of it can be read.
 */
export function readToolOutput(part: Readonly<Record<string, unknown>>): ToolOutput | null {
  const { result, output = result } = part;
  const read = isMcpResult(result) ? readMcpResult(result) : readOutput(output, deepestWrapping);
  if (read === null || read.isVerbatim) return read;
  return { ...read, isError: read.isError || part['isError'] === true };
}

function readOutput(output: unknown, depth: number): ToolOutput | null {
  if (output === undefined || output === null) return null;
  if (isMcpResult(output)) return readMcpResult(output);
  if (!isTyped(output)) return readDocument(output);
  const { type, value } = output;
  switch (type) {
    case 'json':
    case 'error-json': {
      const read = depth === 0 ? null : readOutput(value, depth - 1);
      return read === null || type === 'json' ? read : { ...read, isError: true };
    }
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? { ...readDocument(value), isError: type === 'error-text' } : null;
    case 'content':
      return Array.isArray(value) ? readDocument(joinText(value)) : null;
    default:
      return null;
  }
}

function isTyped(output: unknown): output is { type: string; value: unknown } {
  return isRecord(output) && typeof output['type'] === 'string' && 'value' in output;
}

function isMcpResult(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && (Array.isArray(value['content']) || isRecord(value['structuredContent']));
}

function readMcpResult({ content, structuredContent, isError }: Record<string, unknown>): ToolOutput {
  return {
    text: joinText(Array.isArray(content) ? content : []),
    structuredContent,
    isError: isError === true,
    isVerbatim: true,
  };
}

function readDocument(value: unknown): ToolOutput {
  const isText = typeof value === 'string';
  return {
    text: isText ? value : JSON.stringify(value),
    structuredContent: isText ? undefined : value,
    isError: false,
    isVerbatim: false,
  };
}

function joinText(blocks: readonly unknown[]): string {
  return blocks
    .flatMap((block) => {
      const isText = isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
      return isText ? [block['text']] : [];
    })
    .join('\n');
}
