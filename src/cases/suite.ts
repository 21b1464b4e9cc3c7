import type {
  ChecksEnvelope,
  DecoyTool,
  HostProgramSettings,
  MatchOptions,
  ModelParameters,
  ToolPolicy,
} from './case.ts';
import type { ClientOffer, UsedAnswer } from '../model/client-abilities.ts';
import type { Step } from './step.ts';
import type { Check } from '../checks/assertion.ts';
import type { OwnCheckUse } from '../checks/own-check.ts';
import type { JudgeCheck } from '../checks/registry.ts';
import type { ConcurrencySetting } from '../model/concurrency.ts';
import type { Sourced } from '../model/source.ts';
import type { PolicyLayer } from '../model/policy.ts';
import type { ProtocolRevision, ProtocolSetting } from '../model/protocol.ts';

/** A location in a file of the user, counted from 1. The path is relative to the workspace, as annotations need it. */
export interface SourceLocation {
  file: string;
  line: number;
  column: number;
}

/** A parsed evals file: with source locations, defaults filled in, durations in milliseconds, and rates as fractions. */
export interface Suite {
  /** A stable id, `[A-Za-z0-9_-]{1,128}`. Derived from the name unless the file sets it. */
  id: string;
  name: string;
  location: SourceLocation;
  /** `provider/name`, for cases with prompts that name no model; the first one if the file names several. Null if it names none. */
  model: string | null;
  recordings: {
    /** The parts of tool results that may differ from a recording: JSON Pointers and regular expressions. */
    ignore: string[];
    /** `uncalled` also uses a recording where only tools differ that its case never calls. */
    reuse: 'uncalled' | null;
  };
  /** The revision of MCP for the cases of the suite; null if the file does not set it. */
  protocol: Sourced<ProtocolSetting> | null;
  /** The number of iterations that run at the same time, and the location of that setting, such as `evals/x.evals.yaml:4`. */
  concurrency: { setting: ConcurrencySetting; source: string } | null;
  /** True if the file declares that iterations share no state, whatever tools they call. */
  isIndependent: boolean;
  /** The directory that each iteration gets a copy of, relative to the file, or `empty`; null if the file names none. */
  workspace: { path: string; location: SourceLocation } | null;
  /** The recorded answers of the APIs that the server uses; null if it may reach the network. */
  upstream: UpstreamKey | null;
  match: MatchOptions;
  /** Run at the end of every iteration, except in cases that replace them. */
  checks: Check[];
  /** The requirements that the file sets. */
  policy: PolicyLayer;
  cases: SuiteCase[];
  /** The uses of checks of one's own. Absent if the suite can have none. */
  ownChecks?: readonly LocatedOwnCheck[];
  /** The files that export checks of one's own, relative to the evals file. Absent if it names none. */
  checkModules?: ReadonlyArray<{ path: string; location: SourceLocation }>;
}

/** A use of a check of one's own, with its location in the file. */
export interface LocatedOwnCheck {
  use: OwnCheckUse;
  location: SourceLocation;
  /** Locates an argument by its JSON Pointer. */
  locate(this: void, pointer: string): SourceLocation;
}

/** Where recorded answers of APIs are, and how requests are compared with the recorded ones. */
export interface UpstreamKey {
  /** The directory of the recordings, relative to the evals file. */
  path: string;
  /** Request headers that are compared, in lower case. */
  headers: readonly string[];
  ignore: { query: readonly string[]; body: readonly string[] };
  /** Further names of headers, parameters and members that hold secrets. */
  secrets: readonly string[];
  /** Hosts that the server cannot reach, in lower case. */
  block: readonly string[];
  location: SourceLocation;
}

