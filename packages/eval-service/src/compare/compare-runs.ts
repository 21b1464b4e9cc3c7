import type { RunComparison } from '../../../../src/service/operations/run-comparison.ts';
import type { IterationScores } from '../scores.ts';
import type { RunRecord } from '../store/run-store.ts';
import { compareCaseScores, compareScorers, countIterations } from './compare-scores.ts';
import { diffNumbers } from './compare-scores.ts';

type ComparedCase = RunComparison['cases'][number];

/** The part of an iteration that a comparison uses. */
export interface ComparedIteration {
  id: string;
  caseKey: string;
  title: string;
  result: 'passed' | 'failed' | null;
  error: string | null;
  /** `provider/name`; null without a model. */
  model: string | null;
  tokensUsed: number | null;
  scores: IterationScores | null;
}

/** One of the two compared runs. */
export interface ComparedRun {
  run: Pick<
    RunRecord,
    | 'id'
    | 'runNumber'
    | 'status'
    | 'result'
    | 'createdAt'
    | 'completedAt'
    | 'total'
    | 'passed'
    | 'failed'
    | 'scoreIntegrity'
    | 'evaluationConfigHash'
  >;
  /** In the order of the run. */
  iterations: readonly ComparedIteration[];
  /** By case key; empty for a run of an older version. */
  cases: ReadonlyMap<string, { configHash: string; evaluationHash: string | null }>;
}

/**
 * Compares two runs of a suite. A case passed if all its iterations with a result passed; it is `absent` if it has none. A case with the same
 * outcome in both is `changed` if its definition or its evaluation settings changed. Error texts are cut at `previewChars`.
 */
export function compareRuns(
  base: ComparedRun,
  compare: ComparedRun,
  { previewChars }: { previewChars: number },
): Omit<RunComparison, 'suite' | 'baseline'> {
  const [baseScores, compareScores] = [listScores(base.iterations), listScores(compare.iterations)];
  const [baseContract, compareContract] = [describeContract(base), describeContract(compare)];
  return {
    baseRun: describeRun(base),
    compareRun: describeRun(compare),
    passSummary: {
      passRatePercent: diffNumbers(percentOf(base), percentOf(compare)),
      total: diffNumbers(base.run.total, compare.run.total),
      passed: diffNumbers(base.run.passed, compare.run.passed),
      failed: diffNumbers(base.run.failed, compare.run.failed),
    },
    metrics: {
      wallDurationMs: diffNumbers(durationOf(base), durationOf(compare)),
      totalTokens: diffNumbers(countTokens(base), countTokens(compare)),
      // The service does not know prices.
      estimatedCostUsd: diffNumbers(null, null),
    },
    scoreContract: {
      base: baseContract,
      compare: compareContract,
      evaluationConfigChanged: hasChanged(baseContract.evaluationConfigHash, compareContract.evaluationConfigHash),
      scorers: compareScorers(baseScores, compareScores),
    },
    cases: listCases(base, compare).map((caseKey) => compareCase(caseKey, { base, compare, previewChars })),
  };
}

/** Lists the cases of the newer run in order, then the cases that only the older run has. */
function listCases(base: ComparedRun, compare: ComparedRun): string[] {
  return [...new Set([...compare.iterations, ...base.iterations].map(({ caseKey }) => caseKey))];
}

function compareCase(
  caseKey: string,
  { base, compare, previewChars }: { base: ComparedRun; compare: ComparedRun; previewChars: number },
): ComparedCase {
  const select = ({ iterations }: ComparedRun) => iterations.filter((iteration) => iteration.caseKey === caseKey);
  const [before, after] = [select(base), select(compare)];
  const sides = { base: describeSide(before, previewChars), compare: describeSide(after, previewChars) };
  const [planBefore, planAfter] = [base.cases.get(caseKey), compare.cases.get(caseKey)];
  const isOnBoth = before.length > 0 && after.length > 0;
  const configChanged =
    isOnBoth && (hasChanged(planBefore?.configHash, planAfter?.configHash) || listModels(before) !== listModels(after));
  const evaluationConfigChanged = isOnBoth && hasChanged(planBefore?.evaluationHash, planAfter?.evaluationHash);
  const status = isOnBoth
    ? decideStatus(sides.base.outcome, sides.compare.outcome, configChanged || evaluationConfigChanged)
    : before.length === 0
      ? 'new_case'
      : 'removed_case';
  return {
    caseKey,
    title: after[0]?.title ?? before[0]?.title ?? caseKey,
    status,
    configChanged,
    evaluationConfigChanged,
    scoreDeltas: compareCaseScores(listScores(before), listScores(after)),
    ...sides,
  };
}

/** Decides the status of a case. A flipped result takes precedence over a changed case. */
function decideStatus(base: string, compare: string, isChanged: boolean): string {
  if (base === 'passed' && compare === 'failed') return 'regressed';
  if (base === 'failed' && compare === 'passed') return 'fixed';
  // A side without a result gives no evidence.
  if (isChanged || base !== compare || base === 'absent') return 'changed';
  return base === 'passed' ? 'unchanged_passed' : 'unchanged_failed';
}

function describeSide(iterations: readonly ComparedIteration[], previewChars: number): ComparedCase['base'] {
  const scored = iterations.filter(({ result }) => result !== null);
  const failed = scored.find(({ result }) => result === 'failed');
  const representative = failed ?? scored[0] ?? iterations[0];
  const error = representative?.error ?? null;
  return {
    outcome: scored.length === 0 ? 'absent' : failed === undefined ? 'passed' : 'failed',
    iterationIds: iterations.map(({ id }) => id),
    representativeIterationId: representative?.id ?? null,
    error: error === null ? null : error.slice(0, previewChars).toWellFormed(),
  };
}

function describeRun({ run }: ComparedRun): RunComparison['baseRun'] {
  const { id, runNumber, status, result, createdAt, completedAt, total, passed, failed } = run;
  const summary = { total, passed, failed, passRate: total === 0 ? 0 : passed / total };
  // A run without a verdict shows its status instead.
  return { id, runNumber, result: result ?? status, createdAt, completedAt, summary };
}

function describeContract({ run, iterations }: ComparedRun): RunComparison['scoreContract']['base'] {
  const scores = listScores(iterations);
  const ofIterations = new Set(scores.flatMap(({ configHash }) => configHash ?? []));
  return {
    evaluationConfigHash: run.evaluationConfigHash ?? (ofIterations.size === 1 ? [...ofIterations].join('') : null),
    scoreIntegrity: run.scoreIntegrity,
    ...countIterations(scores),
  };
}

function listScores(iterations: readonly ComparedIteration[]): IterationScores[] {
  return iterations.flatMap(({ scores }) => scores ?? []);
}

function listModels(iterations: readonly ComparedIteration[]): string {
  return [...new Set(iterations.map(({ model }) => model ?? ''))].toSorted().join(' ');
}

/** Compares two hashes. An unknown one does not count as a change. */
function hasChanged(base: string | null | undefined, compare: string | null | undefined): boolean {
  return typeof base === 'string' && typeof compare === 'string' && base !== compare;
}

function percentOf({ run: { passed, total } }: ComparedRun): number | null {
  return total === 0 ? null : (passed / total) * 100;
}

function durationOf({ run: { createdAt, completedAt } }: ComparedRun): number | null {
  return completedAt === null ? null : completedAt - createdAt;
}

function countTokens({ iterations }: ComparedRun): number | null {
  const measured = iterations.flatMap(({ tokensUsed }) => tokensUsed ?? []);
  return measured.length === 0 ? null : measured.reduce((sum, tokens) => sum + tokens, 0);
}
