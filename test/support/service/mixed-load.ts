import { systemClock } from '../../../src/base/time.ts';
import type { ApiAnswer, ApiCaller } from './api-caller.ts';
import { inlineTest } from './contract-service.ts';

/** The results of a part of the load. */
interface Stretch {
  sent: number;
  elapsedMs: number;
}

export interface MixedLoad {
  /** The number of answers by status. */
  statuses: ReadonlyMap<number, number>;
  /** One line for each answer with an unexpected status. At most 20. */
  errors: readonly string[];
  /** Sends requests for the given time, and then until every user has finished a visit. */
  run(durationMs: number): Promise<Stretch>;
}

type Ask = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  expected: number,
  body?: unknown,
) => Promise<ApiAnswer['body']>;

const mostErrors = 20;

/**
 * Sends a mix of requests to a service: users who each create a project, fill it, read it, run a suite while no other user does, and delete it.
 * `rate` is the number of requests per second of all users together; a slower service gets fewer.
 */
export function createLoad(
  caller: ApiCaller,
  { serverUrl, rate, users }: { serverUrl: string; rate: number; users: number },
): MixedLoad {
  const statuses = new Map<number, number>();
  const errors: string[] = [];
  let isRunning = false;
  let visits = 0;

  const createAsk =
    (takeTurn: () => Promise<void>): Ask =>
    async (method, path, expected, body) => {
      await takeTurn();
      const answer = method === 'get' ? await caller.get(path) : await caller[method](path, body);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === expected) return answer.body;
      const line = `${method} ${path}: ${answer.status} instead of ${expected} ${JSON.stringify(answer.body)}`;
      if (errors.length < mostErrors) errors.push(line);
      throw new Error(line);
    };

  const visit = async (ask: Ask): Promise<void> => {
    const name = `Visit ${(visits += 1)}`;
    const { id: projectId } = await ask('post', '/projects', 201, { name });
    const project = `/projects/${projectId}`;
    const server = await ask('post', `${project}/servers`, 201, {
      name: 'demo',
      enabled: true,
      transportType: 'http',
      url: serverUrl,
    });
    const tests = [inlineTest('echo'), { ...inlineTest('echo'), title: 'Echoes again' }];
    const suite = await ask('post', `${project}/eval-suites`, 201, {
      name,
      serverIds: [server.id],
      model: 'none/none',
      tests,
    });
    const suitePath = `${project}/eval-suites/${suite.suiteId}`;
    const report = (externalRunId: string, passed: boolean) =>
      ask('post', `${project}/eval-ingest/report`, 200, {
        suiteName: 'Reported',
        externalRunId,
        results: [{ caseTitle: 'Says hello', passed, trace: { messages: [{ role: 'user', content: 'Hello.' }] } }],
      });
    await report('first', true);
    const { runId } = await report('second', false);
    const runPath = `${project}/eval-runs/${runId}`;
    const { items } = await ask('get', `${runPath}/iterations`, 200);
    for (let round = 0; round < 4; round += 1) {
      await ask('get', '/me', 200);
      await ask('get', `${project}/servers`, 200);
      await ask('get', `${project}/servers/${server.id}`, 200);
      await ask('patch', `${project}/servers/${server.id}`, 200, { name: `demo ${round}` });
      await ask('get', `${project}/eval-suites`, 200);
      await ask('patch', suitePath, 200, { description: `Round ${round}` });
      const created = await ask('post', `${suitePath}/cases`, 201, { ...inlineTest('echo'), title: `Case ${round}` });
      await ask('get', `${suitePath}/cases`, 200);
      await ask('delete', `${suitePath}/cases/${created.id}`, 200);
      await ask('get', runPath, 200);
      await ask('get', `${runPath}/compare`, 200);
      await ask('get', `${runPath}/iterations/${items[0].id}/trace`, 200);
      await ask('get', `${runPath}/iterations/${items[0].id}/steps`, 200);
      await ask('post', `${suitePath}/cases/generate`, 422, {});
      await ask('get', `${project}/environments`, 200);
      await ask('post', `${project}/servers`, 400, { name: 'incomplete' });
      await ask('get', `${project}/eval-suites/none`, 404);
    }
    if (!isRunning) {
      isRunning = true;
      try {
        await ask('post', `${project}/servers/${server.id}/tools`, 200, {});
        const run = await ask('post', `${project}/eval-runs`, 202, { suiteId: suite.suiteId });
        for (let status = 'running'; status === 'running';) {
          ({ status } = await ask('get', `${project}/eval-runs/${run.runId}`, 200));
        }
      } finally {
        isRunning = false;
      }
    }
    await ask('delete', suitePath, 200);
    await ask('delete', project, 200);
  };

  return {
    statuses,
    errors,
    run: async (durationMs) => {
      const startedMs = systemClock.monotonicMs();
      let sent = 0;
      const takeTurn = async () => {
        const dueMs = startedMs + (1000 * sent) / rate;
        sent += 1;
        const waitMs = dueMs - systemClock.monotonicMs();
        if (waitMs > 0) await systemClock.sleep(waitMs);
      };
      const ask = createAsk(takeTurn);
      const isOver = () => systemClock.monotonicMs() - startedMs >= durationMs || errors.length === mostErrors;
      const visitAll = async () => {
        // Errors are noted where they happen; the next visit has a new project.
        while (!isOver()) await visit(ask).catch((error: unknown) => noteFailure(errors, error));
      };
      await Promise.all(Array.from({ length: users }, visitAll));
      return { sent, elapsedMs: systemClock.monotonicMs() - startedMs };
    },
  };
}

/** Notes an error; a broken connection counts too. */
function noteFailure(errors: string[], error: unknown): void {
  const line = error instanceof Error ? error.message : String(error);
  if (errors.length < mostErrors && !errors.includes(line)) errors.push(line);
}
