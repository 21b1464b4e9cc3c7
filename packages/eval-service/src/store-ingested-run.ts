import { isRecord } from '../../../src/base/json.ts';
import { meetsMinimumPassRate } from '../../../src/model/rate.ts';
import type { ToolCall } from '../../../src/model/run.ts';
import type { IngestResult, IngestRun } from '../../../src/service/bodies/ingest-body.ts';
import { createSuiteContent } from './bodies/stored-suite.ts';
import { readSentTrace } from './artifacts.ts';
import { ApiError } from './envelope.ts';
import { createId } from '../../../src/base/ids.ts';
import { describeIngestedCase } from './planned-case.ts';
import { judgeIntegrity, readScores } from './scores.ts';
import type { Store } from './store/open-store.ts';
import type { RunRecord } from './store/run-store.ts';
import type { SuiteRecord } from './store/suite-store.ts';

/** The store and the project of an ingestion. The functions of this file write, so the caller runs them in one transaction. */
export interface IngestScope {
  store: Store;
  projectId: string;
  now: number;
}

/**
 * Finds the run with this external id, or starts it in the oldest suite of its name. Creates the suite if there is none.
 *
 * @throws {ApiError} CONFLICT if the same id was used with another configuration.
 */
export function openIngestedRun(body: IngestRun, scope: IngestScope): { run: RunRecord; isReused: boolean } {
  const { store, projectId, now } = scope;
  const { externalRunId: externalId } = body;
  const evaluationConfigHash = body.evaluationConfigHash ?? null;
  const found = store.runs.getExternal(projectId, externalId);
  if (found !== undefined) {
    if (found.evaluationConfigHash === evaluationConfigHash) return { run: found, isReused: true };
    throw new ApiError('CONFLICT', 'This externalRunId was used with another evaluationConfigHash; use a new one.');
  }
  const suite = findSuite(body, scope);
  const id = createId('run');
  store.runs.insert({
    id,
    projectId,
    suiteId: suite.id,
    minimumPassRate: body.passCriteria?.minimumPassRate ?? suite.content.minimumAccuracy ?? 100,
    notes: body.notes ?? null,
    total: body.expectedIterations ?? 0,
    now,
    externalId,
    evaluationConfigHash,
  });
  return { run: reread(store, id), isReused: false };
}

function findSuite(
  { suiteName: name, suiteDescription, serverNames }: IngestRun,
  { store, projectId, now }: IngestScope,
): Pick<SuiteRecord, 'id' | 'content'> {
  const found = store.suites.list(projectId).find(({ content }) => content.name === name);
  if (found !== undefined) return found;
  const serverIds = (serverNames ?? []).flatMap((server) => store.servers.getByName(projectId, server)?.id ?? []);
  const content = createSuiteContent({ name, description: suiteDescription ?? undefined, serverIds });
  const suite = { id: createId('ste'), projectId, content, now };
  store.suites.insert(suite);
  return suite;
}

/**
 * Adds results to a run. Skips results whose external id the run already has. A result without one is identified by its position in the run,
 * so only results with ids can safely be sent again.
 *
 * @throws {ApiError} CONFLICT if a result is new and the run has ended.
 */
export function addResults(
  run: RunRecord,
  results: readonly IngestResult[],
  { store }: Pick<IngestScope, 'store'>,
): { inserted: number; skipped: number; total: number } {
  const cases = store.cases.list(run.suiteId);
  const before = run.passed + run.failed;
  const numbers = new Map<string, number>();
  let inserted = 0;
  for (const [index, result] of results.entries()) {
    const { caseTitle: title } = result;
    const declaredId = result.caseId ?? result.externalCaseId;
    const testCase =
      cases.find((record) => record.declaredId === declaredId) ?? cases.find(({ content }) => content.title === title);
    const ordinal = (numbers.get(title) ?? 0) + 1;
    numbers.set(title, ordinal);
    const { iterationNumber } = result.metadata ?? {};
    const caseKey = declaredId ?? testCase?.declaredId ?? title;
    const scores = readScores(result.metadata);
    store.plannedCases.insert(run.id, caseKey, describeIngestedCase(result, scores?.configHash ?? null));
    const isNew = store.iterations.ingest({
      runId: run.id,
      id: createId('iter'),
      caseKey,
      scores,
      externalId: result.externalIterationId ?? `${run.externalId}-${before + index + 1}`,
      caseId: testCase?.id ?? null,
      title,
      iterationNumber: typeof iterationNumber === 'number' ? Math.trunc(iterationNumber) : ordinal,
      result: result.passed ? 'passed' : 'failed',
      durationMs: result.durationMs === null || result.durationMs === undefined ? null : Math.round(result.durationMs),
      error: result.error ?? null,
      toolCalls: { actual: readToolCalls(result.actualToolCalls), expected: readToolCalls(result.expectedToolCalls) },
      model: result.model ?? null,
      provider: result.provider ?? null,
      tokensUsed: result.tokens?.total ?? null,
      trace: readSentTrace(result, { store, projectId: run.projectId, path: `results.${index}` }),
    });
    if (!isNew) continue;
    inserted += 1;
    store.runs.count(run.id, result.passed ? 'passed' : 'failed');
  }
  if (inserted > 0 && run.status !== 'running') {
    throw new ApiError('CONFLICT', `The run has ended already: it is ${run.status}.`);
  }
  const total = before + inserted;
  store.runs.setTotal(run.id, Math.max(run.total, total));
  return { inserted, skipped: results.length - inserted, total };
}

/**
 * Ends a run with the verdict on its results. A run that has ended stays unchanged.
 *
 * @throws {ApiError} CONFLICT if it was cancelled.
 */
export function finalizeRun({ id }: RunRecord, { store, now }: Pick<IngestScope, 'store' | 'now'>): RunRecord {
  const run = reread(store, id);
  if (run.status === 'cancelled') throw new ApiError('CONFLICT', 'The run was cancelled.');
  if (run.status !== 'running') return run;
  const total = run.passed + run.failed;
  store.runs.setTotal(id, total);
  store.runs.setScoreIntegrity(id, judgeIntegrity(store.iterations.listScores(id).values()));
  if (total === 0) {
    store.runs.end(id, { status: 'failed', result: null, failure: 'No results were sent.', now });
  } else {
    const isPassed = meetsMinimumPassRate(run.passed, total, run.minimumPassRate / 100);
    store.runs.end(id, { status: 'completed', result: isPassed ? 'passed' : 'failed', failure: null, now });
  }
  return reread(store, id);
}

function reread(store: Store, id: string): RunRecord {
  const run = store.runs.get(id);
  if (run === undefined) throw new Error(`Run ${id} was just written and is not there.`);
  return run;
}

/** Reads tool calls in the several spellings that reporters use. */
function readToolCalls(calls: IngestResult['actualToolCalls']): ToolCall[] {
  return (calls ?? []).map((call) => {
    const name = call['toolName'] ?? call['name'];
    const sent = call['arguments'] ?? call['args'] ?? call['input'];
    return { toolName: typeof name === 'string' ? name : '(unnamed)', arguments: isRecord(sent) ? { ...sent } : {} };
  });
}
