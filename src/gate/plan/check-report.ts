import { isDeepStrictEqual } from 'node:util';
import { caseChanges, type Comparison } from '../../model/comparison.ts';
import { decideDisposition } from '../../model/disposition.ts';
import { formatMinimumPassRate, meetsMinimumPassRate, parsePassRate } from '../../model/rate.ts';
import type { CaseReport, DemandReport, Report, SuiteReport } from '../../model/report.ts';
import { buildReport } from '../../report/build.ts';
import { classifyCounts, listRegressions } from '../../verdict/compare.ts';
import { classifyCase } from '../../verdict/flaky.ts';
import { judgeGate } from '../../verdict/judge.ts';
import { rejudgeSuite, restoreSuites } from '../../verdict/restore.ts';

/**
 * Lists where a report contradicts itself, one sentence each; empty for every report that a gate writes. The results of its cases
 * are counted and judged once more: totals, outcomes and verdicts must be those that the report states. A report
 * written by hand can still be consistent; this refuses one that was damaged or edited in a single place.
 */
export function listContradictions(report: Report): string[] {
  const misplaced = [...listMisplaced(report), ...report.cases.flatMap(listCaseContradictions)];
  // Cases that are in no suite or there twice would be counted in the wrong place.
  if (misplaced.length > 0) return misplaced;
  return [
    ...report.suites.flatMap((suite) => listSuiteContradictions(suite, report)),
    ...listComparisonContradictions(report),
    ...listJudgedContradictions(report),
  ];
}

function listMisplaced({ suites, cases, shard }: Report): string[] {
  const suiteIds = new Set(suites.map(({ id }) => id));
  const caseKeys = new Set(cases.map(({ suiteId, id }) => JSON.stringify([suiteId, id])));
  return [
    ...(suiteIds.size === suites.length ? [] : ['a suite is listed more than once']),
    ...(caseKeys.size === cases.length ? [] : ['a case is listed more than once']),
    ...cases
      .filter(({ suiteId }) => !suiteIds.has(suiteId))
      .map(({ id, suiteId }) => `the case ${quote(id)} is of the suite ${quote(suiteId)}, which is not listed`),
    ...(shard !== null && shard.index > shard.total
      ? [`shard ${shard.index} is beyond the ${shard.total} shards`]
      : []),
  ];
}

function listCaseContradictions(member: CaseReport): string[] {
  const { id, passed, failed, total, planned, outcome, classification, flaky, retries, failures } = member;
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`the case ${quote(id)} ${problem}`);
  if (total !== passed + failed) say(`states ${total} scored iterations, and ${passed} passed and ${failed} failed`);
  if (planned < 1) say('was planned with no iteration');
  const isWhole = passed > 0 && passed === planned;
  if ((outcome === 'failed') !== failed > 0) say(`states the outcome ${outcome} with ${failed} failed iterations`);
  if (outcome === 'passed' && !isWhole) say(`states that it passed, and ${passed} of ${planned} iterations did`);
  if (outcome === 'passed' && failures.length > 0) say('states that it passed, and lists failures');
  const expected = classifyCase({ planned, passed, failed, unscored: 0, retries });
  // What was read beyond the plan leaves a case open that has passed as often as planned.
  const isOpen = classification === null && failed === 0;
  if (classification !== expected && !isOpen) say(`is classified as ${classification}, and its counts say ${expected}`);
  if ((flaky !== null) !== (classification === 'flaky'))
    say('states a flaky effect that does not fit its classification');
  if (retries.some((round) => round.passed > round.total)) say('passed more often than it ran in a retry');
  if (retries.length > 0 && failed === 0) say('was run again without having failed');
  return problems;
}

function listSuiteContradictions(suite: SuiteReport, { cases }: Report): string[] {
  const members = cases.filter(({ suiteId }) => suiteId === suite.id);
  const { demands, verdict } = suite;
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`the suite ${quote(suite.id)} ${problem}`);
  for (const testCase of members) {
    const disposition = decideDisposition(testCase, verdict.outcome);
    if (testCase.disposition !== disposition)
      say(`counts the case ${quote(testCase.id)} as ${testCase.disposition}, and it is ${disposition}`);
  }
  const [minimum, ...others] = demands.filter(({ scope }) => scope === 'suite');
  const isJudgedMinimum =
    minimum?.source === suite.minimumPassRateSource &&
    readMinimum(minimum) === formatMinimumPassRate(suite.minimumPassRate);
  if (!isJudgedMinimum || others.length > 0) say('states another minimum pass rate than the one that was judged');
  const open = demands.find(({ isDecisive, state }) => isDecisive && state !== 'met');
  if (verdict.outcome === 'passed' && open !== undefined)
    say(`passed, and a requirement is ${open.state}: ${open.demand}`);
  for (const { id, title, required } of members) {
    const isJudged = demands.some(({ kind, subject }) => kind === 'required-case' && subject === title);
    if (required && !isJudged) say(`requires the case ${quote(id)} and did not judge that`);
  }
  for (const demand of demands) {
    const rate = countDemanded(demand, members);
    if (rate === null || demand.state === 'unknown') continue;
    const isMet = meetsMinimumPassRate(rate.passed, rate.total, rate.minimum);
    if (isMet !== (demand.state === 'met')) {
      say(
        `states that ${quote(demand.subject ?? '')} has ${demand.demand} ${demand.state}, and ${rate.passed} of ${rate.total} passed`,
      );
    }
  }
  return problems;
}

