import { Disposer } from '../../base/disposal.ts';
import {
  BudgetError,
  ConfigurationError,
  DeadlineError,
  FirstFailureError,
  NetworkError,
  ProtocolError,
  ServerStartError,
} from '../../base/errors.ts';
import { createId } from '../../base/ids.ts';
import { type Clock, race, startTimeLimit } from '../../base/time.ts';
import { findToolClash } from '../../engine/tool-list.ts';
import { type EraChoice, readEra } from '../../mcp/protocol.ts';
import type { TestCase } from '../../cases/case.ts';
import type { ProcessWitness, ServerWitnesses } from '../../model/process-end.ts';
import { isTerminalStatus } from '../../model/run.ts';
import { asksModel, type SuiteCase } from '../../cases/suite.ts';
import type { ModelName, ModelSource, TextMask } from '../../models/language-model.ts';
import { type CaseServer, listCaseServers, nameCaseServer, nameStepServers } from '../../runner/case-servers.ts';
import { type ConnectedTarget, connectTarget } from '../../runner/connect-target.ts';
import type { IterationActivity, IterationWorkspace, OwnTarget, PlannedTarget, Runner } from '../../runner/runner.ts';
import { scheduleCases } from '../../runner/schedule.ts';
import { showPaths } from '../../workspace/placeholders.ts';
import { compileCase } from '../../suite/compile.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import type { AnswerUse } from './answer-use.ts';
import type { RunStart, StartedRun } from './backend.ts';
import type { JobUpstream } from './job-upstream.ts';
import type { LocalServer } from './local-server.ts';
import type { LocalIteration, LocalRecord } from './local-record.ts';
import type { JobModels } from './open-models.ts';
import type { PreparedSuite } from './prepared-suite.ts';
import type { GateProgress } from './progress.ts';
import { explainInterruption } from './run-lifetime.ts';

/** How long the gate waits for a run whose server has died to name the case. */
const lastWordsMs = 1000;

/** The waits between attempts to connect. A server that answered a moment ago and fails three times in a row has ended. */
const retryWaitsMs = [500, 1000];

const pageSize = 200;

interface LocalStart extends RunStart {
  runner: Runner;
  record: LocalRecord;
  /** Null if no model is asked. */
  models: JobModels | null;
  witnesses: ServerWitnesses | undefined;
  redactWitness: (witness: ProcessWitness) => ProcessWitness;
  answers: AnswerUse;
  /** The recorded answers of APIs; null if no suite has any. */
  upstream: JobUpstream | null;
  /** The servers by the id of their registration. */
  known: ReadonlyMap<string, LocalServer>;
}

/**
 * Starts a run of the cases of a suite in this process.
 *
 * @throws {NetworkError} | {ProtocolError} if one of its servers does not answer
 */
