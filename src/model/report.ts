import type { Comparison, Counts } from './comparison.ts';
import type { ConcurrencyReport } from './concurrency.ts';
import type { Disposition } from './disposition.ts';
import type { Trend } from './history.ts';
import type { FlakyEffect, QuarantineEntry, TrialCase } from './policy.ts';
import type { ToolCall } from './run.ts';
import type { Verdict, VerdictOutcome } from './verdict.ts';

/** Raised when a field is renamed or changes meaning; new fields alone do not raise it. */
export const reportSchemaVersion = '1';

/**
 * Everything known at the end of a gate: one immutable, JSON-serialisable value, written as `report.json` and the only
 * input of every renderer. Texts are as they came; escaping and redaction belong to the sinks.
 */
export interface Report {
  schemaVersion: typeof reportSchemaVersion;
  generator: { name: string; version: string };
  startedAt: string;
  durationMs: number;
  /** What was tested; null where neither part is known. */
  revision: Revision | null;
  /** Null where the gate ran all there was to run. */
  shard: ShardReport | null;
  verdict: Verdict;
  /** Whether the verdict stops the job; a policy can let one go on that is not `passed`. */
  stopsJob: boolean;
  totals: Totals;
  /** How the server under test was reached; null where no server was started or named. */
  server: ServerReport | null;
  suites: SuiteReport[];
  /** Worst first within each suite; the suites in the order they ran. */
  cases: CaseReport[];
  /** Against an earlier gate; null where no baseline was given, or none was found. */
  comparison: Comparison | null;
  /** The gates before this one; null where no history is kept. */
  trend: Trend | null;
  /** The run of the first suite that has one; every suite carries its own in `suites[].run`. */
  run: RunReport | null;
  /** What a reader should know in addition to the verdict, one sentence each, such as a policy that this change alters. */
  notes: string[];
}

export interface Revision {
  commit: string | null;
  /** The branch, or `PR 12`. */
  branch: string | null;
}

/** Which part of the cases was run, where several jobs share them. */
export interface ShardReport {
  /** From 1 to `total`. */
  index: number;
  total: number;
  /** Of all cases, their definitions and their shards: equal where the jobs agree on them. */
  digest: string;
}

export interface Totals {
  cases: number;
  /** Iterations read that carry a result: passed + failed. */
  iterations: number;
  passed: number;
  failed: number;
  /** Fraction 0..1; null where no iteration was scored. */
  passRate: number | null;
}

export interface ServerReport {
  /** `stdio` through the bridge, or `http`. */
  transport: 'stdio' | 'http';
  /** Name and version that the server gave in its handshake; null where it gave none. */
  name: string | null;
  version: string | null;
  /** The oldest revision of MCP that the run spoke; where that is not known, what the server negotiated when it was started. */
  protocolVersion: string | null;
  /** Every revision that sessions of the run spoke, oldest first; empty where none was opened or a hosted service opened them. */
  protocolVersions: string[];
  /** What an iteration shares with the one before it. */
  isolation: 'process per iteration' | 'session per iteration' | 'one process for the run' | 'stateless';
  /** How its processes were kept from the gate; null where the gate started none. */
  sandbox: SandboxReport | null;
}

/** What the machine enforced while the server ran. */
export interface SandboxReport {
  /**
   * `isolated`: the server saw only its own processes, which all ended with it, and could not write to what decides the verdict.
   * `confined`: it could write only to a temporary directory and the paths of `sandbox-write`, too.
   */
  level: 'none' | 'isolated' | 'confined';
  /** `loopback`: the server had an interface of its own, on which nothing else listens. */
  network: 'shared' | 'loopback';
  /** Which tool made the sandbox, or why there is none; the rest of a sentence. */
  why: string;
}

export interface SuiteReport {
  id: string;
  name: string;
  file: string | null;
  /** Fraction 0..1, and where it was asked for: `--min-pass-rate`, `evals/x.evals.yaml:4` or `default`. */
  minimumPassRate: number;
  minimumPassRateSource: string;
  verdict: Verdict;
  totals: Totals;
  run: RunReport | null;
  /** How often the tunnel to the server broke off during the run and may have cut off calls of it. */
  tunnelBreaks: number;
  /** The requirements of the suite and their results; the suite's own minimum pass rate first. */
  demands: DemandReport[];
  /** The further rounds, in which only what had failed was run again. */
  retries: RetryRound[];
  /** Over its cases that count and have several iterations; null where there is none, or nothing was established. */
  repeats: SuiteRepeats | null;
  /**
   * How many iterations were asked for and how many ran, where the run was stopped because its verdict was settled. The rate is
   * of those that ran, which depends on what they came to, and is biased. Null where the run went on to its end.
   */
  stoppedEarly: { planned: number; ran: number } | null;
  /** How many of its iterations ran at the same time, and why; null where a hosted service decided that, or nothing ran. */
  concurrency: ConcurrencyReport | null;
}

