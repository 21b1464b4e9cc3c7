import { isTooDeep } from '../../../../src/base/json.ts';
import { endSentence } from '../../../../src/base/text.ts';
import { classifyCallFault } from '../../../../src/mcp/faults.ts';
import type { Session } from '../../../../src/mcp/session.ts';
import { ApiError } from '../envelope.ts';
import type { ServerTools } from '../server-tools.ts';

type ToolResult = Awaited<ReturnType<Session['callTool']>>;

/**
 * Calls a tool of a server once. If the server refuses the call or answers with an invalid result, the result has `isError`.
 *
 * @throws {ApiError} SERVER_UNREACHABLE if there is no answer.
 * @throws the signal's reason once it aborts
 */
export async function callServerTool(
  { server, callTool }: Pick<ServerTools, 'server' | 'callTool'>,
  { toolName, args }: { toolName: string; args: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    const result = await callTool(toolName, { ...args }, { signal });
    return isTooDeep(result) ? describe('The result nests too deep.') : result;
  } catch (error) {
    signal.throwIfAborted();
    const fault = classifyCallFault(error);
    if (fault.kind !== 'unreachable') return describe(fault.message);
    const message = `Server ${JSON.stringify(server.content.name)} gave no answer: ${fault.message}`;
    throw new ApiError('SERVER_UNREACHABLE', endSentence(message), { cause: error });
  }
}

function describe(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
