import type { Side } from './pass-through.ts';

/** Where a message over HTTP belongs: the number of its session or, without one, of its exchange, a request with its response. */
export interface Origin {
  session?: number;
  exchange?: number;
}

/** Some bytes that one side wrote. */
export interface Frame extends Origin {
  from: Side;
  timeMs: number;
  bytes: Buffer;
}

const sides: readonly Side[] = ['client', 'server'];

/** The side, the time as a double, the number of the session or of the exchange, and the length of the bytes that follow. */
const headBytes = 1 + 8 + 4 + 4;

/** Marks the number of an exchange. */
const exchangeBit = 0x8000_0000;

/** Writes the head of a frame. The bytes follow it. */
export function writeFrameHead({ from, timeMs, session = 0, exchange, bytes }: Frame): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(sides.indexOf(from), 0);
  head.writeDoubleLE(timeMs, 1);
  head.writeUInt32LE(exchange === undefined ? session : exchangeBit + (exchange % exchangeBit), 9);
  head.writeUInt32LE(bytes.length, 13);
  return head;
}

/** Reads frames from a stream, up to its end. A frame that was cut off is dropped. */
export async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let wanted = headBytes;
  for await (const chunk of stream) {
    kept.push(chunk);
    keptBytes += chunk.length;
    if (keptBytes < wanted) continue;
    let all = Buffer.concat(kept);
    for (;;) {
      wanted = headBytes;
      if (all.length < wanted) break;
      wanted += all.readUInt32LE(13);
      if (all.length < wanted) break;
      const from = sides[all.readUInt8(0)] ?? 'client';
      const number = all.readUInt32LE(9);
      const origin = number < exchangeBit ? { session: number } : { exchange: number - exchangeBit };
      yield { from, timeMs: all.readDoubleLE(1), ...origin, bytes: all.subarray(headBytes, wanted) };
      all = all.subarray(wanted);
    }
    kept = [all];
    keptBytes = all.length;
  }
}
