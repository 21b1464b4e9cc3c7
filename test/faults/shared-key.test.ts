import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { contractLimits } from '../../src/embedded/limits.ts';
import { gate } from '../../src/gate/gate.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan.ts';
import { openContractService } from '../support/contract-service.ts';
import { borrowGlobals } from '../support/faults/borrowed-globals.ts';
import { QuietClock } from '../support/faults/quiet-clock.ts';
import { type Route, routes } from '../support/faults/routes.ts';
import { startServiceFront } from '../support/faults/service-front.ts';
import { startFixtureMcpServer, text } from '../support/fixture-mcp-server.ts';
import { jobOnBranch } from '../support/hosted-gate.ts';

// Twenty jobs of a matrix with one key, which the service answers sixty times a minute: on one clock that nobody waits for.

const jobs = 20;
const rateLimit = { perMinute: 60, burst: 10 };

interface Answer {
  request: string;
  atMs: number;
  status: number;
  retryAfterMs: number;
}

const clock = new QuietClock();
const globals = borrowGlobals(clock, 1);
const resources = new AsyncDisposableStack();

afterAll(async () => {
  await resources.disposeAsync();
  clock[Symbol.dispose]();
  globals[Symbol.dispose]();
});

/** Every second job has a server that fails. */
async function openJob(index: number, service: Awaited<ReturnType<typeof openContractService>>, serverUrl: string) {
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
    'job-index': String(index),
    tests: '- title: works\n  steps:\n    - toolCall: work\n',
  });
  const plan = await clock.standStill(planGate(options, { cwd: process.cwd(), environment: jobOnBranch }));
  const run = async () => {
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
    return { exitCode, expected: index % 2, answers, runId };
  };
  return { run, answers };
}

describe('twenty jobs with one key', () => {
  it('all come to their own verdict, soon after their runs, and do not press the service', async () => {
    const startServer = async (isBroken: boolean) =>
      resources.use(
        await startFixtureMcpServer({
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
    const opened = await Promise.all(
      Array.from({ length: jobs }, (_, index) => openJob(index, service, servers[index % 2 === 0 ? 0 : 1].url)),
    );
    const ends = await Promise.all(opened.map(({ run }) => run()));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual(ends.map(({ expected }) => expected));
    expect(new Set(ends.map(({ runId }) => runId)).size).toBe(jobs);
    const answers = ends.flatMap((end) => end.answers);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(jobs);
    expect(refused.length / answers.length).toBeLessThan(0.35);
    expect(ends.flatMap((end) => listUndercut(end.answers))).toEqual([]);
  });
});

/** Requests that came again before the time was over that the service had asked to wait. */
function listUndercut(answers: readonly Answer[]): Answer[] {
  return answers.filter(({ request, atMs, status, retryAfterMs }, index) => {
    const next = answers.slice(index + 1).find((later) => later.request === request);
    return status === 429 && next !== undefined && next.atMs < atMs + retryAfterMs;
  });
}
