import { isRecord, isTooDeep, type JsonObject, maxJsonDepth, tryParseJson } from '../../base/json.ts';

export type MessageId = string | number;

/**
 * One JSON-RPC message. `text` is its original JSON on a single line, so that it can be passed on unchanged; `value` is what the text
 * says.
 */
export type Message =
  | ({ kind: 'request'; id: MessageId; method: string; params: JsonObject } & MessageSource)
  | ({ kind: 'notification'; method: string; params: JsonObject } & MessageSource)
  | ({ kind: 'response'; id: MessageId; result: unknown; error: RpcError | null } & MessageSource);

interface MessageSource {
  value: JsonObject;
  text: string;
}

export type RequestMessage = Extract<Message, { kind: 'request' }>;
export type NotificationMessage = Extract<Message, { kind: 'notification' }>;
export type ResponseMessage = Extract<Message, { kind: 'response' }>;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Error codes of JSON-RPC 2.0 §5.1, of the MCP SDKs (-32000, -32001) and of MCP 2026-07-28 (-32020, -32021, -32022). */
export const rpcErrorCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  connectionClosed: -32_000,
  sessionNotFound: -32_001,
  headerMismatch: -32_020,
  missingClientCapability: -32_021,
  unsupportedProtocolVersion: -32_022,
} as const;

/** Reads one JSON-RPC 2.0 message; undefined for any other text, including a batch (MCP has none since 2025-06-18). */
export function parseMessage(json: string): Message | undefined {
  const value = tryParseJson(json);
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return undefined;
  // In JSON, a line break outside of strings is only white space, and inside of strings it is not allowed.
  return readMessage(value, /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]+/g, ' ') : json);
}

/** Makes a message of a JSON object and its text; undefined if it is no message. */
export function readMessage(value: JsonObject, text: string): Message | undefined {
  const { id, method, params } = value;
  const source = { value, text };
  if (typeof method === 'string') {
    const body = { method, params: isRecord(params) ? params : {}, ...source };
    if (isMessageId(id)) return { kind: 'request', id, ...body };
    return id === undefined ? { kind: 'notification', ...body } : undefined;
  }
  if (!isMessageId(id)) return undefined;
  if (isRpcError(value['error'])) return { kind: 'response', id, result: undefined, error: value['error'], ...source };
  return 'result' in value ? { kind: 'response', id, result: value['result'], error: null, ...source } : undefined;
}

export function createRequest(id: MessageId, method: string, params: JsonObject): RequestMessage {
  return { kind: 'request', id, method, params, ...print({ jsonrpc: '2.0', id, method, params }) };
}

export function createNotification(method: string, params: JsonObject): NotificationMessage {
  return { kind: 'notification', method, params, ...print({ jsonrpc: '2.0', method, params }) };
}

/** Makes the response with a result. */
export function createResult(id: MessageId, result: JsonObject): ResponseMessage {
  return { kind: 'response', id, result, error: null, ...print({ jsonrpc: '2.0', id, result }) };
}

/** Makes an error response. */
export function createError(id: MessageId, error: RpcError): ResponseMessage {
  return { kind: 'response', id, result: undefined, error, ...print({ jsonrpc: '2.0', id, error }) };
}

function print(value: JsonObject): MessageSource {
  return { value, text: JSON.stringify(value) };
}

/** Puts another id into an answer. If the answer is nested too deep to be printed, an error replaces it. */
export function withId(response: ResponseMessage, id: MessageId): ResponseMessage {
  const { error, result } = response;
  if (isTooDeep(response)) {
    const message = `The server under test sent JSON that is nested deeper than ${maxJsonDepth} levels.`;
    return createError(id, { code: rpcErrorCodes.internalError, message });
  }
  return { ...response, id, ...print({ jsonrpc: '2.0', id, ...(error === null ? { result } : { error }) }) };
}

/** Prints an error response as JSON; `id` is null if the request could not be read. */
export function renderError(id: MessageId | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

export function isMessageId(value: unknown): value is MessageId {
  return typeof value === 'string' || typeof value === 'number';
}

/** Reads the object under `_meta` in the params of a request or notification; empty if there is none. */
export function readMeta(params: JsonObject): JsonObject {
  return isRecord(params['_meta']) ? params['_meta'] : {};
}

function isRpcError(value: unknown): value is RpcError {
  return isRecord(value) && typeof value['code'] === 'number' && typeof value['message'] === 'string';
}