export async function startLocalRun(
  { outline, requirements, caseIds }: PreparedSuite,
  start: LocalStart,
): Promise<StartedRun> {
  const { planned, lifetime, teardown, clock, onProgress, runner, record } = start;
  if (planned.kind === 'stored') throw new Error('A suite of a service was started without a service.');
  const askedAtMs = clock.monotonicMs();
  const launchedAtMs = clock.now();
  const { numbers, compared, models } = start;
  const source = models?.open({ suiteId: outline.id, requirements, numbers, compared }) ?? null;
  const cases = planCases(planned, outline, start);
  const openWorkspace = planned.workspace === null && planned.upstream === null ? null : planWorkspaces(planned, start);
  const targets = await connectServers(cases, { ...start, openWorkspace });
  refuseClashes(cases, targets);
  const follow: FollowIteration = (iteration) => (activity) =>
    onProgress({ kind: 'iteration', suite: outline.name, ...iteration, activity });
  const runs = cases.map((each) => planIterations(each, { targets, source, openWorkspace, numbers, follow }));
  const hasOneProcess = start.servers.some(
    ({ id }) => start.known.get(id)?.running.report.isolation === 'one process for the run',
  );
  const { batches, report } = scheduleCases(runs, {
    ...planned.concurrency,
    hasOneProcess,
    hasWorkspaces: planned.workspace !== null,
  });
  const iterations = runs.flatMap((each) => each.iterations);
  const runId = createId('run');
  const reportProgress = () => {
    const finished = run.countFinished();
    onProgress({ kind: 'run-progress', suite: outline.name, finished, iterations: iterations.length });
  };
  const run = record.open(runId, {
    suiteId: outline.id,
    iterations,
    onOutcome: ({ caseId }, outcome) => {
      const hasEnded = outcome.result !== null && outcome.steps.every(({ status }) => status !== 'skipped');
      if (hasEnded && compared === null) start.answers.add(outline.id, caseId, outcome.usedAnswers);
      if (compared === null) models?.endIteration(outline.id, caseId);
      if (outcome.result === 'failed') start.onFailure?.(caseId);
      reportProgress();
    },
  });
  const launch = { askedAtMs: launchedAtMs, answeredAtMs: clock.now() };
  teardown.add(`cancel the run of ${outline.name}`, async () => {
    if (!isTerminalStatus(run.describe().status)) runner.cancel(runId);
  });
  onProgress({ kind: 'run-started', suite: outline.name, runId, iterations: iterations.length, url: null });
  runner.start(runId, batches);
  const settled = runner.waitForRuns(runId);
  return {
    caseIds,
    url: null,
    launch,
    concurrency: report,
    current: () => run.describe(),
    countBreaks: () => start.servers.reduce((sum, server) => sum + server.countBreaks(askedAtMs), 0),
    waitForEnd: async () => {
      let interruption = null;
      try {
        await race(settled, { signals: [lifetime.cancelRun] });
      } catch (error) {
        if (!lifetime.cancelRun.aborted || lifetime.abort.aborted) throw error;
        const { reason } = lifetime.cancelRun;
        interruption = explainInterruption(reason);
        // A call that the server died of ends the run by itself, and names the case. An immediate cancellation would come before that.
        if (reason instanceof ServerStartError) await waitBriefly(settled, { clock, signal: lifetime.abort });
        runner.cancel(runId);
        // The usage is known only when the iterations in progress have ended. A job that is cancelled has no time to wait for that.
        if (reason instanceof BudgetError || reason instanceof FirstFailureError)
          await race(settled, { signals: [lifetime.abort] });
      }
      reportProgress();
      onProgress({ kind: 'run-finished', suite: outline.name, status: run.describe().status });
      return interruption;
    },
    cancel: async () => runner.cancel(runId),
    reread: async () => run.describe(),
    listIterations: async function* listIterations() {
      const all = run.list();
      for (let at = 0; at < all.length; at += pageSize) yield all.slice(at, at + pageSize);
    },
    listSteps: async (iterationId) => run.listSteps(iterationId),
    readTrace: async (iterationId) => run.readTrace(iterationId),
  };
}

async function waitBriefly(
  settled: Promise<void>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  using limit = startTimeLimit(clock, { afterMs: lastWordsMs, what: 'The end of the run', signal });
  await race(settled, { signals: [limit.signal] }).catch(() => {});
}

/** A server of a run, and its protocol era. */
interface RunServer extends CaseServer {
  local: LocalServer;
  era: EraChoice;
}

/** A case as one run executes it. */
interface PlannedCase {
  caseId: string;
  testCase: TestCase;
  /** The servers that it uses; steps without a server name use the first one. */
  servers: readonly [RunServer, ...RunServer[]];
  /** Null for a case that asks no model. */
  model: ModelName | null;
}

function planCases(
  { suite }: FileSuite,
  outline: PreparedSuite['outline'],
  { servers: registered, known }: Pick<LocalStart, 'servers' | 'known'>,
): PlannedCase[] {
  const servers = registered.map(({ id, alias, name }): RunServer => {
    const local = known.get(id);
    if (local === undefined) throw new Error(`The server ${name} was planned for and never registered.`);
    return { id, alias, name, local, era: local.running.protocol };
  });
  return outline.cases.flatMap((outlined) => {
    const found = suite.cases.find(({ id }) => id === outlined.id);
    return found === undefined ? [] : [planCase({ ...found, runs: outlined.runs ?? found.runs }, suite, servers)];
  });
}

