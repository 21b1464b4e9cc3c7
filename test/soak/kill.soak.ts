import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createApiCaller } from '../support/service/api-caller.ts';

// `MOMENTS` says at how many moments the process is killed.

const moments = Number(process.env['MOMENTS'] ?? 5);
const longestLifeMs = 400;
const command = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const readySchema = z.object({ baseUrl: z.string(), project: z.string() });
const pageSchema = z.object({ items: z.array(z.object({ name: z.string() })) });

async function startServe(dataDir: string) {
  const args = [command, 'serve', '--data', dataDir, '--api-key', 'sk_soak'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const ready = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line));
  const first = await Promise.race([ready, exited.then(() => null)]);
  if (first === null) throw new Error('serve exited before it was ready.');
  const { baseUrl, project } = readySchema.parse(JSON.parse(first));
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { project: createApiCaller(`${baseUrl}/projects/${project}`, 'sk_soak'), kill };
}

it(`keeps every acknowledged write when it is killed at ${moments} moments`, { timeout: 0 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kill-soak-'));
  const acknowledged: string[] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    const serve = await startServe(dataDir);
    const record = { enabled: true, transportType: 'http', url: 'http://127.0.0.1:9/mcp' };
    const save = (name: string) => serve.project.post('/servers', { ...record, name });
    // The moments are drawn from when the service is busy with writes.
    expect(await save(`server ${moment}.0`)).toMatchObject({ status: 201 });
    acknowledged.push(`server ${moment}.0`);
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
  }
  const serve = await startServe(dataDir);
  const { body } = await serve.project.get('/servers');
  await serve.kill();
  const kept = new Set(pageSchema.parse(body).items.map(({ name }) => name));
  console.log(`${acknowledged.length} acknowledged writes, ${kept.size} kept.`);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
  await rm(dataDir, { recursive: true });
});
