import { describeError, GateError, ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { endSentence } from '../../base/text.ts';
import type { Clock } from '../../base/time.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { expandRevisions } from '../../suite/build.ts';
import { loadSuites } from '../../suite/load.ts';
import { nameBaseMarker } from '../../server/environment.ts';
import type { SideDirectories } from '../../server/side-directories.ts';
import type { ProcessScope } from '../../model/base-comparison.ts';
import type { PlannedBase } from '../plan/plan-base.ts';
import type { FileSuite, PlannedSuite } from '../plan/plan-suites.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { GatePlan } from '../plan/plan.ts';
import { type BaseCache, openBaseCache } from './base-cache.ts';
import { openCheckout } from './base-checkout.ts';
import type { BackendTraits, EvalBackend } from './backend.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { renewServers } from './renew-servers.ts';
import { type RunLifetime, startRunLifetime, type Teardown } from './run-lifetime.ts';
import { createTestServers, type ServerWitnessBook, type TestServers } from './test-servers.ts';

/** The base of a gate: its checkout, its servers, and why it cannot be compared with. Nothing of it ends the gate. */
export interface BaseSide extends AsyncDisposable {
  readonly planned: PlannedBase;
  readonly cache: BaseCache;
  /** Cancels runs of the base alone: its own share of the gate's time is over, or its server is lost. */
  readonly lifetime: RunLifetime;
  /** Why nothing is compared; null as long as there is no reason. */
  problem(): string | null;
  /** Leaves the comparison out from here on. Logs the first reason. */
  giveUp(reason: string): void;
  /** Checks the base out, and runs its setup unless earlier jobs have run all that the plan asks for. */
  prepare(): Promise<void>;
  /** The servers of the base, which are started with the first call; empty where they cannot be. */
  open(planned: PlannedSuite): Promise<readonly RegisteredServer[]>;
  /**
   * Has the servers of a side serve the next round with processes that have served no other, where this gate started them. Returns what a
   * process of these servers may serve at the most.
   *
   * @throws {ServerStartError} when one does not start again
   */
  renew(servers: readonly RegisteredServer[], traits: BackendTraits): Promise<ProcessScope>;
  /** Says that another process answers at the port of one of its servers, which then says nothing of the base; null where none is known to. */
  findForeignOwner(): string | null;
  /** What the surfaces of its servers are read of, which are started for it; empty where they cannot be. */
  listSurfaceTargets(): Promise<readonly SurfaceTarget[]>;
  /** Ids of the cases of a suite that the base does not have. */
  listNew(planned: FileSuite): string[];
}

export interface BaseContext {
  plan: Pick<GatePlan, 'suites' | 'service' | 'isolation' | 'timeoutMs'>;
  lifetime: RunLifetime;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  environment: Readonly<Record<string, string | undefined>>;
  processMarker: string | undefined;
  witnesses: ServerWitnessBook;
  /** Where its programs keep files. */
  side: SideDirectories | null;
  /** What the servers are started with; null until the backend is open. */
  getScope: () => { backend: EvalBackend; teardown: Teardown } | null;
}

/** Of the time of the gate, so that a base that hangs leaves enough for the change. */
const shareOfTime = 0.5;

/** Opens the base of a gate; nothing is started before `prepare`. */
export async function openBaseSide(planned: PlannedBase, context: BaseContext): Promise<BaseSide> {
  const { plan, clock, logger, redactor, environment } = context;
  const { checkout } = planned;
  const cache = await openBaseCache(planned, logger);
  const lifetime = startRunLifetime(clock, {
    timeoutMs: plan.timeoutMs * shareOfTime,
    signal: context.lifetime.cancelRun,
  });
  const processMarker = context.processMarker === undefined ? undefined : nameBaseMarker(context.processMarker);
  let problem: string | null = null;
  let opened: AsyncDisposable | null = null;
  let servers: TestServers | null = null;
  let isSetUp = false;
  let known = cache.known();
  const giveUp = (reason: string) => {
    if (problem !== null) return;
    problem = endSentence(reason);
    logger.warning(`The comparison with the base is left out: ${problem}`);
  };
  /** Whatever the base does is no verdict; what is no fault of it is a bug. */
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    if (problem !== null) return;
    try {
      await work();
    } catch (error) {
      if (error instanceof ServerStartError && error.stderrTail.length > 0) {
        logger.group(`Last lines of the base's output`, error.stderrTail);
      }
      if (!(error instanceof GateError) && !lifetime.cancelRun.aborted && what !== 'checked out') throw error;
      giveUp(`The base could not be ${what}: ${describeError(error)}`);
    }
  };
  const checkOut = async (): Promise<void> => {
    if (checkout === null || opened !== null) return;
    await attempt('checked out', async () => {
      logger.info(`The base is ${planned.label}. It is checked out into ${checkout.directory}.`);
      opened = await openCheckout(checkout, { logger, signal: lifetime.cancelRun });
    });
    if (known === undefined) {
      known = await readKnown(planned, checkout.cwd);
      cache.setKnown(known);
    }
  };
  const setUp = async (): Promise<void> => {
    if (checkout === null || isSetUp) return;
    isSetUp = true;
    await attempt('set up', async () => {
      const { runSetup } = await import('../../server/open.ts');
      const [server] = planned.servers;
      await runSetup(
        planned.setup,
        {
          cwd: checkout.cwd,
          env: Object.fromEntries([...(server?.environment ?? [])].map(([name, value]) => [name, value.reveal()])),
          side: context.side,
          ...(server?.sandbox == null ? {} : { sandbox: server.sandbox }),
          ...(processMarker === undefined ? {} : { sessionMarker: processMarker }),
        },
        { clock, logger, environment, signal: lifetime.cancelRun },
      );
    });
  };
  const openServers = async (): Promise<void> => {
    if (servers !== null) return;
    const scope = context.getScope();
    if (scope === null) throw new Error('The base was opened before the backend.');
    await checkOut();
    await setUp();
    const { service: ownService, suites, isolation } = plan;
    const own = { servers: planned.servers, service: ownService, suites, isolation, recordSuffix: ' (base)' };
    const created = createTestServers(own, {
      witnesses: context.witnesses,
      environment,
      processMarker,
      side: context.side,
      ownsPort: true,
    });
    await attempt('started', async () => {
      const { backend, teardown } = scope;
      await created.open(backend, { lifetime, teardown, clock, logger, redactor, onProgress: () => {} });
      logger.info(`The server of the base is ready. The sides take turns by the seed ${planned.seed}.`);
    });
    servers = created;
  };
  if (planned.problem !== null) giveUp(planned.problem);
  return {
    planned,
    cache,
    lifetime,
    problem: () => problem,
    giveUp,
    prepare: async () => {
      const files = plan.suites.filter((suite) => suite.kind === 'file');
      const isCached = files.every(({ suite, whole }) =>
        outlineSuite(suite, whole).cases.every(
          (testCase) =>
            (known != null && !(known[suite.id] ?? []).includes(testCase.id)) ||
            cache.find(suite.id, testCase).length >= (testCase.runs ?? 1),
        ),
      );
      // Before the server of the change starts, which could have git do something else afterwards.
      await checkOut();
      if (!isCached) await setUp();
    },
    open: async (suite) => {
      await openServers();
      return problem === null ? (servers?.find(suite) ?? []) : [];
    },
    renew: async (side, traits) =>
      await renewServers(side, { witnesses: context.witnesses, traits, signal: context.lifetime.cancelRun }),
    findForeignOwner: () => servers?.findForeignOwner() ?? null,
    listSurfaceTargets: async () => {
      await openServers();
      return problem === null ? (servers?.listTargets() ?? []) : [];
    },
    listNew: ({ suite }) => {
      if (known == null || suite.location.file === inlineTests) return [];
      const own = new Set(known[suite.id]);
      return suite.cases.map(({ id }) => id).filter((id) => !own.has(id));
    },
    [Symbol.asyncDispose]: async () => {
      lifetime[Symbol.dispose]();
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** What inline tests are called; the base has the same. */
const inlineTests = 'tests';

/** Lists the cases of the base's own evals files, by suite; null where they cannot be read, so that none counts as new. */
async function readKnown({ patterns }: PlannedBase, cwd: string): Promise<Record<string, string[]> | null> {
  if (patterns.length === 0) return null;
  const { suites, findings } = await loadSuites([...patterns], { cwd });
  if (findings.length > 0) return null;
  const listIds = (suite: (typeof suites)[number]) =>
    [suite, expandRevisions(suite)].flatMap(({ cases }) => cases.map(({ id }) => id));
  return Object.fromEntries(suites.map((suite) => [suite.id, listIds(suite)]));
}
