import type { ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Secret } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import type { ProxySettings } from '../http/proxy.ts';
import type { ServerAccess } from '../mcp/access.ts';
import type { OAuthClient } from '../mcp/client-credentials.ts';
import type { ProtocolEra } from '../mcp/protocol.ts';
import type { Sourced } from '../model/source.ts';
import type { ProcessWitness } from '../model/process-end.ts';
import type { ProtocolChoice } from '../model/protocol.ts';
import type { ServerReport } from '../model/report.ts';
import type { AccessRefusal } from './access-refusal.ts';
import type { DescendantLog } from './kill-orphans.ts';
import type { OutputTail } from './output-tail.ts';
import type { Sandbox, SandboxOptions } from './sandbox/open.ts';
import type { SideDirectories } from './side-directories.ts';
import type { Watchdog } from './watchdog.ts';

/** The revision that the server must speak, and the option or `file:line` that asks for it. */
export type WantedProtocol = Sourced<ProtocolChoice>;

export interface ServerOptions {
  /** One string, split into words as a POSIX shell would, and run without one. */
  command: string | null;
  /** Alone: a server that the gate did not start. With a command: where that command serves HTTP. */
  url: string | null;
  /** Whether it is known to speak HTTP+SSE; else it is found out. */
  isSse?: boolean;
  cwd: string;
  /** Added to the allow-listed base environment. */
  env: Record<string, string>;
  readyTimeoutMs: number;
  /** What lets requests to `url` in; none unless given. */
  access?: ServerAccess | null | undefined;
  protocol: WantedProtocol;
  /** `iteration`: every session has a process of its own; `run`: sessions use one process in turns. */
  isolation: 'iteration' | 'run';
  /** What to expect until another plan is set. */
  sessions: SessionPlan;
  /** Sessions that may be open at the same time; 32 unless given. */
  maxSessions?: number;
  /**
   * Whether the program that runs the evals asks the witness how calls ended. Then the end of a shared process is no loss of the
   * server: it is started again.
   */
  isWitnessed: boolean;
  /** Marks every process in its environment; made up when absent. */
  sessionMarker?: string;
  /**
   * Whether its port must be closed before its command starts, and be held by its processes alone. For a server that code of another one
   * could imitate.
   */
  ownsPort?: boolean;
  /** What its processes may see and change; everything that this process may where it is absent. */
  sandbox?: SandboxOptions;
  /** Where its programs keep files, for a server that is compared with another one; null for the job's own directories. */
  side?: SideDirectories | null;
}

/** What requests to a server carry. */
export interface AccessOptions {
  /** By name. */
  headers: ReadonlyMap<string, Secret>;
  /** Null where no token is requested. */
  oauth: OAuthClient | null;
  /** The proxies that lead to the authorization server. */
  proxy: ProxySettings | undefined;
}

/** Which sessions are going to be opened, for servers that get a process for each. */
export interface SessionPlan {
  /** How many, so that no process is started ahead for none; null where that is not known. */
  count: number | null;
  /** Processes started ahead of the sessions that will need them. */
  warmProcesses: number;
  /** Whether a process may only start once the one before it has ended. */
  isExclusive: boolean;
}

export interface ServerContext {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  environment: NodeJS.ProcessEnv;
}

/** A server under test that answers. Disposing of it stops every process that was started for it. */
export interface RunningServer extends AsyncDisposable {
  /** What an MCP client connects to. */
  readonly url: string;
  /** Parts of `url` that must not be shown. */
  readonly secrets: readonly Secret[];
  readonly protocol: ProtocolEra;
  readonly report: ServerReport;
  /** Replaces the plan of sessions. Does nothing where sessions get no process of their own. */
  readonly planSessions: (plan: SessionPlan) => void;
  /** The marker by which `stopMarkedProcesses` finds processes; null where nothing was started. */
  readonly sessionMarker: string | null;
  /** The last lines the server wrote, oldest first; 50 unless asked for another number. */
  stderrTail(maxLines?: number): string[];
  /**
   * Resolves when the server serves no more, or when the end of a process leaves calls open that cannot be attributed. Never
   * rejects, and never resolves while we stop it.
   */
  readonly lost: Promise<ServerStartError>;
  /** Null where the server was started elsewhere. */
  readonly witness: ProcessWitness | null;
  /** Says that another process answers at the port of the server; null where none is known to, and where `ownsPort` is not set. */
  readonly findForeignOwner: () => string | null;
  /** What the doctor finds at the server now, on one line, within seconds; null where the signal aborts first. */
  diagnose(signal: AbortSignal): Promise<string | null>;
  /** Says which header or grant the server misses that answered 401 or 403, and what to do, in a few sentences. */
  explainRefusal(refusal: Omit<AccessRefusal, 'message'>, signal: AbortSignal): Promise<string>;
}

/** What starting a command needs, whatever it speaks. */
export interface StartContext extends ServerContext {
  command: string;
  words: readonly string[];
  cwd: string;
  env: Record<string, string>;
  tail: OutputTail;
  watchdog: Watchdog;
  readyTimeoutMs: number;
  /** Null where the server is started without one. */
  sandbox: Sandbox | null;
  /** Null where the sandbox ends what the server starts. */
  descendants: DescendantLog | null;
}

/** What both ways of reaching a server come to. */
export interface ReachedServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string | null;
  readonly protocol: ProtocolEra;
  readonly report: Omit<ServerReport, 'sandbox'>;
  readonly planSessions: (plan: SessionPlan) => void;
  readonly lost: Promise<ServerStartError>;
  readonly witness: ProcessWitness | null;
  readonly findForeignOwner?: () => string | null;
}
