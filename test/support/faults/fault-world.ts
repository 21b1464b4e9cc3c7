import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { CancelledError, GateError } from '../../../src/base/errors.ts';
import { gate } from '../../../src/gate/gate.ts';
import type { RemoteResources } from '../../../src/gate/run/cleanup-journal.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import type { GateProgress } from '../../../src/gate/run/progress.ts';
import type { Report } from '../../../src/model/report.ts';
import { type ContractService, openContractService } from '../service/contract-service.ts';
import { text } from '../servers/fixture-mcp-server.ts';
import { type LightMcpServer, startLightMcpServer } from '../servers/light-mcp-server.ts';
import { jobOnBranch } from '../gate/hosted-gate.ts';
import { borrowGlobals } from './borrowed-globals.ts';
import type { Certificates } from './certificates.ts';
import { breakConnections, type ConnectionBreaker } from './connections.ts';
import './preloaded.ts';
import { QuietClock } from './quiet-clock.ts';
import { type Route, routes } from './routes.ts';
import { type ServiceFront, startServiceFront } from './service-front.ts';

/** A job with its server, a hosted service and the network between them, all in this process and on one clock. */
export interface FaultWorld extends AsyncDisposable {
  clock: QuietClock;
  service: ContractService;
  front: ServiceFront;
  connections: ConnectionBreaker;
  mcpServer: LightMcpServer;
  /** Set if the service uses TLS. */
  certificates: Certificates | undefined;
  /** The cleanup journal that the job has written for another process. */
  readonly book: RemoteResources | null;
  /** Variables of the job, in addition to the usual ones. */
  environment: Record<string, string>;
  /** Makes the job test the server at this URL instead. */
  useServer(url: string): void;
  /** Disposes the resource together with the world. */
  defer<T extends AsyncDisposable>(resource: T): T;
  /** Waits for this after the job, before the test checks for resources to clean up. */
  afterwards(work: Promise<void>): void;
  /** Kills the job at its current step: none of its later requests arrives. */
  kill(): void;
  /** Stops the job like a signal to its process. */
  stop: AbortController;
  /** Runs the job to its end. */
  run(inputs?: Record<string, string>): Promise<JobEnd>;
}

/** The observable results of a job. */
export interface JobEnd {
  exitCode: number;
  outcome: string;
  /** All texts of the job: reasons, warnings, the message of an error. */
  said: string;
  report: Report | null;
  /** The times of all attempts to request a route, including those that never arrived. */
  requests: (route: Route) => readonly number[];
  /** The number of runs that the service has ever started. */
  runs: number;
  /** The URLs of the project's server records. */
  serverUrls: string[];
  /** Descriptions of the resources that the job did not clean up; empty if there are none. */
  leftovers: string[];
  /** True if it wrote a cleanup journal for another process. */
  hasNote: boolean;
  /** Measured on the job's own clock. */
  tookMs: number;
}

/** Cases of one iteration of four seconds; each has a separate page. */
export const writeTests = (titles: readonly string[]): string =>
  titles
    .map((title) => `- title: ${title}\n  steps:\n    - toolCall: work\n      arguments: { seconds: 4 }\n`)
    .join('');

/** The time limit after which every job has ended, whatever happens. */
export const timeoutMinutes = 40;

export interface WorldOptions {
  /** The seed of all jitter. */
  seed: number;
  /** Makes the service and its relay use TLS. */
  certificates?: Certificates;
}

