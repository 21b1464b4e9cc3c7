import type { BaseComparison } from '../model/base-comparison.ts';
import type { BehaviourReport } from '../model/behaviour.ts';
import type { Comparison } from '../model/comparison.ts';
import type { CoverageReport } from '../model/coverage-report.ts';
import {
  type RequirementReport,
  type ModelsReport,
  type Report,
  reportSchemaVersion,
  type Revision,
  type ServerReport,
  type ShardReport,
  type SuiteRepeats,
  type SuiteReport,
  type Totals,
  type Trend,
} from '../model/report.ts';
import { computeCost, priceJudges } from '../model/cost.ts';
import { decideDisposition } from '../model/disposition.ts';
import { computePassRate } from '../model/rate.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { CaseResults, ReportedResults, RunReport, SuiteResults } from '../model/results.ts';
import type { RoundsReport } from '../model/rounds.ts';
import type { Sourced } from '../model/source.ts';
import type { FlakyEffect, GatePolicy, QuarantineEntry, ProbationCase } from '../model/policy.ts';
import type { Run } from '../model/run.ts';
import type { HostsComparison } from '../model/hosts-comparison.ts';
import type { SurfaceReport } from '../model/surface-report.ts';
import { joinUsage } from '../model/usage.ts';
import type { Verdict, VerdictOutcome } from '../model/verdict.ts';

export interface ReportInput {
  /** ISO 8601. */
  startedAt: string;
  durationMs: number;
  generator: { name: string; version: string };
  server: ServerReport | null;
  otherServers?: readonly ServerReport[];
  /** The policy that the gate was judged by. */
  policy: GatePolicy;
  /** In the order in which they ran. */
  suites: readonly JudgedSuite[];
  verdict: Verdict;
  revision?: Revision | null;
  shard?: ShardReport | null;
  comparison?: Comparison | null;
  baseComparison?: BaseComparison | null;
  trend?: Trend | null;
  /** Undefined if it is not compared. */
  surface?: SurfaceReport | undefined;
  /** Undefined if the policy names no host. */
  hosts?: HostsComparison | undefined;
  /** Undefined if it is not compared. */
  behaviour?: BehaviourReport | undefined;
  /** Undefined if it is not measured. */
  coverage?: CoverageReport | undefined;
  /** Null if no model took part. */
  models?: ModelsReport | null;
  /** Notes for a reader in addition to the verdict. */
  notes?: readonly string[];
  /** The command that runs the evals again, without evals files and cases; null if unknown. */
  repeat?: string | null;
  /** The command line of the MCP Inspector for the server, without a method; null if unknown. */
  inspection?: string | null;
  /** True if the verdict stops the job; by default every verdict other than `passed`. */
  stopsJob?: boolean;
}

export interface JudgedSuite {
  results: SuiteResults;
  /** The runs that the results were joined from; by default one. */
  parts?: readonly SuiteResults[];
  verdict: Verdict;
  minimumPassRate: Sourced<number>;
  assessments?: readonly RequirementReport[];
  /** The quarantine entries of the cases that do not count. */
  quarantined?: ReadonlyArray<QuarantineEntry & { caseId: string }>;
  /** The cases that do not count yet. */
  probation?: readonly ProbationCase[];
  /** The counts of the cases that count; by default those of all cases. */
  counted?: { cases: number; passed: number; failed: number };
  /** The effect of flaky cases. */
  flaky?: Sourced<FlakyEffect>;
  repeats?: SuiteRepeats | null;
  rounds?: RoundsReport | undefined;
  /** The analysis of every case, in the order of the results. */
  analyses?: ReadonlyArray<Pick<CaseReport, 'classification' | 'repeats'>>;
}

/** Builds the report from results and verdicts, deeply frozen; in each suite, the worst cases come first. */
export function buildReport(input: ReportInput): Report {
  const { prices } = input.policy;
  const suites = input.suites.map((judged) => buildSuite(judged, prices));
  return deepFreeze({
    schemaVersion: reportSchemaVersion,
    generator: { ...input.generator },
    startedAt: input.startedAt,
    durationMs: input.durationMs,
    revision: input.revision == null ? null : { ...input.revision },
    shard: input.shard == null ? null : { ...input.shard },
    verdict: structuredClone(input.verdict),
    stopsJob: input.stopsJob ?? input.verdict.outcome !== 'passed',
    totals: addTotals(suites),
    server: input.server === null ? null : { ...input.server },
    otherServers: structuredClone([...(input.otherServers ?? [])]),
    suites,
    cases: input.suites.flatMap(({ results, verdict, quarantined, probation, analyses, flaky = defaultFlaky }) =>
      results.cases
        .map((testCase, index) =>
          buildCase(results.suiteId, testCase, {
            entry: quarantined?.find(({ caseId }) => caseId === testCase.id),
            probation: probation?.find((probation) => probation.case === testCase.id),
            analysis: analyses?.[index],
            flaky,
            prices,
            suiteOutcome: verdict.outcome,
          }),
        )
        .toSorted((a, b) => rankCase(a) - rankCase(b)),
    ),
    comparison: structuredClone(input.comparison ?? null),
    baseComparison: structuredClone(input.baseComparison ?? null),
    models: structuredClone(input.models ?? null),
    trend: structuredClone(input.trend ?? null),
    ...(input.surface !== undefined && { surface: structuredClone(input.surface) }),
    ...(input.hosts !== undefined && { hosts: structuredClone(input.hosts) }),
    ...(input.behaviour !== undefined && { behaviour: structuredClone(input.behaviour) }),
    ...(input.coverage !== undefined && { coverage: structuredClone(input.coverage) }),
    run: suites.find(({ run }) => run !== null)?.run ?? null,
    notes: [...(input.notes ?? [])],
    ...(input.repeat != null && { repeat: input.repeat }),
    ...(input.inspection != null && { inspection: input.inspection }),
    policy: structuredClone(input.policy),
    results: input.suites.flatMap(({ results, parts = [results] }) => parts.map(omitEvidence)),
  });
}

