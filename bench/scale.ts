import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureInChild } from './child.ts';

const [cases, runs] = [1000, 100];

interface Reading {
  readMs: number;
  durationMs: number;
  startedBytes: number;
  peakBytes: number;
  iterations: number;
  failed: number;
  outcome: string;
}

/** Measures a run of 100,000 iterations, a tenth of them failed, from a service in another process to the last file. */
export async function measureScale(): Promise<void> {
  console.log(`\nScale: ${cases * runs} iterations read, judged and reported, every one of them written to disk`);
  const service = fork(new URL('scale-service.ts', import.meta.url), [String(cases), String(runs)]);
  const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-bench-'));
  try {
    const [ready]: Array<Record<string, string>> = await once(service, 'message');
    const { baseUrl = '', apiKey = '', projectId = '', runId = '' } = ready ?? {};
    const yardstickMs = await readPlainly(`${baseUrl}/projects/${projectId}/eval-runs/${runId}/iterations`, apiKey);
    const args = [baseUrl, apiKey, projectId, runId, directory, String(cases), String(runs)];
    const read = await measureInChild<Reading>('scale-reader.ts', args);
    if (read.iterations !== cases * runs || read.failed !== (cases * runs) / 10 || read.outcome !== 'passed') {
      throw new Error(`The reader got something else: ${JSON.stringify(read)}`);
    }
    const formatMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    const { size } = await stat(join(directory, 'iterations.jsonl'));
    console.log(`  bare fetch and JSON.parse of every page:  ${(yardstickMs / 1000).toFixed(1)} s`);
    console.log(
      `  every page into the tally and to disk:    ${(read.readMs / 1000).toFixed(1)} s, ${(read.readMs / yardstickMs).toFixed(2)} × bare`,
    );
    console.log(`  to the last file, failed steps included:  ${(read.durationMs / 1000).toFixed(1)} s   bar <= 20 s`);
    console.log(
      `  peak memory:                              ${formatMiB(read.peakBytes)}, ${formatMiB(read.startedBytes)} of it before   bar <= 400 MB`,
    );
    console.log(`  iterations.jsonl:                         ${formatMiB(size)}`);
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(directory, { recursive: true });
  }
}

async function readPlainly(url: string, apiKey: string): Promise<number> {
  const startedMs = performance.now();
  for (let cursor = ''; ;) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(`${url}?limit=200${query}`, { headers: { authorization: `Bearer ${apiKey}` } });
    const page = (await answer.json()) as { nextCursor?: string | null };
    if (!page.nextCursor) return performance.now() - startedMs;
    cursor = page.nextCursor;
  }
}
