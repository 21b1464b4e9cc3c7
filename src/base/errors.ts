/**
 * Thrown means "could not judge"; a gate that fails is a value, never an error. Callers match on `code`, which is
 * stable; `hint` says what to do next; `exitCode` follows from the class (2 the user can mend it in the
 * configuration, 3 nothing was established, 128 and the number of the signal that stopped the process).
 */
export abstract class GateError extends Error {
  abstract readonly code: string;
  abstract readonly exitCode: 2 | 3 | 129 | 130 | 131 | 143;
  /** What the reader should do next, or undefined where nothing sensible can be said. The loop that repeats a request adds to it. */
  hint: string | undefined;
  /** Of a request: whether any of its attempts may have been carried out. Set by the loop that repeats it. */
  mayHaveHappened = false;

  constructor(message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** One thing wrong with what the user wrote, with its location. */
export interface ConfigurationIssue {
  /** Stable kebab-case identifier of the kind of mistake. */
  readonly code: string;
  readonly message: string;
  /** The input, flag or policy key at fault, where it was not a file. */
  readonly input?: string;
  /** Path as the user wrote it, with 1-based line and column, where it was a file. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The configuration cannot be run as it stands. Carries every problem found, not just the first. */
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

/** The eval service answered with its error envelope, or with a status that stands for one. */
export class ServiceError extends GateError {
  readonly exitCode = 3;
  /** The envelope's code, such as `NOT_FOUND`; derived from the status where the body had none. */
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** How long the service asked to wait, in milliseconds, or undefined where it did not say. */
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

/** No usable HTTP answer arrived: name resolution, connection, TLS, a reset or a time-out. */
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

/** GitHub's API refused a request, or gave an answer that nothing can be made of. */
export class GitHubError extends GateError {
  readonly code = 'GITHUB';
  readonly exitCode = 3;
  readonly status: number;
  /** How long it asked to wait, in milliseconds, where a limit is exceeded; else undefined. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: { status: number; retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, fields);
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** The tunnel to this job could not be opened, or is gone for good. */
export class TunnelError extends GateError {
  readonly code = 'TUNNEL';
  /** 2 where it takes another certificate or other credentials, which is the user's to mend. */
  readonly exitCode: 2 | 3;
  /** The WebSocket close code that ended it, or undefined where no connection came about. */
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
 * Why a model gave no answer:
 * - `refused`: the provider refuses the key, the model or the account, so that no further call of the run can succeed.
 * - `unavailable`: the provider gave no usable answer, retries included.
 * - `filtered`: the provider withheld the answer because of its content.
 * - `stale`: the recording was made with something else than the call now says.
 * - `missing`: there is no recording of this call, and no model may be called.
 * - `over-budget`: the budget of the run is used up.
 */
export type ModelErrorKind = 'refused' | 'unavailable' | 'filtered' | 'too-long' | 'stale' | 'missing' | 'over-budget';

/** A model gave no answer. Never the fault of the server under test, but for `too-long` after results of its tools. */
export class ModelError extends GateError {
  readonly code = 'MODEL';
  readonly exitCode = 3;
  readonly kind: ModelErrorKind;

  constructor(message: string, { kind, ...options }: { kind: ModelErrorKind; hint?: string; cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }

  /** Whether no other call of the run could have an answer either. */
  get endsRun(): boolean {
    return this.kind === 'refused' || this.kind === 'over-budget';
  }
}

/** The MCP server under test did not start, did not answer in time, or is gone. No verdict can rest on it. */
export class ServerStartError extends GateError {
  readonly code = 'SERVER_START';
  readonly exitCode = 3;
  /** The process's exit code; null while it runs, after a signal, or where we started no process. */
  readonly processExitCode: number | null;
  /** The last lines the process wrote to stderr, oldest first. */
  readonly stderrTail: readonly string[];
  /** What the doctor found at the server's URL then, on one line; null where it was not asked. */
  readonly findings: string | null;
  /** Nothing has named the cause: no MCP server answered in time. */
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
      hint: 'Allow user namespaces on the runner (docs/hardening.md says how), or choose another `sandbox`.',
    });
  }
}

/** The time allowed for the gate, or for one part of it, ran out. */
export class DeadlineError extends GateError {
  readonly code = 'DEADLINE';
  readonly exitCode = 3;
}

/** What the policy allows to be spent is spent, and the run was not over. */
export class BudgetError extends GateError {
  readonly code = 'BUDGET';
  readonly exitCode = 3;
}

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

/** The caller, or a signal to the process, asked to stop. */
export class CancelledError extends GateError {
  readonly code = 'CANCELLED';
  /** As a shell reports a signal: 128 and its number. */
  readonly exitCode: 129 | 130 | 131 | 143;

  constructor(message = 'Cancelled.', options: { signal?: keyof typeof signalExitCodes; cause?: unknown } = {}) {
    super(message, options);
    this.exitCode = signalExitCodes[options.signal ?? 'SIGINT'];
  }
}

/** A chain of causes longer than this says nothing more, and one that bites its own tail would never end. */
const longestCauseChain = 8;

/** Returns the most telling text of anything thrown, causes included, without assuming it is an Error. Never throws. */
export function describeError(error: unknown): string {
  return describeChain(error, longestCauseChain);
}

/** Reads the code that Node gives errors of the system, such as `ENOENT`; null where there is none. */
export function readErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function describeChain(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return describeOther(error);
  if (depth === 0) return '';
  const cause = error.cause === undefined ? '' : describeChain(error.cause, depth - 1);
  const message = error.message === '' ? describeSilent(error, depth - 1) : error.message;
  return cause === '' || message.includes(cause) ? message : `${message.replace(/\.$/, '')}: ${cause}`;
}

/** Node reports a host of which no address answered as an AggregateError that says nothing itself. */
function describeSilent(error: Error, depth: number): string {
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  return parts.length === 0 ? error.name : parts.map((part) => describeChain(part, depth)).join('; ');
}

function describeOther(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'something without a description';
  }
}
