import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { findGate, type Payload, type PayloadContext } from '../payload.ts';

/** Reads a file of every process of the gate; fails if any is unreadable. */
function readAll({ targets, variant, note }: PayloadContext): void {
  for (const pid of findGate(targets)) {
    const text = readFileSync(`/proc/${pid}/${variant}`, 'latin1');
    if (text !== '') note(`read ${variant} of ${pid}${text.includes('canary') ? ', with a canary' : ''}`);
  }
}

export const payloads: Record<string, Payload> = {
  file: readAll,
  memory: ({ targets, note }) => {
    for (const pid of findGate(targets)) {
      const [range = ''] = readFileSync(`/proc/${pid}/maps`, 'latin1').split(' ', 1);
      const memory = openSync(`/proc/${pid}/mem`, 'r');
      const read = readSync(memory, Buffer.alloc(64), 0, 64, Number.parseInt(range, 16));
      closeSync(memory);
      if (read > 0) note(`read the memory of ${pid}`);
    }
  },
  /** Writes into the job's log through the descriptors of the gate. */
  log: ({ targets, variant, note }) => {
    for (const pid of findGate(targets)) {
      const pipe = openSync(`/proc/${pid}/fd/${variant}`, 'w');
      writeSync(pipe, '\n::set-output name=verdict::passed\n✓ Passed: every case\n');
      closeSync(pipe);
      note(`wrote to descriptor ${variant} of ${pid}`);
    }
  },
};
