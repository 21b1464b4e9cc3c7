/** Details of a gate that people inspect, kept in addition to its report. The size is limited, however many iterations ran. */
export interface Evidence {
  /** In the order in which they were read; at most `maxIterationMarks`. */
  iterations: IterationMark[];
  /** Traces of failed iterations; at most `maxTraces`. Without a full report only their times, of at most `maxTimelines`. */
  traces: IterationTrace[];
  /** The texts of cases in evals files, each once. */
  definitions: CaseDefinition[];
}

/** A case as its evals file has it. */
export interface CaseDefinition {
  file: string;
  /** The line at which it begins, counted from 1. */
  line: number;
  text: string;
}

/** The most that a page can draw. The log of iterations has all of them. */
export const maxIterationMarks = 10_000;

/** More than people read of one gate. */
export const maxTraces = 50;

/** A page that is written by default stays small. */
export const maxTimelines = 10;

/** A summary of one iteration. */
export interface IterationMark {
  suiteId: string;
  caseId: string;
  iterationId: string;
  iterationNumber: number | null;
  outcome: 'passed' | 'failed' | 'unscored';
  durationMs: number | null;
  /** True if a recording gave at least one answer; null if no model took part. */
  isReplayed: boolean | null;
}

/** The messages and spans of an iteration, formatted for reading and cut, so that many of them fit in a report. */
export interface IterationTrace {
  suiteId: string;
  iterationId: string;
  messages: TracedMessage[];
  spans: TracedSpan[];
  /** The number of spans that were left out. */
  spansLeftOut: number;
  /** What the servers wrote to stderr, by time. */
  output: TracedLine[];
}

/** A line that a server wrote to stderr. */
export interface TracedLine {
  /** Counted from the start of the first span; negative before it. */
  startMs: number;
  text: string;
}

export interface TracedMessage {
  /** `system`, `user`, `assistant`, `tool`, or any other role that the service sent; `note` marks messages that are left out. */
  role: string;
  parts: TracedPart[];
}

export interface TracedPart {
  kind: 'text' | 'call' | 'result' | 'error';
  /** Null for text. */
  toolName: string | null;
  /** The arguments of a call, or the content of a result: indented JSON, or plain text if it is not JSON. */
  text: string;
}

export interface TracedSpan {
  name: string;
  category: string;
  /** Counted from the start of the first span. */
  startMs: number;
  durationMs: number;
  isError: boolean;
}
