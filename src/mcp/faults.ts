import {
  ProtocolError as JsonRpcError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { describeError, ProtocolError } from '../base/errors.ts';
import { isRecord, tryParseJson } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import { describeMalformedMessage } from './malformed-message.ts';
import { ExcessError } from './traffic-budget.ts';

/**
 * Why a call has no result: `answered` when the server refused it, `malformed` when it gave something that is no tool
 * result, `excessive` when it sent too much, all of which are the case's failure; `unreachable` when no answer came at all, about which no case can be judged.
 * `claimsEnd`: the answer says that the server's process is gone. A bridge says so, and a hostile server can; it counts only
 * where a witness of the process agrees.
 */
export type CallFault =
  | { kind: 'answered'; message: string; code: number | null; claimsEnd: boolean }
  /** The message points at what is wrong in the result. */
  | { kind: 'malformed'; message: string }
  /** The server crossed a limit, which ends the session; the message is a sentence. */
  | { kind: 'excessive'; message: string }
  | { kind: 'unreachable'; message: string };

/** What a bridge puts into the error data when the process behind it is gone: the call has no answer. */
const serverExitedReason = 'server_exited';

/** The errors of the SDK that describe an answer. All others are about getting one. */
const answeredCodes: ReadonlySet<string> = new Set([
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.ListPaginationExceeded,
]);

const errorBodySchema = z.object({ jsonrpc: z.literal('2.0'), error: z.object({ message: z.string().min(1) }) });

/** The API keeps no more of a reason. */
const longestReason = 600;

/** Sorts what a tool call was rejected with. */
export function classifyCallFault(error: unknown): CallFault {
  if (error instanceof ExcessError) return { kind: 'excessive', message: error.message };
  if (error instanceof JsonRpcError) {
    const claimsEnd = isRecord(error.data) && error.data['reason'] === serverExitedReason;
    return { kind: 'answered', message: error.message, code: error.code, claimsEnd };
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    const said = error.message.replace(/^Invalid result for \S+: |\.$/g, '');
    return { kind: 'malformed', message: clipText(describeMalformedMessage(error.message) ?? said, longestReason) };
  }
  if (error instanceof SdkError && answeredCodes.has(error.code)) {
    return { kind: 'answered', message: describeRefusedInput(error) ?? error.message, code: null, claimsEnd: false };
  }
  if (error instanceof ProtocolError) return { kind: 'answered', message: error.message, code: null, claimsEnd: false };
  if (isUnreadableMessage(error)) {
    return {
      kind: 'answered',
      message: `The response holds ${describeUnreadable(error)}`,
      code: null,
      claimsEnd: false,
    };
  }
  return { kind: 'unreachable', message: describeUnreachable(error) };
}

/** The SDK's words for a request that its client may not answer are for the author of the client; null for another error. */
function describeRefusedInput({ code, data }: SdkError): string | null {
  const method = isRecord(data) ? data['method'] : undefined;
  if (code !== SdkErrorCode.CapabilityNotSupported || typeof method !== 'string') return null;
  return `The server asks for ${method}, which this client does not offer.`;
}

/** Whether the SDK could not read what arrived as a message. A body that breaks off is another error: a TypeError of fetch. */
export function isUnreadableMessage(error: unknown): error is Error {
  return error instanceof SyntaxError || error instanceof z.ZodError;
}

/** Says what is wrong with a message that cannot be read, as the end of a sentence about the response. */
export function describeUnreadable(error: Error): string {
  return error instanceof SyntaxError
    ? `text that is not JSON: ${error.message}.`
    : 'JSON that is no JSON-RPC 2.0 message.';
}

/** Says what kept an answer from arriving: of a body only the message of a JSON-RPC error, never an error page. */
export function describeUnreachable(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return describeNoResponse(error);
  const status = `it answered HTTP ${error.status}`;
  const message = readErrorMessage(error.data['text']);
  if (message !== null) return `${status}: ${clipText(message, longestReason)}`;
  return error.status === 404 ? `${status} (no such session or path)` : status;
}

/** Of an error that is not about an HTTP status. */
export function describeNoResponse(error: unknown): string {
  if (error instanceof SseError) {
    const { code } = error;
    if (code === 200) return 'it answered GET with something else than a stream of events';
    if (code !== undefined) return `it answered GET with HTTP ${code}`;
  }
  const malformed = error instanceof Error ? describeMalformedMessage(error.message) : null;
  return malformed === null
    ? describeError(error)
    : `its answer is not valid MCP: ${clipText(malformed, longestReason)}`;
}

function readErrorMessage(body: unknown): string | null {
  if (typeof body !== 'string') return null;
  return errorBodySchema.safeParse(tryParseJson(body)).data?.error.message ?? null;
}

/** The status with which a server let a request in no further, 401 or 403; null for any other error. */
export function readRefusalStatus(error: unknown): 401 | 403 | null {
  if (error instanceof SseError && (error.code === 401 || error.code === 403)) return error.code;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) return error.status;
  return error instanceof Error && error.cause !== undefined ? readRefusalStatus(error.cause) : null;
}
