import type { ChildProcess } from 'node:child_process';
import { type Frame, writeFrameHead } from './frames.ts';

/** The most bytes that wait for a slow recorder. */
const maxWaitingBytes = 256 * 1024 * 1024;

/** The way to the process that records. It never delays the session: what it cannot take in time is not recorded. */
export interface RecorderLink {
  send(frame: Frame): void;
  /** Ends the recording. */
  close(): void;
  /** Resolves when the recorder has ended. */
  readonly done: Promise<void>;
}

/** Starts a recorder. `say` gets its output, and one sentence if it is lost. */
export function openRecorder(start: () => ChildProcess, say: (text: string) => void): RecorderLink {
  const child = start();
  const { stdin, stderr } = child;
  let isOpen = stdin !== null;
  const lose = (reason: string) => {
    if (!isOpen) return;
    isOpen = false;
    stdin?.destroy();
    say(`mcp-eval-ci capture: ${reason}; the session goes on, and the rest of it is not recorded.\n`);
  };
  const { promise: done, resolve } = Promise.withResolvers<void>();
  child.once('error', () => {
    lose('the recorder could not be started');
    resolve();
  });
  child.once('close', () => {
    lose('the recorder has ended');
    resolve();
  });
  stdin?.on('error', () => lose('the recorder has ended'));
  stderr?.setEncoding('utf8').on('data', say);
  return {
    send: (frame) => {
      if (!isOpen || stdin === null) return;
      if (stdin.writableLength > maxWaitingBytes) {
        lose('the recorder is too slow');
        return;
      }
      stdin.write(writeFrameHead(frame));
      stdin.write(frame.bytes);
    },
    close: () => {
      isOpen = false;
      stdin?.end();
    },
    done,
  };
}