/** Removes the failures, which the list of cases has. */
function omitEvidence({ cases, ...results }: SuiteResults): ReportedResults {
  return structuredClone({ ...results, cases: cases.map(({ failures: _failures, ...testCase }) => testCase) });
}

const defaultFlaky: Sourced<FlakyEffect> = { value: 'fail', source: 'default' };

/** Counts the totals. Cases that do not count are listed, and add nothing to the rate. */
function countTotals({ results: { cases }, counted }: JudgedSuite): Totals {
  const { passed, failed } = counted ?? {
    passed: cases.reduce((total, testCase) => total + testCase.passed, 0),
    failed: cases.reduce((total, testCase) => total + testCase.failed, 0),
  };
  const iterations = passed + failed;
  const count = counted?.cases ?? cases.length;
  return { cases: count, iterations, passed, failed, passRate: computePassRate(passed, iterations) };
}

function countStopped({ cases }: SuiteResults): { planned: number; ran: number } {
  const planned = cases.reduce((total, testCase) => total + testCase.planned, 0);
  return { planned, ran: cases.reduce((total, { passed, failed }) => total + passed + failed, 0) };
}

function addTotals(suites: readonly SuiteReport[]): Totals {
  const sum = (key: 'cases' | 'iterations' | 'passed' | 'failed') =>
    suites.reduce((total, { totals }) => total + totals[key], 0);
  const [iterations, passed] = [sum('iterations'), sum('passed')];
  return {
    cases: sum('cases'),
    iterations,
    passed,
    failed: sum('failed'),
    passRate: computePassRate(passed, iterations),
  };
}

function buildSuite(judged: JudgedSuite, prices: GatePolicy['prices']): SuiteReport {
  const { results, verdict, minimumPassRate, assessments = [] } = judged;
  const usage = joinUsage(results.cases.map((testCase) => testCase.usage));
  return {
    id: results.suiteId,
    name: results.name,
    file: results.file,
    minimumPassRate: minimumPassRate.value,
    minimumPassRateSource: minimumPassRate.source,
    verdict: structuredClone(verdict),
    totals: countTotals(judged),
    run: results.run === null ? null : buildRun(results.run, results.runUrl),
    tunnelBreaks: results.tunnelBreaks,
    requirements: structuredClone([...assessments]),
    retries: structuredClone(results.retries),
    repeats: structuredClone(judged.repeats ?? null),
    stoppedEarly: results.isStoppedEarly ? countStopped(results) : null,
    concurrency: structuredClone(results.concurrency),
    usage: structuredClone(usage),
    cost: usage === null ? null : computeCost(results.cases, prices).amount,
    ...(judged.rounds !== undefined && { rounds: structuredClone(judged.rounds) }),
  };
}

function buildRun({ id, suiteId, status }: Run, url: string | null): RunReport {
  return { id, suiteId, status, url };
}

interface Placement {
  entry: QuarantineEntry | undefined;
  probation: ProbationCase | undefined;
  analysis: Pick<CaseReport, 'classification' | 'repeats'> | undefined;
  flaky: Sourced<FlakyEffect>;
  prices: GatePolicy['prices'];
  suiteOutcome: VerdictOutcome;
}

function buildCase(suiteId: string, testCase: CaseResults, placement: Placement): CaseReport {
  const { entry, analysis, flaky, prices, suiteOutcome } = placement;
  const { id, title, passed, failed, planned, location } = testCase;
  const outcome = judgeCase(testCase);
  const quarantine =
    entry === undefined
      ? null
      : { owner: entry.owner, reason: entry.reason, expires: entry.expires, source: entry.source };
  const probation =
    placement.probation === undefined
      ? null
      : { passedGates: placement.probation.passedGates, neededGates: placement.probation.neededGates };
  const flakyEffect = analysis?.classification === 'flaky' ? { effect: flaky.value, source: flaky.source } : null;
  return {
    suiteId,
    id,
    title,
    tags: [...testCase.tags],
    required: testCase.isRequired,
    outcome,
    disposition: decideDisposition({ outcome, quarantine, probation, flaky: flakyEffect }, suiteOutcome),
    passed,
    total: passed + failed,
    planned,
    location: location === null ? null : { file: location.file, line: location.line },
    definitionHash: testCase.definitionHash,
    durationMs: computeMedian(testCase.durationsMs),
    failed,
    failures: structuredClone(testCase.failures),
    quarantine,
    probation,
    classification: analysis?.classification ?? null,
    retries: structuredClone(testCase.retries),
    flaky: flakyEffect,
    repeats: structuredClone(analysis?.repeats ?? []),
    model: testCase.model,
    ...(testCase.host !== undefined && { host: testCase.host }),
    usage: structuredClone(testCase.usage),
    cost: testCase.usage === null ? null : computeCost([testCase], prices).amount,
    judges: priceJudges(testCase.judges, prices),
    replayed: { ...testCase.replayed },
  };
}

function judgeCase({ passed, failed, unscored, planned }: CaseResults): VerdictOutcome {
  if (failed > 0) return 'failed';
  return passed > 0 && passed === planned && unscored === 0 ? 'passed' : 'inconclusive';
}

/** Ranks a case; a lower rank is worse. */
function rankCase({ outcome, disposition, required }: CaseReport): number {
  if (disposition === 'passed') return outcome === 'passed' ? 5 : 4;
  return { failed: required ? 0 : 1, tolerated: 1, unscored: 2, excluded: 3 }[disposition];
}

export function computeMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
