import { describeError, ModelError } from '../../../../src/base/errors.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import type { Clock } from '../../../../src/base/time.ts';
import {
  insightsSchema,
  judgesSchema,
  type RunInsights,
  type RunJudges,
} from '../../../../src/service/operations/run-reviews.ts';
import type { ChosenModel } from '../ask-model.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';
import { findInsights } from './find-insights.ts';
import { createJudges, judgeRun, nameModel, noJudges } from './judge-run.ts';
import { loadReviewedRun } from './reviewed-run.ts';

/** The models' judgements and insights of runs. They are requested in the background and kept in the store. Disposing ends open requests. */
export interface Reviews extends AsyncDisposable {
  getJudges(run: RunRecord): RunJudges;
  /** `available` is true if a model could be asked. */
  getInsights(run: RunRecord, available: boolean): RunInsights;
  /** Does nothing once the service stops. */
  startJudges(run: RunRecord, options: { chosen: ChosenModel; threshold: number }): void;
  /** Records the reason why automatic judges did not start. */
  refuseJudges(run: RunRecord, error: { code: string; message: string }): void;
  startInsights(run: RunRecord, options: { chosen: ChosenModel }): void;
}

const interrupted = { code: 'INTERRUPTED', message: 'The service stopped before the model had answered.' };
const internal = { code: 'INTERNAL_ERROR', message: 'The service failed to ask the model; its log says why.' };

export function openReviews({ store, clock, logger }: { store: Store; clock: Clock; logger: Logger }): Reviews {
  const judges = store.documents.open('run-judges', judgesSchema);
  const insights = store.documents.open('run-insights', insightsSchema);
  const ending = new AbortController();
  const underWay = new Set<Promise<void>>();

  const keepJudges = ({ id, projectId }: RunRecord, content: RunJudges): void => {
    const now = clock.now();
    if (judges.get(projectId, id) === undefined) judges.insert({ id, projectId, content, now });
    else judges.update({ id, content, now });
  };
  const keepInsights = ({ id, projectId }: RunRecord, content: RunInsights): void => {
    const now = clock.now();
    if (insights.get(projectId, id) === undefined) insights.insert({ id, projectId, content, now });
    else insights.update({ id, content, now });
  };

  /** Errors become part of the record, except when the store cannot be written. */
  const start = (run: RunRecord, work: () => Promise<void>, onError: (error: RunError) => void): void => {
    const working = work()
      .catch((error: unknown) => {
        const explained = explain(error, ending.signal);
        if (explained === internal) logger.error(`The review of run ${run.id} failed: ${describeError(error)}`);
        onError(explained);
      })
      .catch((error: unknown) => logger.error(`The review of run ${run.id} broke off: ${describeError(error)}`))
      .finally(() => underWay.delete(working));
    underWay.add(working);
  };

  // No process continues the work of an earlier process.
  for (const { id, content } of judges.listAll()) {
    if (content.goalCompletion.status === 'pending') {
      const state = {
        ...content.goalCompletion,
        status: 'failed',
        errorCode: interrupted.code,
        summary: interrupted.message,
      };
      judges.update({ id, content: createJudges(withoutCases(state)), now: clock.now() });
    }
  }
  for (const { id, content } of insights.listAll()) {
    if (content.status === 'pending') insights.update({ id, content: fail(content, interrupted), now: clock.now() });
  }

  return {
    getJudges: ({ id, projectId }) => judges.get(projectId, id)?.content ?? noJudges,
    getInsights: ({ id, projectId }, available) =>
      insights.get(projectId, id)?.content ?? {
        ...createInsights(id),
        ...(!available && { status: 'not_available', reasonCode: 'NO_MODEL' }),
      },
    refuseJudges: (run, { code, message }) => {
      const state = { status: 'failed', errorCode: code, summary: message, generatedAt: clock.now() };
      keepJudges(run, createJudges({ ...state, modelUsed: null, threshold: null }));
    },
    startJudges: (run, { chosen, threshold }) => {
      if (ending.signal.aborted) return;
      const state = {
        status: 'pending',
        errorCode: null,
        summary: null,
        generatedAt: null,
        modelUsed: nameModel(chosen),
        threshold,
      };
      keepJudges(run, createJudges(state));
      start(
        run,
        async () => {
          const judged = await judgeRun(loadReviewedRun(store, run.id), { chosen, threshold, signal: ending.signal });
          const ended = { ...state, status: 'completed', generatedAt: clock.now() };
          keepJudges(run, {
            goalCompletion: { ...ended, ...judged.goalCompletion },
            groundedness: { ...ended, ...judged.groundedness },
          });
        },
        ({ code, message }) => {
          const failed = { ...state, status: 'failed', errorCode: code, summary: message, generatedAt: clock.now() };
          keepJudges(run, createJudges(failed));
        },
      );
    },
    startInsights: (run, { chosen }) => {
      const pending = { ...createInsights(run.id), status: 'pending', updatedAt: clock.now() };
      keepInsights(run, pending);
      start(
        run,
        async () => {
          const found = await findInsights(loadReviewedRun(store, run.id), { chosen, signal: ending.signal });
          const now = clock.now();
          keepInsights(run, { ...pending, ...found, status: 'completed', generatedAt: now, updatedAt: now });
        },
        (error) => keepInsights(run, { ...fail(pending, error), updatedAt: clock.now() }),
      );
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort(new Error(interrupted.message));
      await Promise.all(underWay);
    },
  };
}

interface RunError {
  code: string;
  message: string;
}

function explain(error: unknown, signal: AbortSignal): RunError {
  if (signal.aborted) return interrupted;
  if (!(error instanceof ModelError)) return internal;
  const codes = { filtered: 'MODEL_ANSWER_FILTERED', refused: 'MODEL_REFUSED' };
  const code = error.kind === 'filtered' || error.kind === 'refused' ? codes[error.kind] : 'MODEL_UNAVAILABLE';
  return { code, message: describeError(error) };
}

function withoutCases({ status, errorCode, summary, generatedAt, modelUsed, threshold }: RunJudges['goalCompletion']) {
  return { status, errorCode, summary, generatedAt, modelUsed, threshold };
}

function createInsights(runId: string): RunInsights {
  return {
    schemaVersion: 1,
    scope: { kind: 'eval_run', id: runId },
    status: 'not_requested',
    reasonCode: null,
    retryable: false,
    error: null,
    generatedAt: null,
    updatedAt: null,
    summary: null,
    coverage: { unit: 'iterations', analyzed: 0, total: 0, truncated: false, lowConfidence: true },
    findings: [],
    truncation: { truncated: false, omittedFindings: 0, omittedEvidence: 0, contractTruncated: false },
  };
}

function fail(content: RunInsights, error: RunError): RunInsights {
  return { ...content, status: 'failed', reasonCode: error.code, retryable: error.code !== 'MODEL_REFUSED', error };
}
