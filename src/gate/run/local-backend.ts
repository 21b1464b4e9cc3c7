import { createId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import { findChromium } from '../../browser/find-chromium.ts';
import { createBrowserPool } from '../../browser/pool.ts';
import { createHostPrograms } from '../../host-drivers/host-programs.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import { createRunner, type RunCase } from '../../runner/runner.ts';
import type { RunningServer } from '../../server/running-server.ts';
import { defaultTimeoutMs } from '../../suite/build.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import type { GatePlan } from '../plan/plan.ts';
import { createAnswerUse } from './answer-use.ts';
import type { EvalBackend } from './backend.ts';
import { noCleanupJournal } from './cleanup-journal.ts';
import { openServerTunnel } from './job-server.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { openLocalRelay } from './local-relay.ts';
import type { JobUpstream } from './job-upstream.ts';
import type { LocalServer } from './local-server.ts';
import { createLocalRecord } from './local-record.ts';
import { startLocalRun } from './local-run.ts';
import type { JobModels } from './open-models.ts';
import { maxWarmProcesses, noSessions } from './scheduling.ts';
import type { ServerRegistration, ServerScope } from './server-scope.ts';
import { openSnapshots } from './snapshots.ts';
import { createWitnessRedaction } from './test-servers.ts';

/** The part of a plan that says how evals run in this process. */
export type LocalPlan = Pick<
  GatePlan,
  'service' | 'timeoutMs' | 'hasTraceLog' | 'models' | 'variables' | 'snapshots' | 'ownChecks' | 'cwd'
>;

export interface LocalOptions {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  /** The job's environment, in which the backend searches for a browser; without it, no app is shown. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The directory of the job, which programs of hosts must not change. */
  cwd?: string;
  /** The witnesses of server processes, which know how calls ended. */
  witnesses?: ServerWitnesses | undefined;
  /** The recorded answers of APIs; null if no suite has any. */
  upstream?: JobUpstream | null;
  /** Runs each iteration; the engine's function by default. */
  runCase?: RunCase | undefined;
}

/** The evals file has its own limit of iterations. */
const iterationsPerCase = 100;
const maxExplained = 1000;

/** Opens the backend that runs evals in this process. */
export async function openLocalBackend(
  plan: LocalPlan,
  { clock, logger, redactor, environment, witnesses, upstream = null, cwd = '/', runCase }: LocalOptions,
): Promise<EvalBackend> {
  const answers = createAnswerUse();
  const redactWitness = createWitnessRedaction(redactor);
  const models = plan.models === null ? null : await openJobModels(plan.models, plan, { clock, logger, redactor });
  const snapshots = plan.snapshots === null ? null : openSnapshots(plan.snapshots, redactor);
  const browser = environment === undefined ? null : createBrowserPool(findChromium(environment), clock);
  const hosts = environment === undefined ? null : createHostPrograms({ clock, logger, environment, cwd });
  const servers = new Map<string, LocalServer>();
  const record = createLocalRecord(clock);
  const runner = createRunner({
    record,
    onSpoken: (serverId, protocolVersion) => servers.get(serverId)?.spoken.add(protocolVersion),
    clock,
    logger,
    onBatch: ({ sessions, limit }) => {
      const isExclusive = limit === 1;
      if (isExclusive) {
        for (const [id, { running }] of servers) if (!sessions.has(id)) running.planSessions(noSessions);
      }
      for (const [id, count] of sessions) {
        const warmProcesses = Math.min(limit, maxWarmProcesses);
        servers.get(id)?.running.planSessions({ count, warmProcesses, isExclusive });
      }
    },
    // The plan refuses longer timeouts of cases; the default of an evals file may exceed a short limit of the gate.
    iterationTimeoutMs: Math.max(plan.timeoutMs, defaultTimeoutMs),
    runTimeoutMs: plan.timeoutMs,
    propagatesTraces: plan.hasTraceLog,
    variables: plan.variables,
    browser,
    hosts,
    witnesses: witnesses ?? null,
    snapshots,
    ownChecks: plan.ownChecks,
    runCase,
  });
  const relay = plan.service.isTunnelled ? await openRelay(clock) : null;
  const openTunnel = async (running: RunningServer, server: ServerRegistration, scope: ServerScope) => {
    if (relay === null) return null;
    const { isOwnServerName } = plan.service;
    const { grants } = relay;
    const own = { isOwnServerName, isServiceLocal: true, isOneAtATime: true, proxy: undefined };
    return await openServerTunnel(running, { ...server, ...own, grants, journal: noCleanupJournal }, scope);
  };
  return {
    traits: {
      hasCheapRuns: true,
      watchesProcesses: true,
      hasAllTraces: true,
      maxExplained,
      iterationsPerCase,
      pollIntervalMs: 200,
    },
    register: async (running, server, scope) => {
      const { serverName, shownName, alias, access } = server;
      const tunnel = await openTunnel(running, server, scope);
      const id = tunnel?.id ?? createId('srv');
      const local: LocalServer = {
        running,
        target: () => ({
          ...(tunnel === null ? running.endpoint : { url: tunnel.publicUrl().reveal() }),
          serverName,
          shownName,
          protocol: running.protocol,
          // The tunnel adds the credentials itself.
          access: tunnel === null ? access : null,
        }),
        spoken: new Set(),
        tools: null,
      };
      servers.set(id, local);
      const known = {
        // Revisions are dates, so sorting them as text sorts them by date.
        listSpoken: () => [...local.spoken].toSorted(),
        listTools: () => local.tools,
      };
      if (tunnel !== null) return { ...tunnel, ...known };
      const direct = {
        countBreaks: () => 0,
        listRefusals: () => [],
        explainRefusal: (...asked: Parameters<RunningServer['explainRefusal']>) => running.explainRefusal(...asked),
      };
      return { id, name: serverName, alias, ...direct, ...known } satisfies RegisteredServer;
    },
    // Each run checks the tool lists of its own servers.
    refuseToolClashes: async () => {},
    prepare: async (planned) => {
      if (planned.kind === 'stored') throw new Error('A suite of a service was planned without a service.');
      const { suite, whole, requirements } = planned;
      return {
        suiteId: suite.id,
        outline: outlineSuite(suite, whole),
        requirements,
        caseIds: new Map(suite.cases.map(({ id }) => [id, id])),
        run: {},
        written: [],
        judgedHere: null,
      };
    },
    start: async (prepared, context) =>
      await startLocalRun(prepared, {
        ...context,
        runner,
        record,
        models,
        witnesses,
        redactWitness,
        answers,
        upstream,
        known: servers,
      }),
    readBaseline: async () => {
      throw new Error('A baseline of a service was planned without a service.');
    },
    startBrowser: async () => void (await browser?.open()),
    waitForRuns: async () => await runner.waitForRuns(),
    listUnusedAnswers: (suites) => answers.listUnused(suites),
    collect: async () => ({
      recordings: (await models?.collect()) ?? [],
      modelNotes: models?.listWarnings() ?? [],
      snapshots: snapshots?.listChanged() ?? [],
    }),
    [Symbol.asyncDispose]: async () => {
      await runner[Symbol.asyncDispose]();
      await browser?.[Symbol.asyncDispose]();
      await hosts?.[Symbol.asyncDispose]();
      await relay?.[Symbol.asyncDispose]();
      await models?.[Symbol.asyncDispose]();
    },
  };
}

async function openRelay(clock: Clock): ReturnType<typeof openLocalRelay> {
  const local = await import('./local-relay.ts');
  return await local.openLocalRelay(clock);
}

async function openJobModels(
  plan: NonNullable<LocalPlan['models']>,
  { cwd }: Pick<LocalPlan, 'cwd'>,
  options: Pick<LocalOptions, 'clock' | 'logger' | 'redactor'>,
): Promise<JobModels> {
  const { openModels } = await import('./open-models.ts');
  if (!plan.isInPlace) return openModels(plan, options);
  const { saveRecording } = await import('./save-recording.ts');
  const { redactor } = options;
  return openModels(plan, { ...options, keep: async (made) => await saveRecording(made, { cwd, redactor }) });
}
