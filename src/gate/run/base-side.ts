import { describeError, GateError, ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { endSentence } from '../../base/text.ts';
import type { Clock } from '../../base/time.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { hostIds } from '../../model/host-ids.ts';
import { expandHosts, expandRevisions } from '../../suite/build.ts';
import { loadSuites } from '../../suite/load.ts';
import { nameBaseMarker } from '../../server/environment.ts';
import type { ServerUpstream } from '../../server/running-server.ts';
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
import { openPlaces } from './open-places.ts';
import { renewServers } from './renew-servers.ts';
import { type RunLifetime, startRunLifetime, type Teardown } from './run-lifetime.ts';
import { createTestServers, type ServerWitnessBook, type TestServers } from './test-servers.ts';

/** The base of a gate: its checkout, its servers, and the reason why it cannot be compared with. No failure of the base ends the gate. */
export interface BaseSide extends AsyncDisposable {
  readonly planned: PlannedBase;
  readonly cache: BaseCache;
  /** Cancels only runs of the base: its share of the gate's time is over, or its server is lost. */
  readonly lifetime: RunLifetime;
  /** Returns the reason why nothing is compared; null as long as there is none. */
  problem(): string | null;
  /** Skips the comparison from here on. Logs the first reason. */
  giveUp(reason: string): void;
  /** Checks the base out, and runs its setup unless earlier jobs have run everything that the plan asks for and `needsSetup` is not set. */
  prepare(options?: { needsSetup?: boolean }): Promise<void>;
  /** Returns the servers of the base, which the first call starts; empty if they cannot be started. */
  open(planned: PlannedSuite): Promise<readonly RegisteredServer[]>;
  /**
   * Renews the processes of a side's servers, so that they have served no other round, if this gate started them. Returns the most that a
   * process of these servers may serve.
   *
   * @throws {ServerStartError} if one does not start again
   */
  renew(servers: readonly RegisteredServer[], traits: BackendTraits): Promise<ProcessScope>;
  /** Finds another process that answers at the port of one of its servers, whose answers then show nothing about the base; null if there is none. */
  findForeignOwner(): string | null;
  /** Lists the targets for reading the surfaces of its servers, which it starts; empty if they cannot be started. */
  listSurfaceTargets(): Promise<readonly SurfaceTarget[]>;
  /** Ids of the cases of a suite that the base does not have. */
  listNew(planned: FileSuite): string[];
}

export interface BaseContext {
  plan: Pick<GatePlan, 'suites' | 'service' | 'isolation' | 'timeoutMs' | 'behaviour'>;
  lifetime: RunLifetime;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  environment: Readonly<Record<string, string | undefined>>;
  processMarker: string | undefined;
  witnesses: ServerWitnessBook;
  /** The directories in which the base's programs keep files. */
  side: SideDirectories | null;
  /** The recordings that answer the requests of its servers; null without any. */
  upstream: ServerUpstream | null;
  /** Returns what the servers need to start; null until the backend is open. */
  getScope: () => { backend: EvalBackend; teardown: Teardown } | null;
}

/** The base's share of the gate's time, so that a base that hangs leaves enough for the change. */
const shareOfTime = 0.5;

/** Opens the base of a gate; starts nothing before `prepare`. */
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
  /** Runs a step of the base. Its errors only end the comparison; an error that is not the base's is a bug and is thrown. */
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
  const install = async (): Promise<void> => {
    const { package: release } = planned;
    if (release === null || opened !== null) return;
    await attempt('installed', async () => {
      logger.info(`Installing ${planned.label} into ${release.directory}.`);
      const { installPackage } = await import('./install-package.ts');
      const { directory } = release;
      const installed = await installPackage(release, { directory, environment, signal: lifetime.cancelRun });
      opened = installed;
      planned.release = `${release.name}@${installed.version}`;
      planned.label = `${release.name} ${installed.version}`;
      for (const server of planned.servers) server.command = installed.command;
      logger.info(`The base is ${planned.label}. Its server starts with ${JSON.stringify(installed.command)}.`);
    });
  };
  const checkOut = async (): Promise<void> => {
    await install();
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
      const { runSetup } = await import('../../server/open-server.ts');
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
    const { service: ownService, suites, isolation, behaviour } = plan;
    const { servers: ofBase } = planned;
    const own = { servers: ofBase, service: ownService, suites, isolation, behaviour, recordSuffix: ' (base)' };
    const created = createTestServers(own, {
      witnesses: context.witnesses,
      environment,
      processMarker,
      side: context.side,
      // Its directory is in those of the side.
      places: openPlaces(own, context.side),
      upstream: context.upstream,
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
    prepare: async ({ needsSetup = false } = {}) => {
      const files = plan.suites.filter((suite) => suite.kind === 'file');
      const isCached = files.every(({ suite, whole }) =>
        outlineSuite(suite, whole).cases.every(
          (testCase) =>
            (known != null && !(known[suite.id] ?? []).includes(testCase.id)) ||
            cache.find(suite.id, testCase).length >= (testCase.runs ?? 1),
        ),
      );
      // Checks out before the server of the change starts, which could change what git does afterwards.
      await checkOut();
      if (!isCached || needsSetup) await setUp();
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

/** The file name of inline tests, which the base has as well. */
const inlineTests = 'tests';

/** Lists the cases of the base's own evals files, by suite; null if they cannot be read, so that no case counts as new. */
async function readKnown({ patterns }: PlannedBase, cwd: string): Promise<Record<string, string[]> | null> {
  if (patterns.length === 0) return null;
  const { suites, findings } = await loadSuites([...patterns], { cwd });
  if (findings.length > 0) return null;
  const listIds = (suite: (typeof suites)[number]) =>
    [suite, expandHosts(suite, hostIds)]
      .flatMap((each) => [each, expandRevisions(each)])
      .flatMap(({ cases }) => cases.map(({ id }) => id));
  return Object.fromEntries(suites.map((suite) => [suite.id, listIds(suite)]));
}
