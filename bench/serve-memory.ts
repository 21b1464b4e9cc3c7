import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const [small, large, atOnce] = [2000, 40, 16];
const command = fileURLToPath(new URL('../lib/cli/main.js', import.meta.url));

interface Service {
  pid: number;
  projectUrl: string;
  apiKey: string;
}

/**
 * Measures the memory of `serve --data` at its peak and after a load, relative to the idle service: first with small reports of runs, then
 * with reports of 5 MB, sixteen at the same time.
 */
export async function measureServeMemory(): Promise<void> {
  console.log('\nServe: resident memory under load, relative to the idle service');
  if (process.platform !== 'linux') {
    console.log('  measured on Linux only');
    return;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-bench-'));
  const child = spawn(process.execPath, [command, 'serve', '--data', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { baseUrl, apiKey, project } = JSON.parse(String(line)) as Record<'baseUrl' | 'apiKey' | 'project', string>;
    const service = { pid: child.pid ?? 0, projectUrl: `${baseUrl}/projects/${project}`, apiKey };
    const idle = await readMemory(service);
    console.log(`  idle:                                     ${formatMiB(idle.rss)}`);
    await reportRuns(service, { count: small, trace: makeTrace(1), name: 'small' });
    await printMemory(service, { label: `${small} small reports:`, idle: idle.rss });
    await reportRuns(service, { count: large, trace: makeTrace(5000), name: 'large' });
    await printMemory(service, { label: `${large} reports of 5 MB, ${atOnce} at once:`, idle: idle.rss });
  } finally {
    child.kill('SIGTERM');
    await exited;
    await rm(dataDir, { recursive: true });
  }
}

/** Makes the JSON of a trace with the given number of messages of a kilobyte. */
function makeTrace(messages: number): string {
  return JSON.stringify({
    messages: Array.from({ length: messages }, (_, index) => ({
      role: 'user',
      content: `${index} `.padEnd(980, 'lorem '),
    })),
  });
}

async function reportRuns(
  { projectUrl, apiKey }: Service,
  { count, trace, name }: { count: number; trace: string; name: string },
): Promise<void> {
  let next = 0;
  const send = async () => {
    while (next < count) {
      const run = `${name}-${(next += 1)}`;
      const response = await fetch(`${projectUrl}/eval-ingest/report`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: `{"suiteName":"Bench","externalRunId":"${run}","results":[{"caseTitle":"A case","passed":true,"trace":${trace}}]}`,
      });
      if (!response.ok) throw new Error(`The report was answered with ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
}

async function printMemory(service: Service, { label, idle }: { label: string; idle: number }): Promise<void> {
  const { rss, peak } = await readMemory(service);
  console.log(
    `  ${label.padEnd(42)}${formatMiB(rss)} after it, ${(rss / idle).toFixed(2)} × idle; ${formatMiB(peak)} at its peak, ${(peak / idle).toFixed(2)} × idle`,
  );
}

/** Reads the kernel's counts, in bytes. */
async function readMemory({ pid }: Service): Promise<{ rss: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { rss: read('VmRSS'), peak: read('VmHWM') };
}

function formatMiB(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
