import type { Feature } from './features/feature.ts';
import type { JsonObject } from '../base/json.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
import type { Ability, ElicitationAnswer, SamplingAnswer } from '../model/client-abilities.ts';

/** The answer to a request. Paths of the world are replaced by placeholders such as `{{workspace}}`. */
export type Outcome =
  | { kind: 'result'; isError: boolean; result: JsonObject }
  /** A JSON-RPC error. */
  | { kind: 'error'; code: number; message: string }
  /** The process ended before it answered. */
  | { kind: 'ended'; exitCode: number | null; signal: string | null; lastLines: readonly string[] }
  /** No answer came in time. `isAlive`: the server answered a ping, or reported progress, meanwhile. */
  | { kind: 'silent'; isAlive: boolean }
  /** The answer is no valid result. */
  | { kind: 'malformed'; message: string };

/** The files of the workspace that a request changed, relative to it and sorted. */
export interface FileEffects {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
}

/** A request of the server to its client, with the answer that it got. */
export type AskedRequest =
  | { ability: 'elicitation'; message: string; answer: ElicitationAnswer }
  | { ability: 'sampling'; message: string; answer: SamplingAnswer }
  | { ability: 'roots' };

/** The observations of one request. */
export interface Observation {
  outcome: Outcome;
  files: FileEffects;
  /** The first line on stdout that is no message, if it came with this request; null if there is none. */
  noise: string | null;
  /** The requests of the server to its client before it answered; absent without any. */
  asked?: readonly AskedRequest[];
}

export interface ObservedStep {
  request: ExploredRequest;
  /** True if the arguments fit the input schema; null for a request without one, or with a schema that cannot be used. */
  isValid: boolean | null;
  observation: Observation;
}

export type PhaseName = 'examples' | 'coverage' | 'chains' | 'errors';

/** Requests that begin in a new world, with the observations. */
export interface SessionRun {
  phase: PhaseName;
  steps: readonly ObservedStep[];
}

/** A session of the corpus, with the stable parts of its observations. */
export interface ExploredSession extends SessionRun {
  /** A number from 1, in the order of the corpus. */
  id: number;
  /** The features that no session before it shows. */
  adds: readonly Feature[];
  /** The JSON Pointers of values that differ between replays, or that read as a time, a version or the like; `/0/…` is in the first step. */
  volatile: readonly string[];
  /** True if the session works in this workspace only. */
  needsFiles: boolean;
}

/** A request whose outcome differs between replays. It is not part of the corpus. */
export interface FlakySession {
  requests: readonly ExploredRequest[];
  reason: string;
}

/** How bad a finding is, worst first. */
export type FindingSeverity = 'error' | 'warning' | 'note';

/** A mistake of the server, with the session that shows it. */
export interface Finding {
  kind: string;
  severity: FindingSeverity;
  /** The tool at fault; null if the whole server is. */
  tool: string | null;
  message: string;
  /** The shortest known session that shows it. */
  session: readonly ExploredRequest[];
  /** The reason for which the policy accepts it; absent if it does not. */
  waived?: string;
}

export interface Counted {
  reached: number;
  of: number;
}

/** How much of a tool the sessions reach. */
export interface ToolCoverage {
  tool: string;
  /** True if a call was answered without an error. */
  isAnswered: boolean;
  /** The parameters that an answered call had, the others, and which of both are required. */
  parameters: { reached: readonly string[]; missed: readonly string[]; required: readonly string[] };
  /** The kinds of wrong calls that the tool refused, and the others. */
  errorPaths: { reached: readonly string[]; missed: readonly string[] };
}

/** A tool or a part that was not explored, with the reason. */
export interface Unexplored {
  subject: string;
  reason: string;
}

/** Files that are generated for some servers only: a SQLite database, a PDF, a workbook, a git repository. */
export const addedFiles = ['database', 'document', 'workbook', 'repository'] as const;

export type AddedFiles = (typeof addedFiles)[number];

/** The result of exploring a server: pure data, the same for one seed and one server. */
export interface Exploration {
  version: 1;
  seed: number;
  server: { name: string | null; version: string | null; protocolVersion: string };
  sandbox: 'none' | 'isolated' | 'confined';
  /** True if the time limit ended the exploration. Another run may then give another result. */
  isCutByTime: boolean;
  requests: { sent: number; budget: number };
  /** What the generated files have for this server in addition; absent for nothing. */
  addedFiles?: readonly AddedFiles[];
  coverage: { tools: Counted; parameters: Counted; errorPaths: Counted; byTool: readonly ToolCoverage[] };
  sessions: readonly ExploredSession[];
  /** The tools whose calls were shown, or declared, to change nothing. */
  harmless: readonly string[];
  /** The tools that the server lists only for a client that offers these abilities; absent without any. */
  hidden?: Readonly<Record<string, readonly Ability[]>>;
  flaky: readonly FlakySession[];
  findings: readonly Finding[];
  unexplored: readonly Unexplored[];
}

/** Checks if a request changed no file of the workspace. */
export function hasNoEffects({ added, changed, removed }: FileEffects): boolean {
  return added.length + changed.length + removed.length === 0;
}
