import type { Readable, Writable } from 'node:stream';

/** The side that wrote a message. */
export type Side = 'client' | 'server';

/** The two streams of one side. */
export interface Ends {
  input: Readable;
  output: Writable;
}

/**
 * Passes every byte of the client to the server and back, unchanged and in order. A side that stops reading stops the other one from
 * writing, and the end of a stream ends the other side's stream. `onBytes` gets a chunk before it is passed on, so that the recording lacks no
 * answer that the client got. Resolves when everything that the server wrote was passed on, and its stream has ended.
 */
export async function passThrough(
  client: Ends,
  server: Ends,
  onBytes: (from: Side, chunk: Buffer) => void,
): Promise<void> {
  void pump(client.input, server.output, (chunk) => onBytes('client', chunk));
  await pump(server.input, client.output, (chunk) => onBytes('server', chunk));
}

async function pump(source: Readable, target: Writable, onChunk: (chunk: Buffer) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  source.on('data', (chunk: Buffer) => {
    onChunk(chunk);
    if (!target.write(chunk)) {
      source.pause();
      target.once('drain', () => source.resume());
    }
  });
  source.once('end', () => target.end());
  // A source that was cut off has no end.
  source.once('error', () => target.end());
  source.once('close', () => target.end());
  // The reader is gone: the writer learns it at its next write, as without this process.
  target.once('error', () => source.destroy());
  target.once('close', () => {
    source.destroy();
    resolve();
  });
  target.once('finish', resolve);
  await promise;
}
