import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ProtocolError } from '../base/errors.ts';

/** The only compression that requests ask for, and therefore the only one that an answer may use. */
export const acceptedEncoding = 'gzip';

/**
 * Reads a body to its end as text, and decompresses it if `contentEncoding` says so. Holds at most `maxBytes` of decompressed data: a
 * small answer that unpacks into a huge one is dropped as soon as it exceeds the limit.
 *
 * @throws {ProtocolError} if the body is too large or encoded in another way
 * @throws the error of the stream
 */
export async function readBody(
  body: Readable,
  contentEncoding: string | undefined,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<string> {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== acceptedEncoding) {
    // The destroyed socket may still fail, and no other listener is left for its error.
    body.on('error', () => {}).destroy();
    throw new ProtocolError(`The answer is compressed with ${JSON.stringify(encoding)}, which was not asked for.`);
  }
  const collect = async (chunks: AsyncIterable<Buffer>) => collectText(chunks, options.maxBytes);
  const { signal } = options;
  try {
    return await (encoding === acceptedEncoding
      ? pipeline(body, createGunzip(), collect, { signal })
      : pipeline(body, collect, { signal }));
  } catch (error) {
    // A stream pipeline reports an abort as its own error; callers want the reason.
    signal.throwIfAborted();
    if (isZlibError(error)) throw new ProtocolError('The answer could not be decompressed.', { cause: error });
    throw error;
  }
}

async function collectText(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new ProtocolError(`The answer is larger than ${maxBytes} bytes.`, {
        hint: 'No answer of this API is that large; something else may be listening at the base URL.',
      });
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}

/** Deeper values survive JSON.parse, but not the recursion of the code that walks them later. */
const maxJsonDepth = 200;

/**
 * Decodes JSON that nests at most 200 levels; deeper JSON is refused before it is decoded.
 *
 * @throws {ProtocolError} without any part of the text, which may hold secrets
 */
export function parseJson(json: string): unknown {
  if (exceedsDepth(json, maxJsonDepth)) throw new ProtocolError(`The answer's JSON nests over ${maxJsonDepth} levels.`);
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, so it is not kept as the cause.
    throw new ProtocolError(json === '' ? 'The answer is empty.' : 'The answer is not JSON.');
  }
}

/**
 * Counts brackets outside strings. It may count wrongly in text that is not JSON, which the parser refuses anyway. It is a loop, because
 * a regular expression over a string of many megabytes exhausts the stack.
 */
function exceedsDepth(json: string, maxDepth: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (isInString) {
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') {
      isInString = true;
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    }
  }
  return false;
}
