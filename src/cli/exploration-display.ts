import { formatCount } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import type { ExploreProgress } from '../explore/explore.ts';
import { redactLine } from './command-logger.ts';
import { eraseLine, type ProgressOptions } from './progress.ts';

/** Shows how far an exploration is. */
export interface ExplorationDisplay {
  show: (progress: ExploreProgress) => void;
  /** Erases the live line before other output. */
  clear: () => void;
}

/** Shows one changing line on a terminal, and in a log one line for each part of the work. */
export function createExplorationDisplay({
  write,
  isTerminal,
  columns,
  clock,
  redactor,
}: ProgressOptions): ExplorationDisplay {
  const startedMs = clock.monotonicMs();
  const describe = ({ phase, subject, requests, tools }: ExploreProgress) => {
    const time = formatDuration(clock.monotonicMs() - startedMs);
    const found = `${tools.reached} of ${formatCount(tools.of, 'tool')} answered, ${formatCount(requests, 'request')}, ${time}`;
    return redactLine(`${phase}${subject === null ? '' : `: ${subject}`} (${found}) …`, redactor);
  };
  if (!isTerminal) {
    return {
      show: (progress) => {
        if (progress.subject === null) write(`${describe(progress)}\n`);
      },
      clear: () => {},
    };
  }
  return {
    show: (progress) => write(eraseLine + describe(progress).slice(0, columns - 1)),
    clear: () => write(eraseLine),
  };
}
