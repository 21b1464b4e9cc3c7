import { PassThrough, pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { joinSignals } from '../base/time.ts';

/** Called with each chunk of a body, before the reader gets the chunk. If it throws, the body fails with that error. */
export type CountChunk = (chunk: Uint8Array) => void;

export interface ExchangeRequest {
  method: string;
  headers: Headers;
  body: string | null;
  /** The first signal that aborts ends the request and the body of the response, for as long as it is read. */
  signals: readonly AbortSignal[];
}

/** The headers of Node's own fetch, which servers know well; fetch also accepts deflate. */
const usualHeaders = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip',
};

/** The encodings that servers use, including those that they use unasked. */
const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** The most times that a body may be compressed: each time multiplies the size that a few bytes can unpack to. */
const maxEncodings = 5;

/** The connection waits while the reader of a body is this many bytes behind. */
const readAheadBytes = 64 * 1024;

/** A Response with one of these statuses cannot have a body. */
const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

const highestStatus = 599;

/**
 * Sends a request and resolves with its response once the headers have arrived. It works like fetch, but follows no redirects and lacks
 * the features for web pages, and takes a third of the time. `openCount` is called with the content type of the response; the function
 * that it returns gets each decompressed chunk of the body.
 *
 * @throws {TypeError} with a cause, as fetch does, if there is no response; or the reason of the first signal that aborts. The body fails
 * with the same errors.
 */
export async function exchange(
  dispatcher: Dispatcher,
  url: string | URL,
  { method, headers, body, signals }: ExchangeRequest,
  openCount: (contentType: string) => CountChunk,
): Promise<Response> {
  for (const signal of signals) signal.throwIfAborted();
  const { origin, pathname, search } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  let connection: Dispatcher.DispatchController | null = null;
  let received: ReceivedBody | null = null;
  const ending = joinSignals(signals);
  const { signal } = ending;
  const abort = () => {
    reject(signal.reason);
    connection?.abort(signal.reason);
  };
  signal.addEventListener('abort', abort);
  dispatcher.dispatch(
    {
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { ...usualHeaders, ...Object.fromEntries(headers) },
      body,
    },
    {
      onRequestStart: (controller) => {
        connection = controller;
        if (signal.aborted) abort();
      },
      onResponseStart: (controller, status, headers, statusText = '') => {
        // This is an informational response, such as early hints; the final one follows.
        if (status < 200) return;
        const count = openCount(joinValues(headers['content-type']));
        const steps = createDecoders(joinValues(headers['content-encoding']));
        received = receiveBody(controller, steps.length === 0 ? count : null);
        const body = steps.length === 0 ? received.stream : countBody(decode(received.stream, steps), count);
        const response = createResponse(body, status, statusText);
        addHeaders(response.headers, controller.rawHeaders);
        resolve(response);
      },
      onResponseData: (_controller, chunk) => received?.add(chunk),
      onResponseEnd: () => {
        ending[Symbol.dispose]();
        received?.end();
      },
      onResponseError: (_controller, error) => {
        ending[Symbol.dispose]();
        const message = received === null ? 'fetch failed' : 'terminated';
        const reason: unknown = signal.aborted ? signal.reason : new TypeError(message, { cause: error });
        reject(reason);
        received?.fail(reason);
      },
    },
  );
  return await promise;
}

function joinValues(values: string | string[] | undefined): string {
  return Array.isArray(values) ? values.join(',') : (values ?? '');
}

function createResponse(body: ReadableStream<Uint8Array>, status: number, reason: string): Response {
  // Response accepts no other reason phrase and no higher status, but servers send them.
  const statusText = /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : '';
  const init = { status: Math.min(status, highestStatus), statusText };
  const response = new Response(statusesWithoutBody.has(status) ? null : body, init);
  return status === init.status ? response : Object.defineProperty(response, 'status', { value: status });
}

/** Adds the headers with their original bytes: bytes above 127 are Latin-1. */
function addHeaders(headers: Headers, raw: Dispatcher.DispatchController['rawHeaders']): void {
  if (!Array.isArray(raw)) return;
  const texts = raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
  for (let index = 0; index + 1 < texts.length; index += 2) headers.append(texts[index] ?? '', texts[index + 1] ?? '');
}

interface ReceivedBody {
  stream: ReadableStream<Uint8Array>;
  add(chunk: Uint8Array): void;
  end(): void;
  fail(reason: unknown): void;
}

/** Passes a body on as fast as it is read. If its reader cancels, the request ends. */
function receiveBody(connection: Dispatcher.DispatchController, count: CountChunk | null): ReceivedBody {
  let reader: ReadableStreamDefaultController<Uint8Array> | null = null;
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        reader = controller;
      },
      pull: () => {
        if (connection.paused) connection.resume();
      },
      cancel: (reason) => {
        reader = null;
        connection.abort(reason instanceof Error ? reason : new Error('The reader of the body left.'));
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: readAheadBytes }),
  );
  return {
    stream,
    add: (chunk) => {
      try {
        count?.(chunk);
      } catch (error) {
        reader?.error(error);
        reader = null;
        throw error;
      }
      reader?.enqueue(chunk);
      if ((reader?.desiredSize ?? 1) <= 0) connection.pause();
    },
    end: () => reader?.close(),
    fail: (reason) => reader?.error(reason),
  };
}

/** Makes one decompressor for each encoding. Empty if the body is not compressed, or in an unknown way. */
function createDecoders(encoding: string): Transform[] {
  if (encoding === '') return [];
  const names = encoding.toLowerCase().split(',');
  if (names.length > maxEncodings) throw new Error(`The response is encoded ${names.length} times.`);
  const makers = names.map((name) => decoders.get(name.trim()));
  return makers.every((make) => make !== undefined) ? makers.toReversed().map((make) => make()) : [];
}

function decode(body: ReadableStream<Uint8Array>, steps: readonly Transform[]): ReadableStream<Uint8Array> {
  const decoded = new PassThrough();
  // Both ends fail with the error by themselves, so the callback has nothing to do.
  pipeline([Readable.fromWeb(body), ...steps, decoded], () => {});
  return Readable.toWeb(decoded);
}

/** Passes chunks on when the reader asks for them, each after `count`. If `count` throws, the body fails and the connection ends. */
function countBody(body: ReadableStream<Uint8Array>, count: CountChunk): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        try {
          count(value);
        } catch (error) {
          void reader.cancel(error).catch(() => {});
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