export async function createFaultWorld({ seed, certificates }: WorldOptions): Promise<FaultWorld> {
  const clock = new QuietClock();
  const globals = borrowGlobals(clock, seed);
  const mcpServer = await startLightMcpServer({
    work: {
      call: async ({ args, signal }) => {
        await clock.sleep(Number(args['seconds']) * 1000, { signal }).catch(() => {});
        return text('done');
      },
    },
    fail: { call: () => ({ ...text('It broke.'), isError: true }) },
  });
  const service = await openContractService({ clock });
  const front = await startServiceFront(new URL(service.baseUrl).origin, {
    pageSize: 1,
    ...(certificates === undefined ? {} : { certificate: certificates.good }),
  });
  const connections = breakConnections(front, clock);
  const stop = new AbortController();
  let book: RemoteResources | null = null;
  let isKilled = false;
  let serverUrl = mcpServer.url;
  const environment: Record<string, string> = {};
  const resources = new AsyncDisposableStack();
  resources.use(mcpServer);
  const pending: Array<Promise<void>> = [];

  const run = async (inputs: Record<string, string> = {}): Promise<JobEnd> => {
    const log: string[] = [];
    const redactor = createRedactor();
    const keep = (line: string) => void log.push(redactor.redact(line));
    const startedMs = clock.monotonicMs();
    const options = parseGateOptions({
      service: 'svc',
      'base-url': `${front.origin}/api/v1`,
      'api-key': service.apiKey,
      'server-url': serverUrl,
      timeout: `${timeoutMinutes}m`,
      tests: writeTests(['one', 'two', 'three']),
      ...inputs,
    });
    const plan = await clock.standStill(
      planGate(options, { cwd: process.cwd(), environment: { ...jobOnBranch, ...environment } }),
    );
    const end = await gate(plan, {
      clock,
      logger: { ...silentLogger, debug: keep, info: keep, warning: keep, error: keep, group: keep },
      redactor,
      signal: stop.signal,
      environment: {},
      onProgress: (progress: GateProgress) => keep(JSON.stringify(progress)),
      saveRemoteResources: (next) => {
        book = next;
      },
    }).then(
      ({ report, exitCode }) => ({
        exitCode,
        report,
        outcome: report.verdict.outcome,
        reasons: report.verdict.reasons.map(({ message }) => message),
      }),
      (error: unknown) => {
        // Any other error is a bug, for which there is no exit code.
        if (!(error instanceof GateError)) throw error;
        return { exitCode: error.exitCode, report: null, outcome: 'error', reasons: [error.message, error.hint ?? ''] };
      },
    );
    const tookMs = clock.monotonicMs() - startedMs;
    const said = [...end.reasons, ...log].join('\n');
    for (const secret of [service.apiKey, ...front.secrets]) {
      if (`${said}${JSON.stringify(end.report)}`.includes(secret)) throw new Error('The job gave a secret away.');
    }
    const requests = new Map(Object.keys(routes).map((route) => [route, connections.attempts(route as Route)]));
    await Promise.all(pending);
    const { runs, left, serverUrls } = await inspectService(service, front);
    return {
      exitCode: end.exitCode,
      outcome: end.outcome,
      said,
      report: end.report,
      requests: (route) => requests.get(route) ?? [],
      runs,
      serverUrls,
      leftovers: left,
      hasNote: book !== null && !isKilled,
      tookMs,
    };
  };

  return {
    clock,
    service,
    front,
    connections,
    mcpServer,
    certificates,
    get book() {
      return book;
    },
    environment,
    useServer: (url) => {
      serverUrl = url;
    },
    defer: (resource) => resources.use(resource),
    afterwards: (work) => void pending.push(work),
    kill: () => {
      isKilled = true;
      front.cut();
      stop.abort(new CancelledError());
    },
    stop,
    run,
    [Symbol.asyncDispose]: async () => {
      connections[Symbol.dispose]();
      await front[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      await resources.disposeAsync();
      clock[Symbol.dispose]();
      globals[Symbol.dispose]();
    },
  };
}

/** Asks the service directly, without the broken network. */
async function inspectService({ project }: ContractService, front: ServiceFront) {
  const left: string[] = [];
  const servers: Array<{ url: string }> = (await project.get('/servers')).body.items;
  if (servers.length > 0) left.push('a server record');
  const suites: Array<{ id: string }> = (await project.get('/eval-suites')).body.items;
  if (suites.length > 1) left.push('a second suite');
  let runs = 0;
  for (const { id } of suites) {
    const items: Array<{ status: string }> = (await project.get(`/eval-suites/${id}/runs?limit=100`)).body.items;
    runs += items.length;
    if (items.some(({ status }) => status === 'running' || status === 'pending')) left.push('a run in progress');
  }
  if (front.relay.open > 0) left.push('a connection to the relay');
  return { runs, left, serverUrls: servers.map(({ url }) => url) };
}
