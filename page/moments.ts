import type { IterationTrace, TracedSpan } from '../src/model/evidence.ts';

/** A row of the timeline of an iteration. */
export interface Moment {
  kind: 'span' | 'output' | 'waiting';
  /** What happened, or the line that a server wrote. */
  text: string;
  startMs: number;
  /** Null for a line of output. */
  durationMs: number | null;
  isError: boolean;
}

/** Shorter gaps are the work of the gate between two calls. */
const minWaitMs = 20;

/**
 * Lists what happened in an iteration, by time: calls, answers of models, lines on stderr, and the time in which neither a call nor a model
 * was under way.
 */
export function listMoments({ spans, output }: Pick<IterationTrace, 'spans' | 'output'>): Moment[] {
  const shown = spans.map(({ name, category, ...times }): Moment => ({
    kind: 'span',
    text: name === category ? name : `${category} ${name}`,
    ...times,
  }));
  // A stack trace comes in one piece.
  const pieces = Map.groupBy(
    output.filter(({ text }) => text.trim() !== ''),
    ({ startMs }) => startMs,
  );
  const lines = [...pieces].map(([startMs, written]): Moment => ({
    kind: 'output',
    text: written.map(({ text }) => text).join('\n'),
    startMs,
    durationMs: null,
    isError: false,
  }));
  return [...shown, ...lines, ...listWaits(spans)].toSorted((a, b) => a.startMs - b.startMs);
}

function listWaits(spans: readonly TracedSpan[]): Moment[] {
  const waits: Moment[] = [];
  let freeFromMs = 0;
  const add = (untilMs: number) => {
    const durationMs = untilMs - freeFromMs;
    if (durationMs >= minWaitMs)
      waits.push({ kind: 'waiting', text: 'waiting', startMs: freeFromMs, durationMs, isError: false });
  };
  // A step spans its calls, and the time between them.
  for (const { startMs, durationMs } of spans.filter(({ category }) => category !== 'step')) {
    add(startMs);
    freeFromMs = Math.max(freeFromMs, startMs + durationMs);
  }
  add(Math.max(0, ...spans.map(({ startMs, durationMs }) => startMs + durationMs)));
  return waits;
}
