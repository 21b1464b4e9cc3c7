/** The heading, below a reason, of the last lines that the server process wrote. */
export const lastLinesHeading = 'Its last lines on stderr:';

/** How a process of the server under test ended on its own, and its last output. */
export interface ProcessEnd {
  /** Null after a signal. */
  exitCode: number | null;
  /** For example `SIGSEGV`; null after an exit. */
  signal: string | null;
  /** True if it is a server object of this process, which closed its session. */
  isClosed?: boolean;
  /** The last lines of its output, oldest first. They are few enough for a report and contain no secrets. */
  lastLines: readonly string[];
}

/** Lines that runtimes write in addition to the reason of a crash: places in the code, and what could be done. */
const noise = /^\s*$|^\s+at |^Node\.js v\d|^\s*File "|^goroutine \d|^exit status \d|^note: run with |^\s*[\])}^~]*\s*$/;

/** Matches the name of an exception with what it says, and the panic of a Go program. */
const exception = /^(?:Uncaught )?(?:[A-Za-z_]\w*[.:]+)*\w*(?:Error|Exception|Exit)\b.*: \S|^panic: /;

/** Finds the line that says why a program ended among the last ones of its output; the last one if no line does, null if there is none. */
export function findReason(lastLines: readonly string[]): string | null {
  const telling = lastLines.filter((line) => !noise.test(line));
  return telling.findLast((line) => exception.test(line)) ?? telling.at(-1) ?? lastLines.at(-1) ?? null;
}

/** A line that a server wrote to stderr. */
export interface OutputLine {
  /** When its first part was read, in epoch milliseconds. */
  atMs: number;
  text: string;
}

/** The end of a process that served an iteration. */
export interface WitnessedEnd {
  end: ProcessEnd;
  /** True if the process served no other iteration. Only then is its end evidence about this iteration. */
  isOwn: boolean;
  /** The name of the server in a sentence, if the iteration has several servers. */
  subject?: string;
}

/** One iteration, as seen by the program that started the server. The engine disposes it when the iteration is over. */
export interface ServerVisit extends Disposable {
  /**
   * Returns how the process that served the iteration ended; null while it runs. `sessionId` is the id of the iteration's MCP session, if
   * it has one. With `mayBeEnding` it waits a moment, because a connection can break before the end of the process is known.
   */
  findEnd(sessionId: string | undefined, options: { mayBeEnding: boolean }): Promise<WitnessedEnd | null>;
  /**
   * Returns the last lines that the process of the session wrote. Of a process that iterations share, those since this one began; other
   * iterations may have caused them.
   */
  readOutput(sessionId: string | undefined): Promise<readonly OutputLine[]>;
}

/** How a program that a step ran ended. */
export interface CommandEnd {
  /** Null after a signal, or if the program could not be started. */
  exitCode: number | null;
  signal: string | null;
  /** The output; long output is cut. */
  stdout: string;
  stderr: string;
  /** Why the program could not be started; null if it was started. */
  startError: string | null;
}

/**
 * Runs a program with its arguments in the environment of the server, next to the server.
 *
 * @throws the signal's reason once it aborts, after the program has been ended
 */
export type RunCommand = (command: readonly string[], options: { signal: AbortSignal }) => Promise<CommandEnd>;

/**
 * The knowledge of the program that started the server about its processes. Only code in this process may ask, because a message from a
 * server can claim anything.
 */
export interface ProcessWitness {
  /** True if iterations share the server's process. */
  readonly isShared: boolean;
  /**
   * Called before an iteration connects. Starts the process again if it has ended; with `isAlone`, first replaces a process that served
   * other iterations. A probe is not an iteration, so the process does not count as used.
   *
   * @throws {ServerStartError} when no process can be started any more.
   */
  visit(options: { isAlone: boolean; isProbe?: boolean; signal: AbortSignal }): Promise<ServerVisit>;
  runCommand?: RunCommand;
}

/** The witnesses of the servers that a service runs evals against. */
export interface ServerWitnesses {
  /** Finds a witness by the service's id of the server; null if another program started its process. */
  find(serverId: string): ProcessWitness | null;
}

/** Completes a sentence that begins with "The server": `exited with code 3`, `was ended by SIGSEGV`. */
export function describeProcessEnd({
  exitCode,
  signal,
  isClosed = false,
}: Pick<ProcessEnd, 'exitCode' | 'signal' | 'isClosed'>): string {
  if (isClosed) return 'closed its session';
  return exitCode === null ? `was ended by ${signal ?? 'the system'}` : `exited with code ${exitCode}`;
}
