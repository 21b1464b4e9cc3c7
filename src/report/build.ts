import type { Comparison } from '../model/comparison.ts';
import type { Trend } from '../model/history.ts';
import { computePassRate } from '../model/rate.ts';
import {
  type CaseReport,
  type DemandReport,
  type Report,
  type Revision,
  type RunReport,
  type ServerReport,
  type ShardReport,
  type SuiteReport,
  type Totals,
  reportSchemaVersion,
} from '../model/report.ts';
import type { QuarantineEntry } from '../model/policy.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { Run } from '../model/run.ts';
import type { Verdict, VerdictOutcome } from '../model/verdict.ts';

export interface ReportInput {
  /** ISO 8601. */
  startedAt: string;
  durationMs: number;
  generator: { name: string; version: string };
  server: ServerReport | null;
  /** In the order they ran. */
  suites: readonly JudgedSuite[];
  verdict: Verdict;
  revision?: Revision | null;
  shard?: ShardReport | null;
  comparison?: Comparison | null;
  trend?: Trend | null;
  /** What a reader should know besides the verdict. */
  notes?: readonly string[];
  /** By default every verdict does that is not `passed`. */
  stopsJob?: boolean;
}

export interface JudgedSuite {
  results: SuiteResults;
  verdict: Verdict;
  demands?: readonly DemandReport[];
  /** Entries of the cases that do not count. */
  quarantined?: ReadonlyArray<QuarantineEntry & { caseId: string }>;
}

/** Puts results and verdicts into the report, deeply frozen; cases worst first within each suite. */
export function buildReport(input: ReportInput): Report {
  const suites = input.suites.map(buildSuite);
  return deepFreeze({
    schemaVersion: reportSchemaVersion,
    generator: { ...input.generator },
    startedAt: input.startedAt,
    durationMs: input.durationMs,
    revision: input.revision == null ? null : { ...input.revision },
    shard: input.shard == null ? null : { ...input.shard },
    verdict: structuredClone(input.verdict),
    stopsJob: input.stopsJob ?? input.verdict.outcome !== 'passed',
    totals: countTotals(input.suites.flatMap(listCounted)),
    server: input.server === null ? null : { ...input.server },
    suites,
    cases: input.suites.flatMap(({ results, quarantined }) =>
      results.cases
        .map((member) =>
          buildCase(
            results.suiteId,
            member,
            quarantined?.find(({ caseId }) => caseId === member.id),
          ),
        )
        .toSorted((a, b) => rankCase(a) - rankCase(b)),
    ),
    comparison: structuredClone(input.comparison ?? null),
    trend: structuredClone(input.trend ?? null),
    run: suites.find(({ run }) => run !== null)?.run ?? null,
    notes: [...(input.notes ?? [])],
  });
}

/** Cases in quarantine are told, and add nothing to the rate. */
function listCounted({ results, quarantined }: JudgedSuite): CaseResults[] {
  const ids = new Set(quarantined?.map(({ caseId }) => caseId));
  return results.cases.filter(({ id }) => !ids.has(id));
}

function buildSuite(judged: JudgedSuite): SuiteReport {
  const { results, verdict, demands = [] } = judged;
  return {
    id: results.suiteId,
    name: results.name,
    file: results.file,
    minimumPassRate: results.minimumPassRate,
    minimumPassRateSource: results.minimumPassRateSource,
    verdict: structuredClone(verdict),
    totals: countTotals(listCounted(judged)),
    run: results.run === null ? null : buildRun(results.run, results.runUrl),
    tunnelBreaks: results.tunnelBreaks,
    demands: structuredClone([...demands]),
  };
}

function buildRun({ id, suiteId, status }: Run, url: string | null): RunReport {
  return { id, suiteId, status, url };
}

function buildCase(suiteId: string, member: CaseResults, entry: QuarantineEntry | undefined): CaseReport {
  const { id, title, passed, failed, planned, location } = member;
  return {
    suiteId,
    id,
    title,
    tags: [...member.tags],
    required: member.isRequired,
    outcome: judgeCase(member),
    passed,
    total: passed + failed,
    planned,
    location: location === null ? null : { file: location.file, line: location.line },
    definitionHash: member.definitionHash,
    durationMs: computeMedian(member.durationsMs),
    failed,
    failures: structuredClone(member.failures),
    quarantine:
      entry === undefined
        ? null
        : { owner: entry.owner, reason: entry.reason, expires: entry.expires, source: entry.source },
  };
}

function judgeCase({ passed, failed, unscored, planned }: CaseResults): VerdictOutcome {
  if (failed > 0) return 'failed';
  return passed > 0 && passed === planned && unscored === 0 ? 'passed' : 'inconclusive';
}

/** Lower is worse. */
function rankCase({ outcome, required, quarantine }: CaseReport): number {
  if (quarantine !== null && outcome !== 'passed') return 3;
  return { failed: required ? 0 : 1, inconclusive: 2, passed: 4 }[outcome];
}

function countTotals(cases: readonly CaseResults[]): Totals {
  const passed = cases.reduce((total, member) => total + member.passed, 0);
  const failed = cases.reduce((total, member) => total + member.failed, 0);
  const iterations = passed + failed;
  return { cases: cases.length, iterations, passed, failed, passRate: computePassRate(passed, iterations) };
}

function computeMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