/** The percentage of a minimum pass rate, such as `90%`; a confidence may follow it. */
function readMinimum({ demand }: Pick<DemandReport, 'demand'>): string {
  return /^at least (\d\S*) pass\b/.exec(demand)?.[1] ?? '';
}

/** What counts towards the minimum of a tag or a case; null where the report does not tell which case is meant. */
function countDemanded(
  { kind, scope, subject, demand }: DemandReport,
  members: readonly CaseReport[],
): { passed: number; total: number; minimum: number } | null {
  if (kind !== 'minimum-pass-rate' || scope === 'suite' || subject === null) return null;
  const parsed = parsePassRate(readMinimum({ demand }));
  const named = members.filter(({ title, tags }) => (scope === 'tag' ? tags.includes(subject) : title === subject));
  if (!parsed.ok || (scope === 'case' && named.length !== 1)) return null;
  const counts = named.flatMap(({ quarantine, trial, ...member }) =>
    quarantine !== null || trial !== null ? [] : countSettled(member),
  );
  const passed = counts.reduce((sum, count) => sum + count.passed, 0);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  return total === 0 ? null : { passed, total, minimum: parsed.passRate };
}

/** A case as it counts, a flaky one by its effect; none where it does not count. */
function countSettled({ passed, total, flaky, retries }: Pick<CaseReport, 'passed' | 'total' | 'flaky' | 'retries'>) {
  if (flaky === null || flaky.effect === 'fail') return [{ passed, total }];
  return flaky.effect === 'report' ? [] : retries.slice(-1);
}

function listComparisonContradictions({ comparison, cases }: Report): string[] {
  if (comparison === null) return [];
  const listed = comparison.cases;
  const miscounted = caseChanges
    .filter((change) => change !== 'unchanged')
    .filter((change) => listed.filter((member) => member.change === change).length !== comparison.counts[change]);
  const wrong = listed.filter((member) => !isClassifiedRight(member));
  const unlike = listed.filter(({ suiteId, id, current }) => {
    const member = cases.find((each) => each.suiteId === suiteId && each.id === id);
    return member === undefined ? current !== null : !isDeepStrictEqual(countSettled(member), [current]);
  });
  return [
    ...miscounted.map(
      (change) => `the comparison counts ${comparison.counts[change]} cases as ${change} and lists others`,
    ),
    ...wrong.map(
      ({ id, change }) => `the comparison has the case ${quote(id)} as ${change}, and its counts say otherwise`,
    ),
    ...unlike.map(({ id }) => `the comparison has other results of the case ${quote(id)} than the report`),
  ];
}

/** Which definitions were compared is not in the report, and neither is whether a case was there. */
function isClassifiedRight({ change, baseline, current }: Comparison['cases'][number]): boolean {
  if (change === 'new') return baseline === null;
  if (change === 'removed') return current === null;
  if (baseline === null || current === null || change === 'unchanged') return false;
  return change === 'changed' || classifyCounts(baseline, current) === change;
}

/** Judges the results again, by what the report says of the policy, and compares the result with what it states. */
function listJudgedContradictions(report: Report): string[] {
  const regressions = report.comparison === null ? [] : listRegressions(report.comparison);
  const judged = restoreSuites(report).map((suite) => ({
    results: suite.results,
    ...rejudgeSuite(suite, regressions),
  }));
  const again = buildReport({ ...report, suites: judged, verdict: judgeGate(judged.map(({ verdict }) => verdict)) });
  const problems: string[] = [];
  const compare = (what: string, stated: unknown, found: unknown) => {
    if (isDeepStrictEqual(stated, found)) return;
    problems.push(`${what} ${JSON.stringify(stated)}, and the results say ${JSON.stringify(found)}`);
  };
  compare('the verdict is stated as', report.verdict.outcome, again.verdict.outcome);
  compare('the totals are stated as', report.totals, again.totals);
  compare('the first run is stated as', report.run, again.run);
  for (const [index, suite] of report.suites.entries()) {
    const found = again.suites[index];
    const name = `the suite ${quote(suite.id)} states`;
    compare(`${name} the verdict`, suite.verdict.outcome, found?.verdict.outcome);
    compare(`${name} the totals`, suite.totals, found?.totals);
    compare(`${name} that it was stopped early as`, suite.stoppedEarly, found?.stoppedEarly);
  }
  if (report.verdict.outcome !== 'passed' && report.verdict.reasons.length === 0) {
    problems.push(`the verdict is ${report.verdict.outcome} without a reason`);
  }
  if (report.verdict.outcome === 'passed' && report.stopsJob) problems.push('the verdict is passed and stops the job');
  return problems;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
