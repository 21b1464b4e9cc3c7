import type { Report } from '../../../src/model/report.ts';
import type { SuitePolicy } from '../../../src/model/policy.ts';
import type { SuiteResults } from '../../../src/model/results.ts';
import { digestReports } from '../../../src/verdict/shard-digest.ts';
import { createReport } from './report-factory.ts';
import { createRun } from './results-factory.ts';

/** The reports of the shards of a gate with these results. `pick` returns the shard of each case, from 1. */
export function createShardReports(
  suites: readonly SuiteResults[],
  total: number,
  pick: (caseIndex: number) => number,
  policy?: SuitePolicy | ((results: SuiteResults) => SuitePolicy),
): Report[] {
  const reports = Array.from({ length: total }, (_, position) => {
    const index = position + 1;
    const own = suites.map((suite) => cutSuite(suite, (caseIndex) => pick(caseIndex) === index));
    return createReport({
      suites: own.filter(({ cases }) => cases.length > 0),
      shard: { index, total, digest: '' },
      ...(policy === undefined ? {} : { policy }),
    });
  });
  return sealShards(reports);
}

/** Gives the reports of all shards the digest that a gate computes. */
export function sealShards(reports: readonly Report[]): Report[] {
  const digest = digestReports(reports);
  return reports.map((report) => ({ ...report, shard: report.shard && { ...report.shard, digest } }));
}

function cutSuite(suite: SuiteResults, isOwn: (caseIndex: number) => boolean): SuiteResults {
  const cases = suite.cases.filter((_, caseIndex) => isOwn(caseIndex));
  const sum = (key: 'passed' | 'failed' | 'unscored') => cases.reduce((total, member) => total + member[key], 0);
  const iterationsRead = sum('passed') + sum('failed') + sum('unscored') + suite.unknownIterations;
  const summary = { total: iterationsRead, passed: sum('passed'), failed: sum('failed') };
  return { ...suite, cases, iterationsRead, run: suite.run && createRun({ ...suite.run, summary }) };
}
