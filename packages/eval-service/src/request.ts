import { createHash } from 'node:crypto';
import type { Context, HonoRequest } from 'hono';
import type { z } from 'zod';
import type { ApiEnv } from './callers.ts';
import { ApiError, invalid } from './envelope.ts';
import type { Store } from './store/open-store.ts';

/** The parts of a route's context that contain the body. */
type BodyContext = Pick<Context<ApiEnv>, 'req' | 'env'>;

/** Reads a request's JSON object and checks it against a schema; an empty body reads as `{}`. */
export type BodyReader = <Schema extends z.ZodType>(context: BodyContext, schema: Schema) => Promise<z.output<Schema>>;

/**
 * Makes the body reader of a service. It throws VALIDATION_ERROR with the first problem as `path.to.field: message`, and for a body of more
 * than `maxBytes`.
 */
export function createBodyReader(maxBytes: number): BodyReader {
  return async (context, schema) => {
    const text = (await readBytes(context, maxBytes)).toString();
    return parseBody(text.trim() === '' ? {} : parseJson(text), schema);
  };
}

/** Checks a body that is already parsed. @throws {ApiError} VALIDATION_ERROR. */
export function parseBody<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The request body must be a JSON object.');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(renderFirstIssue(parsed.error));
}

export function renderFirstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'The request body is not valid.';
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}

/** More levels than any body of the API needs. Recursive code for deeper values could overflow the stack. */
const maxDepth = 500;

function parseJson(text: string): unknown {
  if (isDeeper(text, maxDepth)) throw invalid(`The request body is nested more than ${maxDepth} levels deep.`);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    throw invalid('The request body is not valid JSON.');
  }
}

/** True if brackets outside of strings are nested deeper than `levels` in a text of JSON. */
function isDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isInString) {
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === ']' || character === '}') depth -= 1;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > levels) return true;
    }
  }
  return false;
}

/**
 * Reads a whole body. Counts the received bytes instead of trusting Content-Length, which a chunked body does not have.
 *
 * @throws {ApiError} VALIDATION_ERROR for more than `maxBytes`.
 */
export async function readBytes({ req, env }: BodyContext, maxBytes: number): Promise<Buffer> {
  const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
  // `raw.body` is the last choice, because the adaptor then builds a whole web request for a request from a socket.
  const body = hasBody ? (env.incoming ?? req.raw.body) : null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.byteLength;
      // The rest is read but not kept, because a client that is still sending may never see an early answer.
      if (length > maxBytes) chunks.length = 0;
      else chunks.push(chunk);
    }
  } catch (error) {
    // The client has disconnected; this refusal only keeps the error out of the log.
    if (env.incoming?.complete === false) throw invalid('The request ended before its body was complete.');
    throw error;
  }
  if (length > maxBytes) throw invalid(`The request body is larger than ${maxBytes} bytes.`);
  return Buffer.concat(chunks);
}

/** Reads `limit` and never refuses it: clamps it to 1..`max`, truncates a fraction, and uses `standard` if it is not a number. */
export function readLimit(request: HonoRequest, { max, standard }: { max: number; standard: number }): number {
  const text = request.query('limit');
  const limit = Number.parseFloat(text ?? '');
  return Number.isNaN(limit) ? standard : Math.min(Math.max(Math.trunc(limit), 1), max);
}

/** Renders the cursor for a position of a list. `list` names the list, so that a cursor fits only its own list. */
export function renderCursor(list: string, position: number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

/**
 * Reads the position after which `cursor` continues; −1, before the first item, without a cursor.
 *
 * @throws {ApiError} VALIDATION_ERROR for a cursor that this list never returned.
 */
export function readCursor(request: HonoRequest, list: string): number {
  const cursor = request.query('cursor');
  if (cursor === undefined || cursor === '') return -1;
  const position = /^(?<list>.*):(?<position>\d{1,9})$/s.exec(Buffer.from(cursor, 'base64url').toString())?.groups;
  if (position?.['list'] !== list || renderCursor(list, Number(position['position'])) !== cursor) {
    throw invalid('cursor: Not a cursor of this list');
  }
  return Number(position['position']);
}

/** The spellings of both vendors come first; the API's description promises the plain one. */
const keyHeaders = ['x-svc-idempotency-key', 'x-mcpjam-idempotency-key', 'idempotency-key'];
const longestKey = 256;

/** A request that is executed once: a request with the same key in the same scope gets the first answer again. */
export interface IdempotentRequest {
  /** The scope in which the key is unique, such as the runs of one suite. */
  scope: string;
  key: string;
  /** Equal for a repeat of the same request. */
  fingerprint: string;
}

/** Reads the key of a request; the body takes precedence over the headers. A malformed key counts as absent, as in the API. */
export function readIdempotencyKey(request: HonoRequest, bodyKey?: string): string | undefined {
  const keys = [bodyKey, ...keyHeaders.map((name) => request.header(name))].map((key) => key?.trim());
  return keys.find((key) => key !== undefined && key.length > 0 && key.length <= longestKey);
}

/** Describes a keyed request; undefined if it has no key. `body` is the parsed body. */
export function describeRequest(scope: string, key: string | undefined, body: unknown): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  return { scope, key, fingerprint: createHash('sha256').update(JSON.stringify(body)).digest('hex') };
}

/**
 * Finds the answer to an earlier identical request; undefined if the request is new. `answer` is the schema of the stored answer.
 *
 * @throws {ApiError} CONFLICT if the key was used for a different request, to which the answer belongs.
 */
export function findAnswer<Answer>(
  store: Store,
  request: IdempotentRequest | undefined,
  answer: z.ZodType<Answer>,
): Answer | undefined {
  const found = request && store.idempotency.get(request.scope, request.key);
  if (found === undefined) return undefined;
  if (found.fingerprint !== request?.fingerprint) {
    throw new ApiError('CONFLICT', 'This idempotency key was used for a different request; use a new one.', {
      details: { reason: 'IDEMPOTENCY_CONFLICT' },
    });
  }
  return answer.parse(JSON.parse(found.answer));
}

/** Stores the answer to a keyed request. Call it in the transaction that executes the request. */
export function keepAnswer(store: Store, request: IdempotentRequest | undefined, answer: unknown): void {
  if (request !== undefined) store.idempotency.insert({ ...request, answer: JSON.stringify(answer) });
}
