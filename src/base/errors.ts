import { linkPage } from './version.ts';

/**
 * Thrown if the gate could not judge; a gate that fails is a value, never an error. Callers match on `code`, which is stable. `hint` says
 * what to do next. `exitCode` follows from the class: 2 if the user can correct the configuration, 3 if there is no verdict, 128 plus the
 * number of the signal that stopped the process.
 */
export abstract class GateError extends Error {
  abstract readonly code: string;
  abstract readonly exitCode: 2 | 3 | 129 | 130 | 131 | 143;
  /** The next step for the reader; undefined if there is none to suggest. The loop that repeats a request appends to it. */
  hint: string | undefined;
  /** True if the service may have carried out an attempt of this request. The loop that repeats the request sets it. */
  mayHaveHappened = false;

  constructor(message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** A mistake in the configuration, with its location. */
export interface ConfigurationIssue {
  /** Stable kebab-case identifier of the kind of mistake. */
  readonly code: string;
  readonly message: string;
  /** The input, flag or policy key at fault, if the mistake is not in a file. */
  readonly input?: string;
  /** The path as the user wrote it, with 1-based line and column, if the mistake is in a file. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The configuration cannot be run as it stands. Holds every mistake found, not only the first one. */
export class ConfigurationError extends GateError {
  readonly code = 'CONFIGURATION';
  readonly exitCode = 2;
  readonly issues: readonly ConfigurationIssue[];

  constructor(issues: readonly ConfigurationIssue[], options: { hint?: string; cause?: unknown } = {}) {
    super(issues.map(formatConfigurationIssue).join('\n'), options);
    this.issues = issues;
  }
}

/** Renders an issue the way compilers do, `file:line:column: message (code)`, so that editors link to the location. */
export function formatConfigurationIssue(issue: ConfigurationIssue): string {
  const location =
    issue.file === undefined
      ? issue.input
      : [issue.file, issue.line, issue.column].filter((part) => part !== undefined).join(':');
  return `${location === undefined ? '' : `${location}: `}${issue.message} (${issue.code})`;
}

/** The eval service answered with its error envelope, or with an error status alone. */
export class ServiceError extends GateError {
  readonly exitCode = 3;
  /** The envelope's code, such as `NOT_FOUND`; derived from the status if the body has no code. */
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** The wait that the service asked for, in milliseconds; undefined if it named none. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    fields: {
      code: string;
      status: number;
      details?: Readonly<Record<string, unknown>>;
      retryAfterMs?: number | undefined;
      hint?: string | undefined;
      cause?: unknown;
    },
  ) {
    super(message, fields);
    this.code = fields.code;
    this.status = fields.status;
    this.details = fields.details ?? {};
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** No usable HTTP response arrived: name resolution, connection or TLS failed, the connection was reset, or the time ran out. */
export class NetworkError extends GateError {
  readonly code = 'NETWORK';
  readonly exitCode = 3;
}

/** A peer answered, but not in the agreed shape. `path` leads to the first mismatch. */
export class ProtocolError extends GateError {
  readonly code = 'PROTOCOL';
  readonly exitCode = 3;
  readonly path: string | undefined;

  constructor(message: string, options: { path?: string; hint?: string; cause?: unknown } = {}) {
    super(message, options);
    this.path = options.path;
  }
}

/** GitHub's API refused a request, or sent an unusable response. */
export class GitHubError extends GateError {
  readonly code = 'GITHUB';
  readonly exitCode = 3;
  readonly status: number;
  /** The wait that GitHub asked for, in milliseconds, if a limit is exceeded; else undefined. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: { status: number; retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, fields);
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** The tunnel to this job could not be opened, or is lost for good. */
export class TunnelError extends GateError {
  readonly code = 'TUNNEL';
  /** 2 if the user has to provide another certificate or other credentials; else 3. */
  readonly exitCode: 2 | 3;
  /** The WebSocket close code that ended the tunnel; undefined if no connection was established. */
  readonly closeCode: number | undefined;

  constructor(
    message: string,
    options: {
      closeCode?: number | undefined;
      hint?: string | undefined;
      isConfiguration?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, options);
    this.exitCode = options.isConfiguration ? 2 : 3;
    this.closeCode = options.closeCode;
  }
}

/**
 * The reason why a model gave no answer:
 * - `refused`: the provider refuses the key, the model or the account, so that no further call of the run can succeed.
 * - `unavailable`: the provider gave no usable answer, retries included.
 * - `filtered`: the provider withheld the answer because of its content.
 * - `too-long`: the conversation is longer than the model accepts.
 * - `stale`: the call differs from the one that was recorded.
 * - `missing`: there is no recording of this call, and no model may be called.
 * - `over-budget`: the budget of the run is used up.
 */
export type ModelErrorKind = 'refused' | 'unavailable' | 'filtered' | 'too-long' | 'stale' | 'missing' | 'over-budget';

/** A model gave no answer. The server under test is never at fault, except for `too-long` after results of its tools. */
export class ModelError extends GateError {
  readonly code = 'MODEL';
  readonly exitCode = 3;
  readonly kind: ModelErrorKind;

  constructor(message: string, { kind, ...options }: { kind: ModelErrorKind; hint?: string; cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }

  /** True if every other call of the run would fail for the same reason. */
  get endsRun(): boolean {
    return this.kind === 'refused' || this.kind === 'over-budget';
  }
}

/** The MCP server under test did not start, did not answer in time, or has ended. Without it, there is no verdict. */
export class ServerStartError extends GateError {
  readonly code = 'SERVER_START';
  readonly exitCode = 3;
  /** The process's exit code; null while it runs, after a signal, or if the gate started no process. */
  readonly processExitCode: number | null;
  /** The last lines the process wrote to stderr, oldest first. */
  readonly stderrTail: readonly string[];
  /** The doctor's findings at the server's URL, on one line; null if the gate did not run the doctor. */
  readonly findings: string | null;
  /** True if no MCP server answered in time and nothing shows why. */
  readonly isUnexplained: boolean;

  constructor(
    message: string,
    fields: {
      processExitCode?: number | null;
      stderrTail?: readonly string[];
      isUnexplained?: boolean;
      findings?: string | null;
      hint?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, fields);
    this.processExitCode = fields.processExitCode ?? null;
    this.stderrTail = fields.stderrTail ?? [];
    this.findings = fields.findings ?? null;
    this.isUnexplained = fields.isUnexplained ?? false;
  }
}

/** This machine cannot isolate the server under test as the options require. */
export class SandboxError extends GateError {
  readonly code = 'SANDBOX';
  readonly exitCode = 3;

  constructor(message: string) {
    super(message, {
      hint: `Allow user namespaces on the runner (${linkPage('hardening.md')} says how), or choose another \`sandbox\`.`,
    });
  }
}

/** The time allowed for the gate, or for one part of it, ran out. */
export class DeadlineError extends GateError {
  readonly code = 'DEADLINE';
  readonly exitCode = 3;
}

/** The run used up the budget of the policy before it was over. */
export class BudgetError extends GateError {
  readonly code = 'BUDGET';
  readonly exitCode = 3;
}

/** An iteration failed, and the gate was to stop at the first failure. */
export class FirstFailureError extends GateError {
  readonly code = 'FIRST_FAILURE';
  readonly exitCode = 3;
}

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

/** The caller, or a signal to the process, asked to stop. */
export class CancelledError extends GateError {
  readonly code = 'CANCELLED';
  /** The exit code with which a shell reports a signal: 128 plus its number. */
  readonly exitCode: 129 | 130 | 131 | 143;

  constructor(message = 'Cancelled.', options: { signal?: keyof typeof signalExitCodes; cause?: unknown } = {}) {
    super(message, options);
    this.exitCode = signalExitCodes[options.signal ?? 'SIGINT'];
  }
}

/** Bounds the chain of causes: more of them add nothing, and a circular chain would never end. */
const longestCauseChain = 8;

/** Describes anything that was thrown, with its causes, even if it is no Error. Never throws. */
export function describeError(error: unknown): string {
  try {
    return describeChain(error, longestCauseChain);
  } catch {
    // Anything may be thrown, and reading its members may throw, too.
    return 'something without a description';
  }
}

/** Reads the code that Node gives system errors, such as `ENOENT`; null if there is none. */
export function readErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function describeChain(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return String(error);
  if (depth === 0) return '';
  const cause = error.cause === undefined ? '' : describeChain(error.cause, depth - 1);
  const message = error.message === '' ? describeSilent(error, depth - 1) : error.message;
  return cause === '' || message.includes(cause) ? message : `${message.replace(/\.$/, '')}: ${cause}`;
}

/** Node reports a host that answers at none of its addresses as an AggregateError with an empty message. */
function describeSilent(error: Error, depth: number): string {
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  return parts.length === 0 ? error.name : parts.map((part) => describeChain(part, depth)).join('; ');
}
