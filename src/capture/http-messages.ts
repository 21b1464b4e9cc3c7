import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { maxMessageBytes } from './journal.ts';

/** Reads messages in a copy of a body. */
export interface BodyReader {
  add: (chunk: Buffer) => void;
  end: () => void;
}

/** Reads the messages of a body: JSON as a whole, or the data of each event. Other bodies have none. */
export function createBodyReader(headers: IncomingHttpHeaders, onText: (text: string) => void): BodyReader {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const reader =
    type === 'text/event-stream' ? createEventReader(onText) : type === 'application/json' ? createWhole(onText) : null;
  if (reader === null) return { add: () => {}, end: () => {} };
  const decoder = createDecoder(headers['content-encoding']);
  if (decoder === null) return reader;
  decoder
    .on('data', reader.add)
    .on('end', reader.end)
    .on('error', () => {});
  return { add: (chunk) => void decoder.write(chunk), end: () => void decoder.end() };
}

function createDecoder(encoding: string | undefined): Transform | null {
  switch (encoding?.toLowerCase()) {
    case 'gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}

function createWhole(onText: (text: string) => void): BodyReader {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      // The beginning of a message that is too long is enough for its reader to note it.
      if (bytes <= maxMessageBytes) chunks.push(chunk);
      bytes += chunk.length;
    },
    end: () => onText(Buffer.concat(chunks).toString('utf8')),
  };
}

/** Reads events as the HTML standard describes them, without their names and ids. */
function createEventReader(onText: (text: string) => void): BodyReader {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let data: string[] = [];
  const readLine = (line: string) => {
    if (line === '') {
      const message = data.join('\n');
      data = [];
      if (message !== '') onText(message);
    } else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
  };
  return {
    add: (chunk) => {
      text += decoder.write(chunk);
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? '';
      for (const line of lines) readLine(line);
      if (text.length <= maxMessageBytes) return;
      // An event that is too long is not kept in memory. Its beginning is enough for the reader to note it; the rest is no line of data.
      if (text.startsWith('data:')) onText(text);
      text = '';
    },
    end: () => {},
  };
}
