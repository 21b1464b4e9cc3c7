import type { ServerResponse } from 'node:http';
import { startHttpServer, type TestHttpServer } from '../network/http-server.ts';

/**
 * The fate of one request for a run: the correct answer, or a fault before or after the run is started. `full`: the limit of concurrent runs is
 * reached. `limited`: the key is used too fast.
 */
export type RunFate =
  | 'ok'
  | `${'reset' | 'down' | 'page' | 'shape'}-${'before' | 'after'}`
  | 'full'
  | 'limited'
  | 'refused';

export interface StartedRun {
  id: string;
  key: string;
  notes: string | null;
}

export interface RunService extends TestHttpServer {
  runs: StartedRun[];
  /** `POST` and `GET`, in the order of arrival. */
  methods: () => string;
}

/**
 * Starts a service with one suite, `s_1`. Its requests for runs get these fates one after the other, and then always the last one; a repeated key
 * starts nothing. `lists` is true if the runs can be listed.
 */
export async function startRunService(
  fates: readonly RunFate[],
  { runs = [], lists = () => true, headers = {} }: RunServiceOptions = {},
): Promise<RunService> {
  let asked = 0;
  const server = await startHttpServer((response, { method, body }) => {
    if (method === 'GET') {
      const items = runs.toReversed().map(({ id, notes }) => ({ id, suiteId: 's_1', status: 'running', notes }));
      answer(response, lists() ? 200 : 503, { items });
      return;
    }
    const fate = fates[Math.min(asked, fates.length - 1)]!;
    asked += 1;
    const request = JSON.parse(body) as { idempotencyKey: string; notes?: string };
    const { run, isNew } = findOrStart(runs, request, fate === 'ok' || fate.endsWith('-after'));
    if (fate.startsWith('reset')) response.destroy();
    else if (fate.startsWith('down')) answer(response, 503, {});
    else if (fate.startsWith('page')) response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>');
    else if (fate.startsWith('shape')) answer(response, 202, { accepted: true });
    else if (fate === 'full') {
      const details = { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 };
      answer(response, 429, { code: 'RATE_LIMITED', message: 'Full.', details }, headers);
    } else if (fate === 'limited') answer(response, 429, { code: 'RATE_LIMITED', message: 'Slow down.' });
    else if (fate === 'refused') answer(response, 400, { code: 'VALIDATION_ERROR', message: 'No.' });
    else
      answer(response, 202, { runId: run!.id, suiteId: 's_1', status: 'running', ...(isNew ? {} : { deduped: true }) });
  });
  return { ...server, runs, methods: () => server.requests.map(({ method }) => method).join(' ') };
}

interface RunServiceOptions {
  runs?: StartedRun[];
  lists?: () => boolean;
  /** The headers of the answer if it is full. */
  headers?: Record<string, string>;
}

function findOrStart(
  runs: StartedRun[],
  { idempotencyKey: key, notes }: { idempotencyKey: string; notes?: string },
  isCarriedOut: boolean,
): { run: StartedRun | undefined; isNew: boolean } {
  const known = runs.find((run) => run.key === key);
  if (known !== undefined || !isCarriedOut) return { run: known, isNew: false };
  const run = { id: `r_${runs.length + 1}`, key, notes: notes ?? null };
  runs.push(run);
  return { run, isNew: true };
}

function answer(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
