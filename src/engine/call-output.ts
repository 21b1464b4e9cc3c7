import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolCall } from '../model/run.ts';
import type { ToolResult } from '../checks/evidence.ts';

/** The answer to a tool call, and its time in milliseconds from the start of the iteration. */
export type CallOutput = { answeredAtMs: number } & (
  | { kind: 'result'; result: CallToolResult; toolError: string | null }
  /** The error that was returned instead of a result. */
  | { kind: 'error'; message: string; toolError: string; code: number | null }
);

/** Converts a result, or the error that was returned instead, into evidence. */
export function readResult(call: ToolCall, output: CallOutput, latencyMs: number): Omit<ToolResult, 'isListed'> {
  const { toolError } = output;
  const shared = { toolName: call.toolName, arguments: call.arguments, toolError, latencyMs };
  if (output.kind === 'error') {
    const { message, code } = output;
    const none = { structuredContent: undefined, content: [] };
    return { ...shared, ...none, text: message, errorCode: code, isError: true, sizeBytes: measureBytes(message) };
  }
  const { result } = output;
  return {
    ...shared,
    text: readText(result),
    structuredContent: result.structuredContent,
    content: result.content,
    errorCode: null,
    isError: result.isError === true,
    sizeBytes: measureBytes(result),
  };
}

/** Measures the value as JSON, in bytes. */
function measureBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns the text blocks of a result, one per line. */
export function readText(result: CallToolResult): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
