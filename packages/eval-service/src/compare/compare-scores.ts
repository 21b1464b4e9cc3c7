import type { RunComparison } from '../../../../src/service/operations/run-comparison.ts';
import type { IterationScores, Score } from '../scores.ts';

type Contract = RunComparison['scoreContract'];
type ScoreDelta = RunComparison['cases'][number]['scoreDeltas'][number];

/** The scores of one run, or of one case of it. */
export type ScoredIterations = readonly IterationScores[];

/** Compares the results of each scorer over both runs, ordered by scorer id. */
export function compareScorers(base: ScoredIterations, compare: ScoredIterations): Contract['scorers'] {
  return listScorers(base, compare).map((scorerId) => {
    const [before, after] = [findScores(base, scorerId), findScores(compare, scorerId)];
    return {
      ...describeScorer(scorerId, { base, compare }),
      passRate: diffNumbers(ratePasses(before), ratePasses(after)),
      meanValue: diffNumbers(meanOf(before), meanOf(after)),
      errorCount: { base: countErrors(before), compare: countErrors(after) },
    };
  });
}

/** Compares the results of each scorer for one case. */
export function compareCaseScores(base: ScoredIterations, compare: ScoredIterations): ScoreDelta[] {
  return listScorers(base, compare).map((scorerId) => {
    const [before, after] = [findScores(base, scorerId), findScores(compare, scorerId)];
    return {
      ...describeScorer(scorerId, { base, compare }),
      base: joinScores(before),
      compare: joinScores(after),
      value: diffNumbers(meanOf(before), meanOf(after)),
    };
  });
}

/** Counts iterations with scores, and iterations with unreadable scores. */
export function countIterations(scores: ScoredIterations): { scoredIterations: number; quarantinedIterations: number } {
  return {
    scoredIterations: scores.filter((each) => each.scores.length > 0).length,
    quarantinedIterations: scores.filter(({ quarantined }) => quarantined > 0).length,
  };
}

function listScorers(...sides: readonly ScoredIterations[]): string[] {
  return [...new Set(sides.flat().flatMap(({ scores }) => scores.map(({ scorerId }) => scorerId)))].toSorted();
}

function describeScorer(scorerId: string, sides: { base: ScoredIterations; compare: ScoredIterations }) {
  const all = [...sides.base, ...sides.compare];
  const [before, after] = [listDefinitions(sides.base, scorerId), listDefinitions(sides.compare, scorerId)];
  const isOnBoth = before.length > 0 && after.length > 0;
  return {
    scorerId,
    gating: all.some(({ gating }) => gating.includes(scorerId)),
    deterministic: findScores(all, scorerId).every(({ deterministic }) => deterministic === true),
    definitionChanged: isOnBoth && before.join(' ') !== after.join(' '),
  };
}

function findScores(side: ScoredIterations, scorerId: string): Score[] {
  return side.flatMap(({ scores }) => scores.filter((score) => score.scorerId === scorerId));
}

function listDefinitions(side: ScoredIterations, scorerId: string): string[] {
  return [...new Set(findScores(side, scorerId).map(({ definitionHash }) => definitionHash))].toSorted();
}

/** Lists the decided scores as passed or not. Scores that are not applicable, skipped or errors count in no rate. */
function listDecided(scores: readonly Score[]): boolean[] {
  return scores.flatMap(({ status, passed, value, passThreshold }) => {
    if (status !== 'scored') return [];
    if (typeof passed === 'boolean') return [passed];
    return typeof value === 'number' && typeof passThreshold === 'number' ? [value >= passThreshold] : [];
  });
}

function ratePasses(scores: readonly Score[]): number | null {
  const decided = listDecided(scores);
  return decided.length === 0 ? null : decided.filter(Boolean).length / decided.length;
}

function meanOf(scores: readonly Score[]): number | null {
  const values = scores.flatMap(({ status, value }) =>
    status === 'scored' && typeof value === 'number' ? [value] : [],
  );
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function countErrors(scores: readonly Score[]): number {
  return scores.filter(({ status }) => status === 'error').length;
}

/** Joins the scores of several iterations: the worst status, and passed if all passed. */
function joinScores(scores: readonly Score[]): ScoreDelta['base'] {
  const status = (['error', 'scored', 'skipped', 'not_applicable'] as const).find((each) =>
    scores.some((score) => score.status === each),
  );
  if (status === undefined) return null;
  const decided = listDecided(scores);
  return { status, value: meanOf(scores), passed: decided.length === 0 ? null : decided.every(Boolean) };
}

export type NumericDiff = RunComparison['metrics']['totalTokens'];

/** Compares two numbers; null means unknown. The percentage is also unknown if the base is 0. */
export function diffNumbers(base: number | null, compare: number | null): NumericDiff {
  const delta = base === null || compare === null ? null : compare - base;
  const percentDelta = delta === null || base === null || base === 0 ? null : (delta / base) * 100;
  return { base, compare, delta, percentDelta };
}
