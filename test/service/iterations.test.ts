import { describe, expect, it } from 'vitest';
import { getTrace, listIterations, listSteps } from '../../src/service/iterations.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { openTestClient } from '../support/service/service-client.ts';

const run = { projectId: 'p_1', runId: 'r_1' };
const iteration = (id: string) => ({ id, status: 'completed', result: 'passed' });

async function listIds(pages: ReturnType<typeof listIterations>): Promise<string[][]> {
  const ids: string[][] = [];
  for await (const page of pages) ids.push(page.map(({ id }) => id));
  return ids;
}

describe('listIterations', () => {
  it('asks for the largest pages and follows the cursor to the end', async () => {
    await using server = await startHttpServer([
      json(200, { items: [iteration('a'), iteration('b')], nextCursor: 'c/2=' }),
      json(200, { items: [iteration('b'), iteration('c')], nextCursor: null }),
    ]);
    await using client = openTestClient(server);
    expect(await listIds(listIterations(client, run))).toEqual([['a', 'b'], ['c']]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/v1/projects/p_1/eval-runs/r_1/iterations?limit=200',
      '/api/v1/projects/p_1/eval-runs/r_1/iterations?limit=200&cursor=c%2F2%3D',
    ]);
  });

  it('repeats a page that was lost, with the same cursor', async () => {
    await using server = await startHttpServer([
      json(200, { items: [iteration('a')], nextCursor: '2' }),
      json(502, {}),
      json(200, { items: [iteration('b')] }),
    ]);
    await using client = openTestClient(server);
    expect(await listIds(listIterations(client, run))).toEqual([['a'], ['b']]);
    expect(server.requests[1]?.url).toBe(server.requests[2]?.url);
  });

  it('asks again three times within ten seconds where the run is not known yet', async () => {
    const unknown = json(404, { code: 'NOT_FOUND', message: 'No run.' });
    await using server = await startHttpServer([unknown, unknown, unknown, json(200, { items: [iteration('a')] })]);
    await using client = openTestClient(server);
    expect(await listIds(listIterations(client, run))).toEqual([['a']]);
    expect(client.clock.sleepsMs).toEqual([2000, 3000, 5000]);
    await using never = await startHttpServer(unknown);
    await using other = openTestClient(never);
    await expect(listIds(listIterations(other, run))).rejects.toMatchObject({ status: 404 });
    expect(never.requests.length).toBe(4);
  });

  it('refuses the same page over and over', async () => {
    await using server = await startHttpServer(json(200, { items: [iteration('a')], nextCursor: '1' }));
    await using client = openTestClient(server);
    await expect(listIds(listIterations(client, run))).rejects.toMatchObject({ code: 'PROTOCOL', path: 'nextCursor' });
    expect(server.requests.length).toBe(2);
  });

  it('does not pass off a part as the whole when a page cannot be read', async () => {
    await using server = await startHttpServer([
      json(200, { items: [iteration('a')], nextCursor: '2' }),
      json(200, { items: [{ id: 'b' }] }),
    ]);
    await using client = openTestClient(server);
    const pages = listIterations(client, run);
    expect((await pages.next()).done).toBe(false);
    await expect(pages.next()).rejects.toMatchObject({ code: 'PROTOCOL', path: 'items.0.status' });
  });

  it("ends with the signal's reason between two pages", async () => {
    const controller = new AbortController();
    await using server = await startHttpServer(json(200, { items: [iteration('a')], nextCursor: '2' }));
    await using client = openTestClient(server);
    const pages = listIterations(client, { ...run, signal: controller.signal });
    await pages.next();
    controller.abort(new Error('Enough.'));
    await expect(pages.next()).rejects.toThrow('Enough.');
    expect(server.requests.length).toBe(1);
  });
});

describe('reading the parts of an iteration', () => {
  const part = { ...run, iterationId: 'i_1' };

  it('lists the results of the steps', async () => {
    const step = { stepId: 's1', stepIndex: 0, kind: 'toolCall', status: 'ok', reason: null };
    await using server = await startHttpServer([json(200, { items: [step] }), json(200, { items: [] })]);
    await using client = openTestClient(server);
    expect(await listSteps(client, part)).toEqual([step]);
    expect(await listSteps(client, part)).toEqual([]);
    expect(server.requests[0]?.url).toBe('/api/v1/projects/p_1/eval-runs/r_1/iterations/i_1/steps');
  });

  it('reads the trace as the service sends it', async () => {
    const trace = { messages: [{ role: 'user', content: 'hi' }], videoUrl: 'https://v.example' };
    await using server = await startHttpServer(json(200, trace));
    await using client = openTestClient(server);
    expect(await getTrace(client, part)).toEqual(trace);
    expect(server.requests[0]?.url).toBe('/api/v1/projects/p_1/eval-runs/r_1/iterations/i_1/trace');
  });

  it("fails with the service's details if there is no trace", async () => {
    const details = { reason: 'TRACE_NOT_AVAILABLE' };
    await using server = await startHttpServer(json(404, { code: 'NOT_FOUND', message: 'No trace.', details }));
    await using client = openTestClient(server);
    await expect(getTrace(client, part)).rejects.toMatchObject({ status: 404, details });
  });
});
