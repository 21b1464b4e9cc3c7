import { createHash } from 'node:crypto';
import type { Context, HonoRequest } from 'hono';
import type { z } from 'zod';
import type { ApiEnv } from './callers.ts';
import { ApiError, invalid } from './envelope.ts';
import type { Store } from './store/open.ts';

/** The parts of a route's context that a body is read from. */
type BodyContext = Pick<Context<ApiEnv>, 'req' | 'env'>;

/** Reads a request's JSON object and checks it against a schema; an empty body reads as `{}`. */
export type BodyReader = <Schema extends z.ZodType>(context: BodyContext, schema: Schema) => Promise<z.output<Schema>>;

/**
 * Makes the reader of a service. It throws VALIDATION_ERROR with the first problem as `path.to.field: message`,
 * and for a body of more than `maxBytes`.
 */
export function createBodyReader(maxBytes: number): BodyReader {
  return async (context, schema) => {
    const text = (await readBytes(context, maxBytes)).toString();
    return parseBody(text.trim() === '' ? {} : parseJson(text), schema);
  };
}

/** Checks a value that was read already. @throws {ApiError} VALIDATION_ERROR. */
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

/** More than any body of the API needs; what walks a value deeper calls itself once per level, and the stack has an end. */
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

/** Whether brackets outside of strings are open deeper than this, anywhere in a text of JSON. */
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
 * Reads a whole body. Counts what arrives and not what Content-Length says, which a chunked body does not have.
 *
 * @throws {ApiError} VALIDATION_ERROR for more than `maxBytes`.
 */
export async function readBytes({ req, env }: BodyContext, maxBytes: number): Promise<Buffer> {
  const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
  // `raw.body` is the last choice: for a request from a socket, the adaptor builds a whole web request to give it.
  const body = hasBody ? (env.incoming ?? req.raw.body) : null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.byteLength;
      // Read to its end, though not kept: a client that is still sending when the answer comes may never see it.
      if (length > maxBytes) chunks.length = 0;
      else chunks.push(chunk);
    }
  } catch (error) {
    // The client is gone, so the refusal only keeps the log free of it.
    if (env.incoming?.complete === false) throw invalid('The request ended before its body was complete.');
    throw error;
  }
  if (length > maxBytes) throw invalid(`The request body is larger than ${maxBytes} bytes.`);
  return Buffer.concat(chunks);
}

/** Reads `limit`, never refused: it is clamped to 1..`max`, a fraction cut off, and what is no number is `standard`. */
export function readLimit(request: HonoRequest, { max, standard }: { max: number; standard: number }): number {
  const text = request.query('limit');
  const limit = Number.parseFloat(text ?? '');
  return Number.isNaN(limit) ? standard : Math.min(Math.max(Math.trunc(limit), 1), max);
}

/** Makes the cursor behind a position of a list. `list` says which one, so that no cursor fits another. */
export function renderCursor(list: string, position: number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

/**
 * Reads the position that `cursor` stands behind; −1, before the first, where there is none.
 *
 * @throws {ApiError} VALIDATION_ERROR for a cursor that this list never gave.
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

/** The vendor's own spellings first, of either profile; the plain one is what the API's description promises. */
const keyHeaders = ['x-svc-idempotency-key', 'x-mcpjam-idempotency-key', 'idempotency-key'];
const longestKey = 256;

/** A request that is to be executed once: who repeats the key in the same scope gets the first answer again. */
export interface IdempotentRequest {
  /** What the key is unique in, such as the runs of one suite. */
  scope: string;
  key: string;
  /** The same for a repeat of the same request. */
  fingerprint: string;
}

/** Reads the key of a request, the body's before the headers'. A malformed one counts as absent, as in the API. */
export function readIdempotencyKey(request: HonoRequest, bodyKey?: string): string | undefined {
  const keys = [bodyKey, ...keyHeaders.map((name) => request.header(name))].map((key) => key?.trim());
  return keys.find((key) => key !== undefined && key.length > 0 && key.length <= longestKey);
}

/** Describes a keyed request; undefined where it carries no key. `body` is the request's, as it was read. */
export function describeRequest(scope: string, key: string | undefined, body: unknown): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  return { scope, key, fingerprint: createHash('sha256').update(JSON.stringify(body)).digest('hex') };
}

/**
 * Finds what was answered to the same request before; undefined where it is new. `answer` is what was kept.
 *
 * @throws {ApiError} CONFLICT when the key was used for something else: that answer belongs to another request.
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

/** Keeps the answer to a keyed request, in the transaction that did what was asked. */
export function keepAnswer(store: Store, request: IdempotentRequest | undefined, answer: unknown): void {
  if (request !== undefined) store.idempotency.insert({ ...request, answer: JSON.stringify(answer) });
}