function planCase(suiteCase: SuiteCase, suite: FileSuite['suite'], servers: readonly RunServer[]): PlannedCase {
  const compiled = compileCase(suiteCase, suite, { dialect: 'embedded' });
  const { advancedConfig, model = null } = compiled;
  const { setup, teardown, protocol } = advancedConfig ?? {};
  const [first, ...others] = servers.filter(({ era }) => protocol === undefined || era === readEra(protocol));
  if (first === undefined) throw new Error(`The case ${suiteCase.title} was planned without a server.`);
  const ofRevision: [RunServer, ...RunServer[]] = [first, ...others];
  const name = (step: TestCase['steps'][number]) => nameStepServers(step, ofRevision);
  const testCase = {
    ...compiled,
    steps: compiled.steps.map(name),
    advancedConfig: {
      ...advancedConfig,
      ...(setup && { setup: setup.map(name) }),
      ...(teardown && { teardown: teardown.map(name) }),
    },
  };
  return {
    caseId: suiteCase.id,
    testCase,
    servers: listCaseServers(compiled, ofRevision),
    model: asksModel(suiteCase) && model !== null ? readModel(model) : null,
  };
}

function readModel(model: string): ModelName {
  const slash = model.indexOf('/');
  return { provider: model.slice(0, slash), name: model.slice(slash + 1) };
}

/** Connects to each server of the cases once. */
async function connectServers(
  cases: readonly PlannedCase[],
  {
    clock,
    witnesses,
    lifetime,
    openWorkspace,
  }: Pick<LocalStart, 'clock' | 'witnesses' | 'lifetime'> & { openWorkspace: OpenWorkspace | null },
): Promise<ReadonlyMap<string, ConnectedTarget>> {
  const signal = lifetime.cancelRun;
  const servers = new Map(cases.flatMap((each) => each.servers).map((server) => [server.id, server]));
  const targets = [...servers.values()].map(nameTarget);
  await using workspace = (await openWorkspace?.(targets, null)) ?? null;
  const own = new Map(workspace?.servers.map((server) => [server.serverId, server]));
  const connect = async (server: RunServer): Promise<ConnectedTarget> => {
    for (let attempt = 0; ; attempt += 1) {
      const { target, witness = witnesses?.find(server.id) ?? null } = own.get(server.id) ?? nameTarget(server);
      try {
        return await connectTarget(target, { witness, clock, signal });
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = retryWaitsMs[attempt];
        const isFault = error instanceof NetworkError || error instanceof ProtocolError;
        if (!isFault || error.cause instanceof DeadlineError || waitMs === undefined)
          throw adviseOn(error, attempt + 1);
        await clock.sleep(waitMs, { signal });
      }
    }
  };
  return new Map(
    await Promise.all(
      [...servers.values()].map(async (server) => {
        const connected = await connect(server);
        if (connected.readOnlyTools !== null) server.local.tools = [...connected.readOnlyTools.keys()];
        return [server.id, connected] as const;
      }),
    ),
  );
}

function nameTarget(server: RunServer): PlannedTarget & { witness?: ProcessWitness } {
  return { serverId: server.id, target: { ...server.local.target(), serverName: nameCaseServer(server) } };
}

/** Starts these servers for one iteration alone; null is for a connection that serves none. */
type OpenWorkspace = (
  servers: readonly PlannedTarget[],
  iteration: { caseId: string; number: number } | null,
) => Promise<IterationWorkspace>;

