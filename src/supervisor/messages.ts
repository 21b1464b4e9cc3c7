/** What is written instead of the gate's own results when the supervisor had to end it. */
export interface FallbackReport {
  /** With `causePlaceholder` where the cause belongs, and what no link may lead out of. */
  files: ReadonlyArray<{ path: string; root: string | null; text: string; mode: 'replace' | 'append' }>;
  /** Printed on stdout, such as annotations; may be empty. */
  stdout: string;
}

/** Stands in a fallback report for a sentence of letters, digits, blanks and full stops, which no format has to escape. */
export const causePlaceholder = 'CAUSEPLACEHOLDER';

/** From the supervisor to the gate. */
export type SupervisorMessage =
  | { kind: 'start'; environment: Record<string, string>; marker: string }
  | { kind: 'signal'; name: StopSignal };

/** From the gate to the supervisor. */
export type GateMessage =
  /** The event loop turns. The memory is reported where the supervisor cannot read it. */
  | { kind: 'beat'; rssBytes: number | null }
  /** The gate has a verdict after this time, or never. */
  | { kind: 'planned'; dueInMs: number; fallback: FallbackReport }
  /** The verdict is there; only publishing is left, whose duration depends on services. */
  | { kind: 'judged' }
  /** A process group of the server under test, which must not outlive the gate. */
  | { kind: 'group'; id: number; isAlive: boolean }
  /** The last message: what the gate is about to exit with. */
  | { kind: 'done'; exitCode: number };

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

export const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** Marks a re-executed entry as the gate. */
export const supervisedVariable = 'MCP_EVAL_CI_SUPERVISED';
