/** What is kept of a gate in addition to its report, for people who look into it. Bounded, however much was run. */
export interface Evidence {
  /** In the order they were read; at most `maxIterationMarks`. */
  iterations: IterationMark[];
  /** Of iterations that failed; at most `maxTraces`, and none unless a full report was asked for. */
  traces: IterationTrace[];
}

/** What a page can draw; who wants each of more has the log of iterations. */
export const maxIterationMarks = 10_000;

/** More than people read of one gate. */
export const maxTraces = 50;

/** One iteration in brief. */
export interface IterationMark {
  suiteId: string;
  caseId: string;
  iterationId: string;
  iterationNumber: number | null;
  outcome: 'passed' | 'failed' | 'unscored';
  durationMs: number | null;
  /** Whether a recording gave at least one answer; null where no model took part. */
  isReplayed: boolean | null;
}

/** What an iteration did, made readable and cut to a size that many of them can have. */
export interface IterationTrace {
  suiteId: string;
  iterationId: string;
  messages: TracedMessage[];
  spans: TracedSpan[];
  /** Spans beyond these. */
  spansLeftOut: number;
}

export interface TracedMessage {
  /** `system`, `user`, `assistant`, `tool`, or whatever the service said; `note` where messages are left out. */
  role: string;
  parts: TracedPart[];
}

export interface TracedPart {
  kind: 'text' | 'call' | 'result' | 'error';
  /** Null for text. */
  toolName: string | null;
  /** Of calls their arguments, of results what came back: indented JSON, or text where there is nothing else. */
  text: string;
}

export interface TracedSpan {
  name: string;
  category: string;
  /** From the start of the first one. */
  startMs: number;
  durationMs: number;
  isError: boolean;
}
