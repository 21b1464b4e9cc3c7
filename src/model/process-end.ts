/** Announces, below a reason, what the process of a server wrote last. */
export const lastLinesHeading = 'Its last lines on stderr:';

/** How a process of the server under test ended by itself, and what it wrote last. */
export interface ProcessEnd {
  /** Null after a signal. */
  exitCode: number | null;
  /** Such as `SIGSEGV`; null after an exit. */
  signal: string | null;
  /** The last lines of its output, oldest first: few enough for a report, and without secrets. */
  lastLines: readonly string[];
}

/** The end of a process that an iteration used. */
export interface WitnessedEnd {
  end: ProcessEnd;
  /** Whether the process served no other iteration. Only then its end is evidence about this one. */
  isOwn: boolean;
  /** The server in a sentence, where the iteration has several. */
  subject?: string;
}

/** One iteration, from the point of view of the program that started the server. Disposed when the iteration is over. */
export interface ServerVisit extends Disposable {
  /**
   * How the process that served the iteration ended; null while it runs. `sessionId` is the id of the iteration's MCP session,
   * where it has one. With `mayBeEnding` it waits a moment: a connection breaks before the end of the process is known.
   */
  findEnd(sessionId: string | undefined, options: { mayBeEnding: boolean }): Promise<WitnessedEnd | null>;
}

/** How a program ended that a step ran. */
export interface CommandEnd {
  /** Null after a signal, or where it could not be started. */
  exitCode: number | null;
  signal: string | null;
  /** What it wrote, cut where there is much. */
  stdout: string;
  stderr: string;
  /** Why it could not be started; null where it was. */
  startError: string | null;
}

/**
 * Runs a program and its arguments next to a server, and as the server is run.
 *
 * @throws the signal's reason once it aborts, when the program has been ended
 */
export type RunCommand = (command: readonly string[], options: { signal: AbortSignal }) => Promise<CommandEnd>;

/**
 * What the program that started the server knows of its processes. It is asked within this process only: a message that a server
 * sends can claim anything.
 */
export interface ProcessWitness {
  /** Whether iterations share the server's process. */
  readonly isShared: boolean;
  /**
   * Called before an iteration connects. Starts the process again if it has ended; with `isAlone`, a process that served others
   * is replaced first. A probe runs no iteration: it leaves no trace in what the process served.
   *
   * @throws {ServerStartError} when no process can be started any more.
   */
  visit(options: { isAlone: boolean; isProbe?: boolean; signal: AbortSignal }): Promise<ServerVisit>;
  runCommand?: RunCommand;
}

/** The witnesses of the servers that a service runs evals against. */
export interface ServerWitnesses {
  /** By the service's id of the server; null where its process was started elsewhere. */
  find(serverId: string): ProcessWitness | null;
}

/** Completes "The server …": `exited with code 3`, `was ended by SIGSEGV`. */
export function describeProcessEnd({ exitCode, signal }: Pick<ProcessEnd, 'exitCode' | 'signal'>): string {
  return exitCode === null ? `was ended by ${signal ?? 'the system'}` : `exited with code ${exitCode}`;
}
