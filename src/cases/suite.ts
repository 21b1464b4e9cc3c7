import type { ChecksEnvelope, DecoyTool, MatchOptions, ToolPolicy } from './case.ts';
import type { ClientOffer, UsedAnswer } from '../model/client-abilities.ts';
import type { Step } from './step.ts';
import type { Check } from '../checks/assertion.ts';
import type { JudgeCheck } from '../checks/registry.ts';
import type { ConcurrencySetting } from '../model/concurrency.ts';
import type { Sourced } from '../model/source.ts';
import type { PolicyLayer } from '../model/policy.ts';
import type { ProtocolRevision, ProtocolSetting } from '../model/protocol.ts';

/** A location in a file of the user: the path as annotations need it (relative to the workspace), 1-based. */
export interface SourceLocation {
  file: string;
  line: number;
  column: number;
}

/** An evals file as written: positions kept, defaults filled in, durations in milliseconds, rates as fractions. */
export interface Suite {
  /** Stable `[A-Za-z0-9_-]{1,128}`; a slug of the name unless the file sets it. */
  id: string;
  name: string;
  location: SourceLocation;
  /** `provider/name`, for prompt steps of cases that name none; the first where the file names several. */
  model: string | null;
  /** What does not count as a change of a tool's result in a recording: JSON Pointers and regular expressions. */
  ignoredInRecordings: string[];
  /** The revision of MCP that its cases are run in; null where the file does not say. */
  protocol: Sourced<ProtocolSetting> | null;
  /** How many iterations run at the same time, and where the file says so, such as `evals/x.evals.yaml:4`. */
  concurrency: { setting: ConcurrencySetting; source: string } | null;
  /** Whether the file says that iterations share no state, whatever tools they call. */
  isIndependent: boolean;
  match: MatchOptions;
  /** Asserted at the end of every iteration of every case that does not replace them. */
  checks: Check[];
  /** The requirements of the file. */
  policy: PolicyLayer;
  cases: SuiteCase[];
}

export interface SuiteCase {
  /** Unique within the suite, `[A-Za-z0-9_-]{1,128}`. */
  id: string;
  title: string;
  location: SourceLocation;
  tags: string[];
  /** Whether this case must pass on its own, whatever the suite's pass rate. */
  isRequired: boolean;
  isNegative: boolean;
  /** Iterations, 1..100; of a range, the smallest number. */
  runs: number;
  /** Where a range is given: the largest number. */
  maxRuns?: number;
  /** Whether it gives the same result every time, so that it runs once. */
  isDeterministic?: true;
  /** Per iteration, in milliseconds. */
  timeoutMs: number;
  /** Where the file says so; null for the default. */
  timeoutLocation: SourceLocation | null;
  /** `provider/name`; of a case with prompts the model that they ask, null where neither case nor suite names one. */
  model: string | null;
  /** The revision of MCP that this case alone is run in, of a suite that is run in both; null where the suite has one. */
  protocol: ProtocolRevision | null;
  /** The cases that this one is a part of, the nearest first: the same in both revisions, with all models, and with all rows. */
  variantOf: ReadonlyArray<{ id: string; title: string }>;
  /** The name of its recordings: its id without its model, since each model has a file of its own. */
  recordingId: string;
  /** What the engine fills in; null where the case has no `{{` and captures nothing. */
  placeholders: CasePlaceholders | null;
  /** What the model is given; layered already. */
  modelSettings: ModelSettings;
  /** What its client offers the server; null for nothing. */
  client: LocatedOffer | null;
  failOnToolError: boolean;
  expectedOutput: string | null;
  scenario: string | null;
  /** Layered already: defaults, then the suite's, then the case's, field by field. */
  match: MatchOptions;
  checks: ChecksEnvelope;
  steps: LocatedStep[];
  /** Steps before those, the suite's first; and after them, the suite's last, whatever happened. */
  setup: LocatedStep[];
  teardown: LocatedStep[];
  /** Those of its steps and of its checks, the inherited ones among them. */
  judges: LocatedJudge[];
}

/** The placeholders of a case whose values are not in the file. */
export interface CasePlaceholders {
  /** The first of them, or the first capture; null where the case only writes the text `{{` itself. */
  first: { text: string; location: SourceLocation } | null;
  /** Variables of the job, each time that one is used. */
  variables: Array<{ name: string; location: SourceLocation }>;
}

/** A check that a model judges, where it is written. */
export interface LocatedJudge {
  judge: JudgeCheck;
  location: SourceLocation;
}

/** What a client offers, layered already, and where the file says so. */
export interface LocatedOffer {
  offer: ClientOffer;
  answers: LocatedAnswer[];
  location: SourceLocation;
}

/** Whether a case asks a model: in its prompts, or for what its server wants sampled. */
export function asksModel({ steps, client }: Pick<SuiteCase, 'steps' | 'client'>): boolean {
  return client?.offer.sampling === 'model' || steps.some(({ step }) => step.kind === 'prompt');
}

/** One answer of a script; `sampling: model` is one. */
export interface LocatedAnswer extends UsedAnswer {
  /** Whether the case itself says so, and not its suite. */
  isOwn: boolean;
  location: SourceLocation;
}

/** What a model is given in addition to the prompts of a case; null leaves it to the provider. */
export interface ModelSettings {
  system: string | null;
  temperature: number | null;
  /** Calls of the model per prompt; null for the default. */
  maxSteps: number | null;
  /** Of each result that the model gets; null for no limit. */
  maxResultTokens: number | null;
  toolPolicy: ToolPolicy | null;
  decoys: DecoyTool[];
  /** The file that the decoys stand in, relative to the evals file; null where they stand in that itself. */
  decoyFile: { path: string; location: SourceLocation } | null;
  /** Where the first of these settings stands that the API has no field for; null where none does. */
  ownSetting: { key: string; location: SourceLocation } | null;
}

export interface LocatedStep {
  step: Step;
  location: SourceLocation;
}

/** All steps of a case, in the order in which they run. */
export function listAllSteps({ setup, steps, teardown }: SuiteCase): LocatedStep[] {
  return [...setup, ...steps, ...teardown];
}
