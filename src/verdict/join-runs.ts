import { isDeepStrictEqual } from 'node:util';
import type { BaseResults } from '../model/base-comparison.ts';
import type { SuiteResults } from '../model/results.ts';
import { sum } from './count.ts';

/** Joins the results of several runs of a suite, each with different cases, as if one run had them all. Cases keep the order of their file. */
export function joinRuns(first: SuiteResults, others: readonly SuiteResults[]): SuiteResults {
  if (others.length === 0) return first;
  const runs = [first, ...others];
  const ran = runs.find(({ run }) => run !== null) ?? first;
  const cases = runs.flatMap((results) => results.cases);
  const ids = new Set(cases.map(({ id }) => id));
  const leftOut = others.map((results) => new Set(results.leftOut));
  const { concurrency } = first;
  const base = joinBases(runs.flatMap((results) => results.base ?? []));
  return {
    ...first,
    ...(base !== undefined && { base }),
    run: ran.run,
    runUrl: ran.runUrl,
    cases: cases.toSorted((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0)),
    // Another run may have a case that one run leaves out.
    leftOut: first.leftOut.filter((id) => !ids.has(id) && leftOut.every((other) => other.has(id))),
    isComplete: runs.every(({ isComplete }) => isComplete),
    iterationsRead: sum(runs, ({ iterationsRead }) => iterationsRead),
    unknownIterations: sum(runs, ({ unknownIterations }) => unknownIterations),
    overruled: sum(runs, ({ overruled }) => overruled),
    contradicted: sum(runs, ({ contradicted }) => contradicted),
    tunnelBreaks: sum(runs, ({ tunnelBreaks }) => tunnelBreaks),
    interruption: runs.find(({ interruption }) => interruption !== null)?.interruption ?? null,
    retries: runs.flatMap(({ retries }) => retries),
    isStoppedEarly: runs.some(({ isStoppedEarly }) => isStoppedEarly),
    // Shards may have run by different rules, and none of these is the rule of the whole.
    concurrency: runs.every((results) => isDeepStrictEqual(results.concurrency, concurrency)) ? concurrency : null,
  };
}

/** Joins the results of the base. A problem in one run is a problem of the whole. */
function joinBases([first, ...others]: readonly BaseResults[]): BaseResults | undefined {
  if (first === undefined) return undefined;
  const bases = [first, ...others];
  return {
    ...first,
    problem: bases.find(({ problem }) => problem !== null)?.problem ?? null,
    cases: bases.flatMap(({ cases }) => cases),
    newCases: bases.flatMap(({ newCases }) => newCases),
  };
}
