import { clipText } from '../base/text.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import {
  describeProgress,
  type GateProgress,
  nameIteration,
  type ProgressListener,
  throttleProgress,
} from '../gate/run/progress.ts';
import type { Redactor } from '../base/redaction.ts';
import { redactLine } from './command-logger.ts';

export const eraseLine = '\r\u001B[2K';

/** The part of a terminal's window that the display may fill; more lines would push the log out of sight. */
const maxRows = 10;
/** The interval of redrawing. A frame that did not change is not written. */
const frameMs = 100;
/** A pipe or a terminal that reports no width. */
const defaultSize = { columns: 80, rows: 24 };

export interface ProgressOptions {
  write: (text: string) => void;
  /** True if the output can rewrite its last lines. */
  isTerminal: boolean;
  columns: number;
  clock: Clock;
  redactor: Redactor;
}

export interface GateProgressOptions extends Omit<ProgressOptions, 'columns'> {
  /** The size of the terminal now; zero or undefined if it is unknown. */
  readSize: () => { columns: number | undefined; rows: number | undefined };
}

export interface ProgressDisplay extends Disposable {
  listener: ProgressListener;
  /** Erases the live lines before other output. */
  clear(): void;
}

/**
 * Shows progress. On a terminal, the last step of the gate and one line for each running iteration with its time and its last tool, redrawn in
 * the same lines; in a log a line for every step, and for the count every 30 seconds.
 */
export function createProgressDisplay(options: GateProgressOptions): ProgressDisplay {
  const { write, clock, redactor } = options;
  if (options.isTerminal) return createLiveDisplay(options);
  const listener = throttleProgress(clock, (progress) => {
    write(`${redactLine(describeProgress(progress), redactor)}\n`);
  });
  return { listener, clear: () => {}, [Symbol.dispose]: () => {} };
}

interface RunningIteration {
  name: string;
  suite: string;
  startedMs: number;
  toolName: string | null;
}

function createLiveDisplay({ write, readSize, clock, redactor }: GateProgressOptions): ProgressDisplay {
  const running = new Map<string, RunningIteration>();
  const over = new AbortController();
  let step = '';
  let shown: readonly string[] = [];
  let isTicking = false;

  const readWindow = () => {
    const { columns, rows } = readSize();
    return { columns: columns || defaultSize.columns, rows: rows || defaultSize.rows };
  };
  const erase = (columns: number) => {
    // A terminal that became narrower has wrapped the lines.
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(measureText(line) / columns)), 0);
    return shown.length === 0 ? '' : `\r${rows > 1 ? `\u001B[${rows - 1}A` : ''}\u001B[J`;
  };
  const clear = () => {
    const text = erase(readWindow().columns);
    shown = [];
    if (text !== '') write(text);
  };
  const draw = () => {
    const { columns, rows } = readWindow();
    const room = Math.max(0, Math.min(maxRows, rows - 2));
    const all = [...running.values()].map((each) => describeRunning(each, { clock, redactor, columns }));
    const listed = all.length <= room ? all : all.slice(0, Math.max(0, room - 1));
    const hidden = all.length - listed.length;
    const more = hidden > 0 && room > 0 ? [`  … and ${hidden} more`] : [];
    const lines = [step, ...listed, ...more].map((line) => cutText(line, columns - 1));
    if (lines.length === shown.length && lines.every((line, index) => line === shown[index])) return;
    write(erase(columns) + lines.join('\n'));
    shown = lines;
  };
  const tick = async () => {
    isTicking = true;
    while (running.size > 0 && !over.signal.aborted) {
      draw();
      await clock.sleep(frameMs, { signal: over.signal }).catch(() => {});
    }
    isTicking = false;
    if (!over.signal.aborted) draw();
  };

  return {
    clear,
    listener: (progress) => {
      // Skips cases, because the report lists them a moment later.
      if (progress.kind === 'case-read' || over.signal.aborted) return;
      if (progress.kind === 'iteration') {
        follow(running, progress, clock);
        if (!isTicking) void tick();
        return;
      }
      if (progress.kind === 'run-finished')
        for (const [id, { suite }] of running) if (suite === progress.suite) running.delete(id);
      step = redactLine(describeProgress(progress), redactor);
      draw();
    },
    [Symbol.dispose]: () => {
      over.abort();
      clear();
    },
  };
}

function follow(
  running: Map<string, RunningIteration>,
  { id, suite, activity, ...named }: Extract<GateProgress, { kind: 'iteration' }>,
  clock: Clock,
): void {
  const known = running.get(id);
  if (activity.kind === 'started')
    running.set(id, { name: nameIteration(named), suite, startedMs: clock.monotonicMs(), toolName: null });
  else if (activity.kind === 'ended') running.delete(id);
  else if (known !== undefined) known.toolName = activity.toolName;
}

/** Describes an iteration in one line that begins with its time. Of a narrow line, the title is cut before the tool is. */
function describeRunning(
  { name, toolName, startedMs }: RunningIteration,
  { clock, redactor, columns }: Pick<GateProgressOptions, 'clock' | 'redactor'> & { columns: number },
): string {
  // Whole seconds, so that a frame changes once a second.
  const seconds = Math.floor((clock.monotonicMs() - startedMs) / 1000);
  const time = `  ${(seconds === 0 ? '0 s' : formatDuration(seconds * 1000)).padStart(4)}  `;
  const tool = toolName === null ? '' : clipText(` › ${redactLine(toolName, redactor)}`, 40);
  const room = Math.max(12, columns - 1 - measureText(time) - measureText(tool));
  return `${time}${cutText(redactLine(name, redactor), room)}${tool}`;
}

const segmenter = new Intl.Segmenter();
const noColumn = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const twoColumns =
  /[\p{Emoji_Presentation}\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6]|(?![\uFF61-\uFFDC])[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Splits a text into what a reader sees as characters. */
function listCharacters(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function measureCharacter(character: string): number {
  if (noColumn.test(character)) return 0;
  return twoColumns.test(character) ? 2 : 1;
}

/** Counts the columns of a terminal that a text fills. */
function measureText(text: string): number {
  return listCharacters(text).reduce((sum, character) => sum + measureCharacter(character), 0);
}

/** Cuts a text to the columns of a terminal. */
function cutText(text: string, columns: number): string {
  if (measureText(text) <= columns) return text;
  let width = 1;
  const kept = listCharacters(text).filter((character) => (width += measureCharacter(character)) <= columns);
  return `${kept.join('')}…`;
}
