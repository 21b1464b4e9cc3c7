import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { contractLimits } from '../../src/service/api-limits.ts';
import { gate } from '../../src/gate/gate.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { borrowGlobals } from '../support/faults/borrowed-globals.ts';
import '../support/faults/preloaded.ts';
import { QuietClock } from '../support/faults/quiet-clock.ts';
import { type Route, routes } from '../support/faults/routes.ts';
import { startServiceFront } from '../support/faults/service-front.ts';
import { text } from '../support/servers/fixture-mcp-server.ts';
import { startLightMcpServer } from '../support/servers/light-mcp-server.ts';
import { jobOnBranch } from '../support/gate/hosted-gate.ts';
import { countDraws } from '../support/property-runs.ts';

// Twenty jobs of a matrix share one key, which the service answers sixty times a minute, and one virtual clock.

const jobs = 20;
const rateLimit = { perMinute: 60, burst: 10 };
const longestVerdictMs = 60_000;

interface Answer {
  request: string;
  atMs: number;
  status: number;
  retryAfterMs: number;
}

interface JobEnd {
  exitCode: number;
  runId: string;
  /** When the gate was over, its teardown included. */
  endedAtMs: number;
  answers: Answer[];
}

interface World {
  clock: QuietClock;
  service: ContractService;
  resources: AsyncDisposableStack;
}

/** Every second job has a server that fails. */
const expectExitCode = (index: number) => index % 2;

async function openJob(index: number, serverUrl: string, { clock, service, resources }: World) {
  const front = resources.use(await startServiceFront(new URL(service.baseUrl).origin, { pageSize: 200 }));
  const answers: Answer[] = [];
  for (const route of Object.keys(routes) as Route[]) {
    front.strike({
      route,
      from: 1,
      count: Number.POSITIVE_INFINITY,
      fault: async ({ request, forward, reply }) => {
        const given = await forward();
        const retryAfterMs = Number(given.headers['retry-after'] ?? 0) * 1000;
        const line = `${request.method} ${request.path}`;
        answers.push({ request: line, atMs: clock.monotonicMs(), status: given.status, retryAfterMs });
        reply(given);
      },
    });
  }
  const options = parseGateOptions({
    service: 'svc',
    'base-url': `${front.origin}/api/v1`,
    'api-key': service.apiKey,
    'server-url': serverUrl,
    'comment-id': String(index),
    tests: '- title: works\n  steps:\n    - toolCall: work\n',
  });
  const plan = await clock.standStill(planGate(options, { cwd: process.cwd(), environment: jobOnBranch }));
  return async (): Promise<JobEnd> => {
    // As a matrix starts: not in the same instant.
    await clock.sleep(index * 1000);
    let runId = '';
    const { exitCode } = await gate(plan, {
      clock,
      logger: silentLogger,
      redactor: createRedactor(),
      signal: new AbortController().signal,
      environment: {},
      onProgress: (progress) => {
        if (progress.kind === 'run-started') ({ runId } = progress);
      },
    });
    return { exitCode, runId, endedAtMs: clock.monotonicMs(), answers };
  };
}

/** Runs the whole matrix, in which every draw comes from the seed, and looks at what it left. */
async function runMatrix(seed: number): Promise<{ ends: JobEnd[]; verdictsAfterMs: number[]; left: unknown[] }> {
  using clock = new QuietClock();
  using _globals = borrowGlobals(clock, seed);
  await using resources = new AsyncDisposableStack();
  const startServer = async (isBroken: boolean) =>
    resources.use(
      await startLightMcpServer({
        work: {
          call: async ({ signal }) => {
            await clock.sleep(60_000, { signal }).catch(() => {});
            return { ...text('done'), isError: isBroken };
          },
        },
      }),
    );
  const servers = [await startServer(false), await startServer(true)] as const;
  const limits = { ...contractLimits, concurrentRuns: jobs };
  const service = resources.use(await openContractService({ clock, rateLimit, limits, concurrency: 4 }));
  const world = { clock, service, resources };
  const opened = await Promise.all(
    Array.from({ length: jobs }, (_, index) => openJob(index, servers[index % 2 === 0 ? 0 : 1].url, world)),
  );
  const ends = await Promise.all(opened.map((run) => run()));
  /** Slowly enough for the limit. */
  const ask = async (path: string) => {
    await clock.sleep(2000);
    return (await service.project.get(path)).body;
  };
  const verdictsAfterMs: number[] = [];
  const startedAtMs = clock.now() - clock.monotonicMs();
  for (const { runId, endedAtMs } of ends) {
    const { completedAt } = await ask(`/eval-runs/${runId}`);
    verdictsAfterMs.push(endedAtMs + startedAtMs - completedAt);
  }
  return { ends, verdictsAfterMs, left: (await ask('/servers')).items };
}

describe('twenty jobs with one key', () => {
  it.each(Array.from({ length: countDraws(2) }, (_, index) => index + 1))(
    'all come to their own verdict soon after their runs and do not press the service: seed %d',
    async (seed) => {
      const { ends, verdictsAfterMs, left } = await runMatrix(seed);
      expect(ends.map(({ exitCode }) => exitCode)).toEqual(ends.map((_, index) => expectExitCode(index)));
      expect(new Set(ends.map(({ runId }) => runId)).size).toBe(jobs);
      const answers = ends.flatMap((end) => end.answers);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length / answers.length).toBeLessThanOrEqual(0.2);
      expect(ends.flatMap((end) => listUndercut(end.answers))).toEqual([]);
      expect(Math.min(...verdictsAfterMs)).toBeGreaterThanOrEqual(0);
      expect(verdictsAfterMs.filter((afterMs) => afterMs > longestVerdictMs)).toEqual([]);
      expect(left).toEqual([]);
    },
  );
});

/** Requests that came again before the time was over that the service had asked to wait. */
function listUndercut(answers: readonly Answer[]): Answer[] {
  return answers.filter(({ request, atMs, status, retryAfterMs }, index) => {
    const next = answers.slice(index + 1).find((later) => later.request === request);
    return status === 429 && next !== undefined && next.atMs < atMs + retryAfterMs;
  });
}