/** A case as its file has it, checked. */
export interface SuiteCase {
  /** Unique within the suite, `[A-Za-z0-9_-]{1,128}`. */
  id: string;
  title: string;
  location: SourceLocation;
  /** The lines of the file that define it, without their common indentation. */
  text: string;
  tags: string[];
  /** True if this case must pass on its own, whatever the suite's pass rate. */
  isRequired: boolean;
  isNegative: boolean;
  /** The number of iterations, 1..100; the smallest one if the file gives a range. */
  runs: number;
  /** The largest number of iterations, if the file gives a range. */
  maxRuns?: number;
  /** True if the case gives the same result every time, so that it runs once. */
  isDeterministic?: true;
  /** The time limit of one iteration, in milliseconds. */
  timeoutMs: number;
  /** The location of the time limit in the file; null for the default. */
  timeoutLocation: SourceLocation | null;
  /** `provider/name` of the model that the prompts of the case ask; null if neither the case nor the suite names one. */
  model: string | null;
  /** The revision of MCP for this case, if its suite runs in both revisions; else null. */
  protocol: ProtocolRevision | null;
  /** The cases that this case is a variant of, nearest first. A case is expanded by revision, by model and by row. */
  variantOf: ReadonlyArray<{ id: string; title: string }>;
  /** The name of its recordings: its id without the model, because each model has its own file. */
  recordingId: string;
  /** The placeholders that the engine replaces; null if the case has no `{{` and captures nothing. */
  placeholders: CasePlaceholders | null;
  /** The settings of the model. Case and suite are already merged. */
  modelSettings: ModelSettings;
  /** The abilities that the client offers the server; null for none. */
  client: LocatedOffer | null;
  failOnToolError: boolean;
  expectedOutput: string | null;
  scenario: string | null;
  /** Already merged field by field: defaults, then the suite, then the case. */
  match: MatchOptions;
  checks: ChecksEnvelope;
  steps: LocatedStep[];
  /** `setup` runs before `steps`, the suite's first. `teardown` runs after them, the suite's last, whatever the outcome. */
  setup: LocatedStep[];
  teardown: LocatedStep[];
  /** The judges in its steps and checks, including inherited checks. */
  judges: LocatedJudge[];
}

/** The placeholders of a case that get their values only when it runs. */
export interface CasePlaceholders {
  /** The first placeholder or capture; null if the case only contains the escaped text `{{`. */
  first: { text: string; location: SourceLocation } | null;
  /** Variables of the job, one entry for each use. */
  variables: Array<{ name: string; location: SourceLocation }>;
  /** The first use of `{{workspace}}`; null if there is none. */
  workspace: SourceLocation | null;
}

/** A check by a judge, with its location in the file. */
export interface LocatedJudge {
  judge: JudgeCheck;
  location: SourceLocation;
}

/** The abilities that a client offers, with case and suite already merged, and their location in the file. */
export interface LocatedOffer {
  offer: ClientOffer;
  answers: LocatedAnswer[];
  location: SourceLocation;
}

/** Checks if a case calls a model: for its prompts, or because the server requests sampling. */
export function asksModel({ steps, client }: Pick<SuiteCase, 'steps' | 'client'>): boolean {
  return client?.offer.sampling === 'model' || steps.some(({ step }) => step.kind === 'prompt');
}

/** A scripted answer with its location. `sampling: model` counts as an answer. */
export interface LocatedAnswer extends UsedAnswer {
  /** True if the case defines the answer; false if it comes from the suite. */
  isOwn: boolean;
  location: SourceLocation;
}

/** Settings for the model in addition to the prompts of a case. Null means that the provider decides. */
export interface ModelSettings {
  /** The ids of hosts; empty for the default. A case of a plan has at most one: `expandHosts` makes a case for each. */
  hosts: readonly string[];
  /** Set if the program of the only host holds the conversation. */
  hostProgram: (HostProgramSettings & { version: string }) | null;
  system: string | null;
  temperature: number | null;
  /** The largest number of model calls per prompt; null for the default. */
  maxSteps: number | null;
  /** The largest size of each result that the model gets, in estimated tokens; null for no limit. */
  maxResultTokens: number | null;
  /** Absent parameters are left to the provider. */
  parameters: ModelParameters;
  /** The time limit of one call of the model, in milliseconds; null for that of the gate. */
  timeoutMs: number | null;
  toolPolicy: ToolPolicy | null;
  decoys: DecoyTool[];
  /** The file that defines the decoys, relative to the evals file; null if the evals file itself defines them. */
  decoyFile: { path: string; location: SourceLocation } | null;
  /** The first of these settings for which the API has no field, with its location; null if there is none. */
  ownSetting: { key: string; location: SourceLocation } | null;
}

export interface LocatedStep {
  step: Step;
  location: SourceLocation;
}

/** Lists all steps of a case in the order in which they run. */
export function listAllSteps({ setup, steps, teardown }: SuiteCase): LocatedStep[] {
  return [...setup, ...steps, ...teardown];
}
