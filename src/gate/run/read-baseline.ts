import { caseOperations } from '../../service/operations/cases.ts';
import { callOperation } from '../../service/call-operation.ts';
import type { Logger } from '../../base/logger.ts';
import { appendAll } from '../../base/lists.ts';
import type { Baseline, BaselineCase } from '../../model/comparison.ts';
import type { CaseOutline, SuiteResults } from '../../model/results.ts';
import type { Run } from '../../model/run.ts';
import { getRun, listSuiteRuns } from '../../service/run-client.ts';
import { findOldestSuite } from '../../service/suite-client.ts';
import type { WireCase } from '../../service/wire.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import type { Dialect } from '../../suite/dialect.ts';
import { matchStoredCases } from '../../suite/sync.ts';
import { createTally } from '../../verdict/tally.ts';
import { noEvidence } from './evidence-log.ts';
import { noIterationLog } from './trace-log.ts';
import { openTraceJudge } from './local-assertions.ts';
import type { PlannedBaseline } from '../plan/plan-past.ts';
import type { FileSuite, PlannedSuite } from '../plan/plan-suites.ts';
import { outlineStoredCase } from './prepare-stored-suite.ts';
import { refuseUnknown } from './prepare-suite.ts';
import { readIterations } from './read-results.ts';
import type { HostedProject } from './hosted-project.ts';
import { readHostedRun } from './hosted-run.ts';
import type { RunLifetime } from './run-lifetime.ts';

interface BaselineSource {
  service: HostedProject;
  lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>;
}

/**
 * Reads the baseline that a service keeps: for each suite the newest completed run of its branch, or the named run. Judges iterations as
 * this gate does. Uses the service's current cases: a case that differs from the file is not compared. Returns null, with a warning, if
 * there is no such run yet.
 *
 * @throws {ConfigurationError} if the named run has not completed
 * @throws {ServiceError} if the service does not know it
 */
export async function readBaseline(
  planned: PlannedBaseline,
  suites: readonly PlannedSuite[],
  { logger, ...source }: BaselineSource & { logger: Logger },
): Promise<Baseline | null> {
  const cases: BaselineCase[] = [];
  let newestMs: number | null = null;
  for (const suite of suites) {
    const run = await findRun(suite, planned, source);
    if (run === null) continue;
    appendAll(cases, await readRun(suite, run, source));
    newestMs = Math.max(newestMs ?? 0, run.createdAtMs ?? 0);
  }
  if (newestMs === null) {
    const message = `The service has no completed run of ${planned.source}, so nothing is compared; a first run has none.`;
    logger.warning(message);
    return null;
  }
  const branch = /^branch:(.+)$/.exec(planned.source)?.[1] ?? null;
  return { source: planned.source, startedAt: new Date(newestMs).toISOString(), commit: null, branch, cases };
}

async function findRun(
  suite: PlannedSuite,
  { runId }: PlannedBaseline,
  { service: { client, projectId }, lifetime }: BaselineSource,
): Promise<Run | null> {
  const signal = lifetime.cancelRun;
  if (runId !== null) {
    const run = await getRun(client, { projectId, runId, signal });
    if (run.status === 'completed') return run;
    const message = `The run ${runId} is ${run.status}, and only one that has completed can be a baseline.`;
    throw refuseUnknown('baseline', message);
  }
  const name = suite.kind === 'file' ? suite.baselineName : null;
  if (name === null) return null;
  const stored = await findOldestSuite(client, { projectId, name, signal });
  if (stored === undefined) return null;
  const runs = await listSuiteRuns(client, { projectId, suiteId: stored.id, limit: 100, signal });
  return runs.find(({ status }) => status === 'completed') ?? null;
}

async function readRun(suite: PlannedSuite, run: Run, { service, lifetime }: BaselineSource): Promise<BaselineCase[]> {
  const { client, projectId } = service;
  const { suiteId } = run;
  const options = { signal: lifetime.cancelRun };
  const { items: stored } = await callOperation(client, caseOperations.listEvalCases, { projectId, suiteId }, options);
  const { id, cases, caseIds } =
    suite.kind === 'file' ? outlineFile(suite, stored, client.profile.dialect) : outlineStored(suiteId, stored);
  const outline = { id, name: id, file: null, cases, leftOut: [] };
  const tally = createTally(outline, { caseIds });
  const judge = suite.kind === 'file' ? await openTraceJudge(suite.whole, caseIds, client.profile.dialect) : null;
  const source = { run: readHostedRun(service, run.id), runId: run.id, signal: lifetime.abort };
  const keepers = { iterationLog: noIterationLog, traceLog: null, evidence: noEvidence, round: 0 };
  await readIterations({ suite: outline, tally, judge }, { ...source, ...keepers });
  return listBaselineCases(tally.finish({ run, runUrl: null, isComplete: true, tunnelBreaks: 0, interruption: null }));
}

interface StoredOutline {
  id: string;
  cases: CaseOutline[];
  /** Maps the service's id of a case to the id in the outline. */
  caseIds: ReadonlyMap<string, string>;
}

/** Outlines the file's cases that the service keeps, and the cases that only the service has. */
function outlineFile({ whole }: FileSuite, stored: readonly WireCase[], dialect: Dialect): StoredOutline {
  const { id, cases } = outlineSuite(whole, whole);
  const matches = new Map(matchStoredCases(whole, stored, { dialect }).map((match) => [match.testCase.id, match]));
  const known = cases.flatMap((member) => {
    const match = matches.get(member.id);
    if (match === undefined) return [];
    // The number of runs is no part of a case's definition.
    const isSame = match.fields.every((field) => field === 'runs');
    return [{ ...member, runs: null, definitionHash: isSame ? member.definitionHash : null }];
  });
  const idsByStored = new Map([...matches].map(([caseId, match]) => [match.stored.id, caseId]));
  const foreign = stored.filter((each) => !idsByStored.has(each.id)).map(outlineStoredCase);
  return {
    id,
    cases: [...known, ...foreign],
    caseIds: new Map([...idsByStored, ...foreign.map((member) => [member.id, member.id] as const)]),
  };
}

function outlineStored(suiteId: string, stored: readonly WireCase[]): StoredOutline {
  return { id: suiteId, cases: stored.map(outlineStoredCase), caseIds: new Map(stored.map(({ id }) => [id, id])) };
}

function listBaselineCases({ suiteId, cases }: SuiteResults): BaselineCase[] {
  return cases
    .filter(({ passed, failed }) => passed + failed > 0)
    .map(({ id, title, passed, failed, definitionHash, replayed }) => {
      return { suiteId, id, title, passed, total: passed + failed, definitionHash, replayed: replayed.total };
    });
}
