import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startEchoServer } from '../support/servers/echo-server.ts';
import { createApiCaller } from '../support/service/api-caller.ts';
import { inlineTest } from '../support/service/contract-service.ts';

// `MOMENTS` says at how many moments the process is killed, `FACTOR` how fast its days pass.

const moments = Number(process.env['MOMENTS'] ?? 200);
const factor = Number(process.env['FACTOR'] ?? 1500);
const longestLifeMs = 1000;
const intervalMinutes = 5;
const intervalMs = intervalMinutes * 60_000;
const script = fileURLToPath(new URL('../support/service/fast-serve.ts', import.meta.url));
const readySchema = z.object({ baseUrl: z.string(), project: z.string() });
const pageSchema = z.object({ items: z.array(z.object({ name: z.string() })) });

async function startServe(dataDir: string, originMs: number) {
  const args = [script, dataDir, 'sk_soak', String(originMs), String(factor)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const ready = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line));
  const first = await Promise.race([ready, exited.then(() => null)]);
  if (first === null) throw new Error('The service exited before it was ready.');
  const { baseUrl, project } = readySchema.parse(JSON.parse(first));
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { project: createApiCaller(`${baseUrl}/projects/${project}`, 'sk_soak'), kill };
}

const dueSchema = z.array(z.object({ key: z.string(), answer: z.string() }));
const runsSchema = z.array(z.object({ id: z.string() }));
const scheduleSchema = z.object({ dueAt: z.number(), rewinds: z.number() });

/** What the store of a process that is gone says of a schedule: the due times with the runs that they started, and the next one. */
function readSchedule(dataDir: string, suiteId: string) {
  const database = new DatabaseSync(join(dataDir, 'embedded.db'), { readOnly: true });
  const kept = database.prepare('select key, answer from idempotency_keys where scope = ?').all(`schedule:${suiteId}`);
  const runs = database.prepare("select id from runs where suite_id = ? and source = 'schedule'").all(suiteId);
  const suite = database.prepare("select json_extract(record, '$.schedule') as schedule from suites where id = ?");
  const schedule = scheduleSchema.parse(JSON.parse(String(suite.get(suiteId)?.['schedule'])));
  database.close();
  const started = dueSchema.parse(kept).map(({ key, answer }) => ({
    dueTime: Number(key.split(':')[0]),
    runId: z.object({ runId: z.string() }).parse(JSON.parse(answer)).runId,
  }));
  return { started, runIds: runsSchema.parse(runs).map(({ id }) => id), ...schedule };
}

it(
  `keeps every acknowledged write, and repeats and loses no due time, when it is killed at ${moments} moments`,
  // For a process that hangs; a kill took 4 s on a busy machine.
  { timeout: (moments + 3) * 60_000 },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'kill-soak-'));
    await using mcp = await startEchoServer();
    const originMs = Date.now();
    const acknowledged: string[] = [];
    let suiteId = '';
    let firstDueAt: number | null = null;
    for (let moment = 0; moment < moments; moment += 1) {
      const serve = await startServe(dataDir, originMs);
      const record = { enabled: true, transportType: 'http', url: mcp.url };
      const save = (name: string) => serve.project.post('/servers', { ...record, name });
      // The moments are drawn from when the service is busy with writes.
      const first = await save(`server ${moment}.0`);
      expect(first).toMatchObject({ status: 201 });
      acknowledged.push(`server ${moment}.0`);
      if (suiteId === '') {
        const suite = {
          name: 'Scheduled',
          serverIds: [first.body.id],
          model: 'none/none',
          tests: [inlineTest('echo')],
        };
        const { body } = await serve.project.post('/eval-suites', suite);
        const written = await serve.project.patch(`/eval-suites/${body.suiteId}/schedule`, {
          enabled: true,
          intervalMinutes,
        });
        expect(written).toMatchObject({ status: 200 });
        suiteId = String(body.suiteId);
      }
      const write = async () => {
        for (let index = 1; ; index += 1) {
          const name = `server ${moment}.${index}`;
          // A request that the kill cut off has no answer: it may be there, or not.
          const answer = await save(name).catch(() => null);
          if (answer === null) return;
          expect(answer).toMatchObject({ status: 201 });
          acknowledged.push(name);
        }
      };
      const writing = write();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * longestLifeMs));
      await serve.kill();
      await writing;
      const { started, runIds, dueAt } = readSchedule(dataDir, suiteId);
      firstDueAt ??= Math.min(dueAt, ...started.map(({ dueTime }) => dueTime));
      // Repeated: a run without a due time of its own.
      expect(new Set(started.map(({ dueTime }) => dueTime)).size).toBe(started.length);
      expect(started.map(({ runId }) => runId).toSorted()).toEqual(runIds.toSorted());
      // Lost: the next due time is further away than one interval from the last that started a run. It is earlier where the kill came
      // between the run and the next due time; that due time has its run already, and gets no other.
      const served = Math.max(firstDueAt - intervalMs, ...started.map(({ dueTime }) => dueTime));
      expect(dueAt).toBeLessThanOrEqual(served + intervalMs);
      // A restart moves none.
      const times = [dueAt, ...started.map(({ dueTime }) => dueTime)];
      for (const time of times) expect(Math.abs(time - firstDueAt) % intervalMs).toBe(0);
      if ((moment + 1) % 10 === 0) {
        console.log(`${moment + 1} kills, ${acknowledged.length} acknowledged writes, ${started.length} due times`);
      }
    }
    const before = new Set(readSchedule(dataDir, suiteId).runIds);
    const serve = await startServe(dataDir, originMs);
    const { body } = await serve.project.get('/servers');
    // It goes on: another due time comes, with a run that passes.
    const listNew = async () => {
      const { body: runs } = await serve.project.get(`/eval-suites/${suiteId}/runs?limit=100`);
      return runs.items.filter(({ id }: { id: string }) => !before.has(id));
    };
    await expect
      .poll(listNew, { timeout: 120_000, interval: 100 })
      .toContainEqual(expect.objectContaining({ source: 'schedule', result: 'passed' }));
    await serve.kill();
    const kept = new Set(pageSchema.parse(body).items.map(({ name }) => name));
    const { started } = readSchedule(dataDir, suiteId);
    console.log(
      `${acknowledged.length} acknowledged writes, ${kept.size} kept; ${started.length} due times, each with one run.`,
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
    await rm(dataDir, { recursive: true });
  },
);
