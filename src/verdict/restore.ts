import type { CaseReport, Report, SuiteReport } from '../model/report.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { Verdict, VerdictReason } from '../model/verdict.ts';
import { judgeSuite } from './judge.ts';

/** One suite of a report, to be judged anew without running anything. */
export interface RestoredSuite {
  results: SuiteResults;
  /** What kept its results from being a verdict; no other demand can mend that. */
  gaps: VerdictReason[];
}

/** Reasons that weigh complete results. Every other one says that they are not complete. */
const demandCodes: ReadonlySet<VerdictReason['code']> = new Set([
  'minimum-met',
  'below-minimum',
  'required-failed',
  'regressed',
]);

/** Takes the results of its suites back out of a report, in their order, with the cases in the order of their file. */
export function restoreSuites(report: Report): RestoredSuite[] {
  return report.suites.map((suite) => {
    const cases = report.cases
      .filter(({ suiteId }) => suiteId === suite.id)
      .toSorted((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0));
    const { outcome, reasons } = suite.verdict;
    return {
      results: restoreResults(suite, cases),
      gaps: outcome === 'inconclusive' ? reasons.filter(({ code }) => !demandCodes.has(code)) : [],
    };
  });
}

/** Judges a suite of a report as `judgeSuite` judged it, under the demands that it has now. */
export function rejudgeSuite({ results, gaps }: RestoredSuite, findings: readonly VerdictReason[] = []): Verdict {
  return gaps.length > 0 ? { outcome: 'inconclusive', reasons: gaps } : judgeSuite(results, findings);
}

function restoreResults(suite: SuiteReport, cases: readonly CaseReport[]): SuiteResults {
  const { id, name, file, minimumPassRate, minimumPassRateSource, run } = suite;
  return {
    suiteId: id,
    name,
    file,
    minimumPassRate,
    minimumPassRateSource,
    run:
      run === null
        ? null
        : { ...run, result: null, summary: null, createdAtMs: null, completedAtMs: null, notes: null },
    runUrl: run?.url ?? null,
    cases: cases.map(restoreCase),
    leftOut: [],
    isComplete: true,
    iterationsRead: cases.reduce((sum, { total }) => sum + total, 0),
    unknownIterations: 0,
    overruled: 0,
    interruption: null,
  };
}

/** What a report does not keep is what only incomplete results have, and of those their gaps tell. */
function restoreCase(member: CaseReport): CaseResults {
  const { id, title, tags, required, location, definitionHash, planned, passed, failed, durationMs, failures } = member;
  return {
    id,
    title,
    tags,
    isRequired: required,
    location: location === null ? null : { ...location, column: 1 },
    definitionHash,
    planned,
    passed,
    failed,
    unscored: 0,
    durationsMs: durationMs === null ? [] : [durationMs],
    failures,
  };
}
