import type { IterationRecord } from '../store/iterations.ts';
import type { RunRecord } from '../store/runs.ts';

/** A run as it is read; `notes` end with why a run has no result, since the API has no other field for that. */
export function renderRun(run: RunRecord) {
  const { id, suiteId, runNumber, status, result, source, createdAt, completedAt } = run;
  const notes = [run.notes, run.failure].filter((note) => note !== null).join('\n');
  return {
    id,
    suiteId,
    runNumber,
    status,
    result,
    summary: renderSummary(run),
    source,
    notes: notes === '' ? null : notes,
    environment: null,
    scoreIntegrity: null,
    createdAt,
    completedAt,
  };
}

/** `total` counts what was planned, so that a run that was cut short shows it. */
export function renderSummary({ total, passed, failed }: RunRecord) {
  return { total, passed, failed, passRate: total === 0 ? 0 : passed / total };
}

/** An iteration as it is read. Models took part only in those that were executed elsewhere. */
export function renderIteration(iteration: IterationRecord) {
  const { id, caseId, title, iterationNumber, status, result, startedAt, durationMs, toolCalls, error } = iteration;
  const { model, provider, tokensUsed } = iteration;
  return {
    id,
    testCaseId: caseId,
    title,
    iterationNumber,
    status,
    result,
    model,
    provider,
    startedAt,
    durationMs,
    tokensUsed,
    usage: null,
    actualToolCalls: toolCalls?.actual ?? [],
    expectedToolCalls: toolCalls?.expected ?? [],
    error,
  };
}