/** One more run of the cases of a suite that had failed in every round before. */
export interface RetryRound {
  /** From 1: the first run is no retry. */
  round: number;
  /** How many cases were run again. */
  cases: number;
  /** Null where it could not be started. */
  run: RunReport | null;
  /** Why it could not be completed, one sentence; what it found then counts for nothing. Null where it was. */
  shortfall: string | null;
}

/** How likely it is that at least one of `k` iterations passes, and that all of them do; fractions 0..1. */
export interface RepeatRates {
  k: number;
  passAtK: number;
  passHatK: number;
}

/** The mean over cases. `k` is the smallest number of iterations that any of them has. */
export interface SuiteRepeats extends RepeatRates {
  cases: number;
}

/** The outcome of a case over all rounds. `flaky`: it failed at first, and passed in full when it was run again. */
export type CaseClass = 'passed' | 'flaky' | 'failed';

/** One demand of the policy, where it was made, and whether it was met. */
export interface DemandReport {
  kind: 'minimum-pass-rate' | 'required-case' | 'budget' | 'quarantine';
  /** What it is about: `suite`, a tag, a case or a budget. */
  scope: 'suite' | 'tag' | 'case' | 'budget';
  /** The tag, the title of the case, or the budget's key; null for the suite. */
  subject: string | null;
  /** What is demanded, in a few words: `at least 90% pass`. */
  demand: string;
  /** `min-pass-rate`, `evals/x.evals.yaml:4` or `default`. */
  source: string;
  /** `unknown`: the results do not tell. */
  state: 'met' | 'not-met' | 'unknown';
  /** Whether the verdict depends on it; else the reports show it as a warning only. */
  isDecisive: boolean;
  /** What was found, one sentence. */
  finding: string;
}

export interface RunReport {
  id: string;
  suiteId: string;
  status: string;
  /** The page on which the service shows it; null where there is none. */
  url: string | null;
}

export interface CaseReport {
  suiteId: string;
  id: string;
  title: string;
  tags: string[];
  required: boolean;
  /** `passed`: every iteration of the first round did. `inconclusive`: none was scored, or some are missing and none failed. */
  outcome: VerdictOutcome;
  /** How the case counts for the verdict; renderers go by it. */
  disposition: Disposition;
  passed: number;
  /** Scored iterations: passed + failed. */
  total: number;
  /** Iterations that the plan asked for; more than `total` where some are missing or ended without a result. */
  planned: number;
  location: { file: string; line: number } | null;
  /** Of what the case does, whatever it is called; two results under different hashes cannot be compared. Null where unknown. */
  definitionHash: string | null;
  /** Median over the scored iterations, in milliseconds; null where none reported a duration. */
  durationMs: number | null;
  /** The iterations that did not pass, at most `maxFailuresPerCase`, and `maxFailuresPerSuite` in all; `failed` counts them all. */
  failed: number;
  failures: IterationFailure[];
  /** How far it is from being trusted, and counted; null where it is, or the gate trusts every case. */
  trial: Omit<TrialCase, 'case'> | null;
  /** Why it does not count for the time being; null where it does. */
  quarantine: Omit<QuarantineEntry, 'case'> | null;
  /** Over all rounds; null where nothing was established. */
  classification: CaseClass | null;
  /** What the rounds after the first made of it, in their order; the counts above are those of the first. */
  retries: Counts[];
  /** How it counts, and where that was said; null where it is not flaky. */
  flaky: { effect: FlakyEffect; source: string } | null;
  /** From the iterations of the first round; empty where fewer than two are scored. */
  repeats: RepeatRates[];
}

/** Enough to see what broke; a case that fails a thousand times fails for few reasons. */
export const maxFailuresPerCase = 5;

/** So that a run in which everything fails costs no more to keep and to show than what people read. */
export const maxFailuresPerSuite = 1000;

export interface IterationFailure {
  iterationId: string;
  iterationNumber: number | null;
  result: string;
  /** One sentence each, most telling first. Never empty. */
  reasons: string[];
  /** The step that failed, where one did. */
  step: { id: string; index: number; kind: string } | null;
  durationMs: number | null;
  expectedToolCalls: ToolCall[];
  actualToolCalls: ToolCall[];
}