function planWorkspaces(
  planned: FileSuite,
  { known, redactWitness, upstream }: Pick<LocalStart, 'known' | 'redactWitness' | 'upstream'>,
): OpenWorkspace {
  const files = planned.workspace?.files ?? null;
  return async (targets, iteration) => {
    await using opened = new Disposer();
    const instances = new Map(targets.map(({ serverId }) => [serverId, known.get(serverId)?.running.instances]));
    const places = [...instances.values()].find((each) => each != null)?.places ?? null;
    if (places === null && files !== null) throw new Error('A workspace was planned for servers that have no places.');
    const place = files === null || places === null ? null : opened.use(await places.open(files));
    const answers =
      iteration === null || planned.upstream === null ? null : upstream?.openIteration(planned, iteration);
    const openProxy = answers?.openProxy ?? upstream?.openIdle(planned) ?? null;
    // The servers end first, so that no request comes later.
    if (answers != null) opened.use({ [Symbol.asyncDispose]: async () => answers.finish() });
    const start = async ({ serverId, target }: PlannedTarget): Promise<OwnTarget> => {
      const own = instances.get(serverId);
      if (own == null) throw new Error('A process for each iteration was planned for a server that cannot have them.');
      const instance = opened.use(await own.open({ place, openProxy }));
      const { serverName, shownName, protocol } = target;
      const witness = redactWitness(instance.witness);
      return { serverId, target: { ...instance.endpoint, serverName, shownName, protocol, access: null }, witness };
    };
    const started: OwnTarget[] = [];
    for (const target of targets) started.push(await start(target));
    const [first, ...others] = started;
    if (first === undefined) throw new Error('A workspace was planned without a server.');
    const kept = opened.move();
    return {
      path: place?.paths.workspace ?? null,
      mask:
        place === null || places === null
          ? null
          : { hide: (value) => places.hide(value), show: (value) => showPaths(value, place.paths) },
      findLack: () => answers?.findLack() ?? null,
      servers: [first, ...others],
      [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
    };
  };
}

function adviseOn(error: unknown, attempts: number): unknown {
  if (!(error instanceof NetworkError || error instanceof ProtocolError)) return error;
  const tried = attempts === 1 ? '' : ` It was tried ${attempts} times.`;
  error.hint ??= `The server answered the gate when it was started. Check its output for the reason.${tried}`;
  return error;
}

/**
 * Refuses servers with the same tool names: assertions and models name a tool without its server.
 *
 * @throws {ConfigurationError} naming two servers of one case that list a tool of the same name
 */
function refuseClashes(cases: readonly PlannedCase[], targets: ReadonlyMap<string, ConnectedTarget>): void {
  for (const { testCase, servers } of cases) {
    const message = findToolClash(
      testCase.title,
      servers.map((server) => ({
        name: nameCaseServer(server),
        tools: targets.get(server.id)?.readOnlyTools?.keys() ?? [],
      })),
    );
    if (message !== null) throw new ConfigurationError([{ input: 'mcp-config', code: 'tool-name-clash', message }]);
  }
}

/** Makes the listener of one iteration. */
type FollowIteration = (
  iteration: Pick<Extract<GateProgress, { kind: 'iteration' }>, 'id' | 'title' | 'number'>,
) => (activity: IterationActivity) => void;

function useMask(mask: TextMask | null): { mask?: TextMask } {
  return mask === null ? {} : { mask };
}

function planIterations(
  { caseId, testCase, servers, model }: PlannedCase,
  {
    targets,
    source,
    openWorkspace,
    numbers,
    follow,
  }: {
    targets: ReadonlyMap<string, ConnectedTarget>;
    source: ModelSource | null;
    openWorkspace: OpenWorkspace | null;
    numbers: RunStart['numbers'];
    follow: FollowIteration;
  },
) {
  const find = (server: RunServer): PlannedTarget & { readOnlyTools: ConnectedTarget['readOnlyTools'] } => {
    const connected = targets.get(server.id);
    if (connected === undefined) throw new Error(`The server ${server.name} was planned for and never connected to.`);
    return { serverId: server.id, ...connected };
  };
  const [first, ...others] = servers;
  const reached: [ReturnType<typeof find>, ...Array<ReturnType<typeof find>>] = [find(first), ...others.map(find)];
  const lists = reached.map(({ readOnlyTools }) => readOnlyTools);
  const iterations = Array.from({ length: testCase.runs }, (_, index): LocalIteration => {
    const iterationNumber = index + 1;
    const number = numbers?.get(caseId)?.[index] ?? iterationNumber;
    const request = { caseId, iterationNumber, apiKeys: new Map<string, string>() };
    const id = createId('iter');
    const isOnly = testCase.runs === 1 && number === 1;
    return {
      id,
      onActivity: follow({ id, title: testCase.title, number: isOnly ? null : number }),
      iterationNumber,
      caseId,
      testCase,
      servers: reached,
      model,
      openModel:
        model === null || source === null
          ? null
          : (mask) => source.openSession({ ...request, ...useMask(mask), model }),
      openJudge:
        source === null
          ? null
          : (judge, mask) => source.openSession({ ...request, ...useMask(mask), model: judge, purpose: 'judge' }),
      openWorkspace: openWorkspace === null ? null : () => openWorkspace(reached, { caseId, number }),
    };
  });
  return {
    testCase,
    iterations,
    readOnlyTools: lists.includes(null) ? null : new Map(lists.flatMap((list) => [...(list ?? [])])),
  };
}
