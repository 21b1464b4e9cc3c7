/**
 * Receives progress and findings. Injected, never imported: the command writes to a terminal, the action to
 * the runner's log, the library to whatever its caller passes. Implementations redact and escape; callers pass
 * plain text and never headers, bodies or a URL's query.
 */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string): void;
  /** A titled block that a reader may fold away, such as the last lines of a server's stderr. */
  group(title: string, lines: readonly string[]): void;
}

/** A logger that drops everything. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warning: () => {},
  error: () => {},
  group: () => {},
};
