/** The report that replaces the gate's own results if the supervisor had to end the gate. */
export interface FallbackReport {
  /** `text` has `causePlaceholder` for the cause. A link must not lead out of `root`. */
  files: ReadonlyArray<{ path: string; root: string | null; text: string; mode: 'replace' | 'append' }>;
  /** Printed on stdout, such as annotations; may be empty. */
  stdout: string;
}

/**
 * Marks the slot for the cause in a fallback report. The cause has only letters, digits, blanks and full stops, which no format has to
 * escape.
 */
export const causePlaceholder = 'CAUSEPLACEHOLDER';

/** Sent from the supervisor to the gate. */
export type SupervisorMessage =
  | { kind: 'start'; environment: Record<string, string>; marker: string }
  | { kind: 'signal'; name: StopSignal };

/** Sent from the gate to the supervisor. */
export type GateMessage =
  /** The event loop is running. The memory is included if the supervisor cannot read it. */
  | { kind: 'beat'; rssBytes: number | null }
  /** The gate will have a verdict within this time; later means never. */
  | { kind: 'planned'; dueInMs: number; fallback: FallbackReport }
  /** The verdict exists; only publishing is left, and its duration depends on services. */
  | { kind: 'judged' }
  /** A process group of the server under test, which must not outlive the gate. */
  | { kind: 'group'; id: number; isAlive: boolean }
  /** The last message: the code that the gate is about to exit with. */
  | { kind: 'done'; exitCode: number };

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

export const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** Marks a re-executed entry as the gate. */
export const supervisedVariable = 'MCP_EVAL_CI_SUPERVISED';
