import type { Clock } from '../base/time.ts';
import { describeProgress, type ProgressListener, throttleProgress } from '../gate/run/progress.ts';
import type { Redactor } from '../base/redaction.ts';
import { redactLine } from './command-logger.ts';

export const eraseLine = '\r\u001B[2K';

export interface ProgressOptions {
  write: (text: string) => void;
  /** True if the output can rewrite its last line. */
  isTerminal: boolean;
  columns: number;
  clock: Clock;
  redactor: Redactor;
}

export interface ProgressDisplay {
  listener: ProgressListener;
  /** Erases the live line before other output. */
  clear(): void;
}

/** Shows progress: one live line on a terminal, and in a log a line for every step, and for the count every 30 seconds. */
export function createProgressDisplay(options: ProgressOptions): ProgressDisplay {
  const { write, columns, clock, redactor } = options;
  if (!options.isTerminal) {
    const listener = throttleProgress(clock, (progress) => {
      write(`${redactLine(describeProgress(progress), redactor)}\n`);
    });
    return { listener, clear: () => {} };
  }
  return {
    clear: () => write(eraseLine),
    listener: (progress) => {
      // Skips cases, because the report lists them a moment later, and a wrapped line could not be erased.
      if (progress.kind === 'case-read') return;
      write(eraseLine + redactLine(describeProgress(progress), redactor).slice(0, columns - 1));
    },
  };
}
