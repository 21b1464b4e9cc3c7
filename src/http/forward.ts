import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** A request to pass on as it is. */
interface ForwardedRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A complete answer, not compressed any more. */
interface ForwardedAnswer {
  status: number;
  headers: Array<[string, string]>;
  body: Buffer;
}

/** Headers of one connection, RFC 9110 §7.6.1, and those that the client of this request sets itself. */
const ownHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|content-length|accept-encoding)$/i;

const acceptedEncodings = 'gzip, deflate, br';

/**
 * Sends a request of another program and reads the answer to its end, redirects unfollowed.
 *
 * @throws the error of the connection; an error that says so if the answer is larger than `maxBytes` or compressed in an unknown way
 */
export async function forward(
  dispatcher: Dispatcher,
  { method, url, headers, body }: ForwardedRequest,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<ForwardedAnswer> {
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  const received = await dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...Object.fromEntries(kept), 'accept-encoding': acceptedEncodings },
    body: body.length === 0 ? null : body,
    signal,
    responseHeaders: 'raw',
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of received.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  const answered = readRawHeaders(received.headers);
  const encoding = answered.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1] ?? '';
  return {
    status: received.statusCode,
    headers: answered.filter(([name]) => !/^content-(?:encoding|length)$/i.test(name)),
    body: decompress(Buffer.concat(chunks), encoding, maxBytes),
  };
}

/** With raw headers, undici returns a list in which names and values alternate; its type does not say so. */
function readRawHeaders(headers: unknown): Array<[string, string]> {
  const parts = Array.isArray(headers) ? headers.map(String) : [];
  return parts.flatMap((name, index): Array<[string, string]> =>
    index % 2 === 0 ? [[name, parts[index + 1] ?? '']] : [],
  );
}

function decompress(body: Buffer, encoding: string, maxBytes: number): Buffer {
  const options = { maxOutputLength: maxBytes };
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  try {
    return names.toReversed().reduce((bytes, name) => {
      if (bytes.length === 0 || name === '' || name === 'identity') return bytes;
      if (name === 'gzip' || name === 'x-gzip') return gunzipSync(bytes, options);
      if (name === 'br') return brotliDecompressSync(bytes, options);
      // Servers send either form as `deflate`; the first byte of the right one is 0x78.
      if (name === 'deflate')
        return ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
      throw new Error(`the answer is compressed with ${JSON.stringify(name)}, which was not asked for`);
    }, body);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw error;
  }
}

function tooLarge(maxBytes: number): Error {
  return new Error(`the answer is larger than ${maxBytes / 1024 / 1024} MiB, the most that can be recorded`);
}
