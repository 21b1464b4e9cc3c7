import type { z } from 'zod';
import { ConfigurationError, describeError } from '../../../../src/base/errors.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import type { ModelName } from '../../../../src/models/language-model.ts';
import { parseModelName } from '../../../../src/models/model-name.ts';
import { runReviewOperations } from '../../../../src/service/operations/run-reviews.ts';
import { type ModelParts, requireModel } from '../ask-model.ts';
import { ApiError, invalid } from '../envelope.ts';
import { requireRun } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readModel } from '../plan-run-cases.ts';
import type { Reviews } from '../review/reviews.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';

/** The minimum score of a passed case, if neither the request nor the suite sets one. */
const standardThreshold = 0.7;

type JudgeRequest = z.output<typeof runReviewOperations.judgeEvalRun.body>;

/**
 * Serves judges and insights of runs that have ended. Each request asks a model, so a repeat needs `force`. A suite may request that its
 * completed runs are judged automatically.
 */
export function serveRunReviews(
  serve: ServeOperation,
  parts: ModelParts & { store: Store; reviews: Reviews; logger: Logger },
): void {
  const { store, reviews } = parts;

  const findJudgeSettings = (run: RunRecord) => store.suites.get(run.projectId, run.suiteId)?.content.judge ?? {};

  /** Starts the judges with the settings of the request, else of the suite. */
  const startJudges = (run: RunRecord, body: JudgeRequest): void => {
    const settings = findJudgeSettings(run);
    const model = body.model ?? settings.model ?? null;
    const defaultModel = model === null ? parts.defaultModel : readModelName(model);
    const suiteModel = findSuiteModel(store, run);
    const chosen = requireModel({ ...parts, defaultModel }, { operation: 'The judge', suiteModel });
    reviews.startJudges(run, { chosen, threshold: body.threshold ?? settings.threshold ?? standardThreshold });
  };

  const judgeByItself = (runId: string): void => {
    const run = store.runs.get(runId);
    if (run?.status !== 'completed') return;
    const { enabled, autoRun } = findJudgeSettings(run);
    if (enabled !== true || autoRun !== true) return;
    try {
      startJudges(run, {});
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reviews.refuseJudges(run, error);
    }
  };
  store.runs.onEnd((runId) => {
    try {
      judgeByItself(runId);
    } catch (error) {
      parts.logger.error(`The judge of run ${runId} did not start: ${describeError(error)}`);
    }
  });

  serve(runReviewOperations.judgeEvalRun, ({ ids, body }) => {
    const run = requireEndedRun(store, ids);
    const { status } = reviews.getJudges(run).goalCompletion;
    const receipt = { runId: run.id, projectId: run.projectId, status: 'pending' };
    if (status === 'pending') return receipt;
    if (status === 'completed') requireForce(body.force, 'judged');
    if (findJudgeSettings(run).enabled === false && body.enable !== true) {
      throw invalid('enable: The suite has its judge disabled; send true to judge this run all the same');
    }
    startJudges(run, body);
    return receipt;
  });

  serve(runReviewOperations.requestEvalRunInsights, ({ ids, body }) => {
    const run = requireEndedRun(store, ids);
    const { status } = reviews.getInsights(run, true);
    const receipt = { runId: run.id, projectId: run.projectId, status: 'pending' };
    if (status === 'pending') return receipt;
    if (status === 'completed') requireForce(body.force, 'analyzed');
    const chosen = requireModel(parts, { operation: 'The insights', suiteModel: findSuiteModel(store, run) });
    reviews.startInsights(run, { chosen });
    return receipt;
  });
}

function requireEndedRun(store: Store, { projectId, runId }: { projectId: string; runId: string }): RunRecord {
  const run = requireRun(store, projectId, runId);
  if (run.status === 'running') throw invalid('The run has not ended; wait until it has.');
  return run;
}

function requireForce(force: boolean | undefined, done: string): void {
  if (force !== true) throw invalid(`force: The run was ${done} already; send true to spend on it again`);
}

function readModelName(text: string): ModelName {
  try {
    return parseModelName(text);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw invalid(`model: ${error.message}`);
  }
}

function findSuiteModel(store: Store, { projectId, suiteId }: RunRecord): ModelName | null {
  const model = store.suites.get(projectId, suiteId)?.content.model ?? null;
  return model === null ? null : readModel({ model });
}
