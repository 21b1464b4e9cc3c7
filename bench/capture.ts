import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const pairs = 3000;
const warmUp = 200;
const server = fileURLToPath(new URL('stdio-server.mjs', import.meta.url));
const command = fileURLToPath(new URL('../lib/cli/main.js', import.meta.url));

type Server = ChildProcessByStdio<Writable, Readable, null>;

/**
 * Measures how much later an answer arrives through `capture`: pairs of calls, one to the server itself and one through the command, in turns, so
 * that both meet the same machine.
 */
export async function measureCapture(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'capture-bench-'));
  const args = [
    command,
    'capture',
    '--out',
    join(directory, 'evals/session.evals.yaml'),
    '--',
    process.execPath,
    server,
  ];
  const direct = openLine([server]);
  const captured = openLine(args);
  try {
    const added: number[] = [];
    const alone: number[] = [];
    for (let pair = 0; pair < warmUp + pairs; pair += 1) {
      const isDirectFirst = pair % 2 === 0;
      const first = await (isDirectFirst ? direct : captured).ask(pair);
      const second = await (isDirectFirst ? captured : direct).ask(pair);
      if (pair < warmUp) continue;
      added.push(isDirectFirst ? second - first : first - second);
      alone.push(isDirectFirst ? first : second);
    }
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => findQuantile(added, share).toFixed(3));
    console.log(`\nCapture: ${pairs} pairs of calls, with and without it`);
    console.log(`  added to an answer: p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms (goal: p99 at most 1 ms)`);
    console.log(
      `  an answer without it: p50 ${findQuantile(alone, 0.5).toFixed(3)} ms, p99 ${findQuantile(alone, 0.99).toFixed(3)} ms`,
    );
  } finally {
    direct.close();
    captured.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function openLine(args: readonly string[]) {
  const child: Server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  let onLine = () => {};
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (!text.endsWith('\n')) return;
    text = '';
    onLine();
  });
  return {
    /** Returns how long the answer to a ping took, in milliseconds. */
    ask: async (id: number): Promise<number> => {
      const startedAt = performance.now();
      await new Promise<void>((resolve) => {
        onLine = resolve;
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
      });
      return performance.now() - startedAt;
    },
    close: () => void child.kill('SIGKILL'),
  };
}

function findQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
