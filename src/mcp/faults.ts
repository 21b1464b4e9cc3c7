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
 * The reason why a call has no result. `answered`: the server refused it. `malformed`: the server returned an invalid tool result.
 * `excessive`: the server sent too much. These three fail the case. `unreachable`: no answer came at all, so that the case cannot be
 * judged. `claimsEnd`: the answer says that the server's process has ended. A bridge sends this, but a hostile server can, too; it counts
 * only if a witness of the process confirms it.
 */
export type CallFault =
  | { kind: 'answered'; message: string; code: number | null; claimsEnd: boolean }
  /** The message points at the mistake in the result. */
  | { kind: 'malformed'; message: string }
  /** The server crossed a limit, which ends the session; the message is a sentence. */
  | { kind: 'excessive'; message: string }
  | { kind: 'unreachable'; message: string };

/** A bridge sends this in the error data if its process has ended and the call has no answer. */
const serverExitedReason = 'server_exited';

/** The SDK's errors that describe an answer. All others mean that there was none. */
const answeredCodes: ReadonlySet<string> = new Set([
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.ListPaginationExceeded,
]);

const errorBodySchema = z.object({ jsonrpc: z.literal('2.0'), error: z.object({ message: z.string().min(1) }) });

/** The longest reason that the API stores. */
const longestReason = 600;

/** Classifies the error of a tool call. */
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

/**
 * Rewords the SDK's error for a request that its client does not offer; the SDK writes it for the author of the client. Null for another
 * error.
 */
function describeRefusedInput({ code, data }: SdkError): string | null {
  const method = isRecord(data) ? data['method'] : undefined;
  if (code !== SdkErrorCode.CapabilityNotSupported || typeof method !== 'string') return null;
  return `The server asks for ${method}, which this client does not offer.`;
}

/** Checks if the SDK could not read the received text as a message. A body that breaks off causes another error: a TypeError of fetch. */
export function isUnreadableMessage(error: unknown): error is Error {
  return error instanceof SyntaxError || error instanceof z.ZodError;
}

/** Describes the mistake in an unreadable message, as the end of a sentence about the response. */
export function describeUnreadable(error: Error): string {
  return error instanceof SyntaxError
    ? `text that is not JSON: ${error.message}.`
    : 'JSON that is no JSON-RPC 2.0 message.';
}

/** Describes why no answer arrived. It quotes only the message of a JSON-RPC error, never an error page. */
export function describeUnreachable(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return describeNoResponse(error);
  const status = `it answered HTTP ${error.status}`;
  const message = readErrorMessage(error.data['text']);
  if (message !== null) return `${status}: ${clipText(message, longestReason)}`;
  return error.status === 404 ? `${status} (no such session or path)` : status;
}

/** Describes an error that is not about an HTTP status. */
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

/** Reads the status with which a server refused access, 401 or 403; null for any other error. */
export function readRefusalStatus(error: unknown): 401 | 403 | null {
  if (error instanceof SseError && (error.code === 401 || error.code === 403)) return error.code;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) return error.status;
  return error instanceof Error && error.cause !== undefined ? readRefusalStatus(error.cause) : null;
}
