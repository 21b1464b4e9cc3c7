import { isDeepStrictEqual } from 'node:util';
import type { Report } from '../../model/report.ts';
import { type ReportedResults, readResults } from '../../model/results.ts';
import { buildReport } from '../../report/build.ts';
import { judgeGate } from '../../verdict/judge-gate.ts';

/**
 * Lists where a report contradicts itself, one sentence each; empty for every report that a gate writes. Judges the results again by the
 * report's policy: verdict, totals, suites, cases and comparison must equal those that the report states. A report written by hand can still
 * be consistent; this refuses a report that was damaged or edited in only one field.
 */
export function listContradictions(report: Report): string[] {
  const misplaced = [...listMisplaced(report), ...report.results.flatMap(listCountContradictions)];
  // A case without a suite, or one that is listed twice, would be counted wrongly.
  return misplaced.length > 0 ? misplaced : listJudgedContradictions(report);
}

function listMisplaced({ suites, cases, results, policy, shard }: Report): string[] {
  const suiteIds = suites.map(({ id }) => id);
  const measured = [...new Set(results.map(({ suiteId }) => suiteId))];
  const required = policy.suites.map(({ suiteId }) => suiteId);
  const caseKeys = new Set(cases.map(({ suiteId, id }) => keyOf(suiteId, id)));
  const ran = results.flatMap(({ suiteId, cases: own }) => own.map(({ id }) => keyOf(suiteId, id)));
  return [
    ...(new Set(suiteIds).size === suites.length ? [] : ['a suite is listed more than once']),
    ...(caseKeys.size === cases.length ? [] : ['a case is listed more than once']),
    ...(new Set(ran).size === ran.length ? [] : ['a case has results more than once']),
    ...(isDeepStrictEqual(measured, suiteIds) ? [] : ['the suites with results are not those that are listed']),
    ...(isDeepStrictEqual(required, suiteIds) ? [] : ['the suites of the policy are not those that are listed']),
    ...cases
      .filter(({ suiteId }) => !suiteIds.includes(suiteId))
      .map(({ id, suiteId }) => `the case ${quote(id)} is of the suite ${quote(suiteId)}, which is not listed`),
    ...(shard !== null && shard.index > shard.total
      ? [`shard ${shard.index} is beyond the ${shard.total} shards`]
      : []),
  ];
}

function listCountContradictions({ suiteId, cases, iterationsRead, unknownIterations }: ReportedResults): string[] {
  const problems: string[] = [];
  const say = (id: string, problem: string) => problems.push(`the case ${quote(id)} ${problem}`);
  let read = unknownIterations;
  for (const { id, planned, passed, failed, unscored, retries, durationsMs, replayed } of cases) {
    read += passed + failed + unscored;
    if (planned < 1) say(id, 'was planned with no iteration');
    if (durationsMs.length > passed + failed) say(id, 'has more durations than scored iterations');
    if (replayed.passed > passed || replayed.total - replayed.passed > failed) {
      say(id, 'has more replayed iterations than scored ones');
    }
    if (retries.some((round) => round.passed > round.total)) say(id, 'passed more often than it ran in a retry');
    if (retries.length > 0 && failed === 0) say(id, 'was run again without having failed');
  }
  if (read !== iterationsRead) {
    problems.push(`the suite ${quote(suiteId)} states ${iterationsRead} iterations read, and its cases say ${read}`);
  }
  return problems;
}

/** Judges the results again, and compares the outcome with what the report states. */
function listJudgedContradictions(report: Report): string[] {
  const { exit, ...judged } = judgeGate(readResults(report), report.policy, report);
  const again = buildReport({ ...report, ...judged });
  const problems = listDifferences(pickJudged(report), JSON.parse(JSON.stringify(pickJudged(again))), '');
  if (report.verdict.outcome === 'passed' && report.stopsJob) problems.push('the verdict is passed and stops the job');
  if (exit.exitCode !== 0 && !report.stopsJob) problems.push('the job goes on, and the policy stops it');
  for (const { id, outcome, failures } of report.cases) {
    if (outcome !== 'passed' || failures.length === 0) continue;
    problems.push(`the case ${quote(id)} states that it passed, and lists failures`);
  }
  return problems;
}

function pickJudged({ verdict, totals, suites, cases, comparison, baseComparison, models, run }: Report) {
  return { verdict, totals, suites, cases, comparison, baseComparison, models, run };
}

/** The fields that another version may word in another way. */
const texts: ReadonlySet<string> = new Set(['message', 'output', 'finding', 'requirement']);

/** Lists where two values differ, as paths of the report. */
function listDifferences(stated: unknown, found: unknown, path: string): string[] {
  const [own, others] = [listFields(stated), listFields(found)];
  if (own === null || others === null || Array.isArray(stated) !== Array.isArray(found)) {
    if (isDeepStrictEqual(stated, found)) return [];
    return [`${path} is stated as ${show(stated)}, and the results say ${show(found)}`];
  }
  const names = new Set([...own.keys(), ...others.keys()].filter((name) => !texts.has(name)));
  return [...names].flatMap((name) => {
    const inner = Array.isArray(stated) ? `${path}[${name}]` : [path, name].filter((part) => part !== '').join('.');
    return listDifferences(own.get(name), others.get(name), inner);
  });
}

function listFields(value: unknown): Map<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map<string, unknown>(Object.entries(value)) : null;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200);
}

function keyOf(suiteId: string, caseId: string): string {
  return JSON.stringify([suiteId, caseId]);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
