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
 * that both meet the same machine. A second server without the command shows how much two calls differ by themselves.
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
  const other = openLine([server]);
  const captured = openLine(args);
  try {
    const added: number[] = [];
    const differences: number[] = [];
    const alone: number[] = [];
    for (let turn = 0; turn < warmUp + pairs; turn += 1) {
      const lines = [direct, other, captured];
      const times = new Map<ReturnType<typeof openLine>, number>();
      // Each line is first, second and third equally often.
      for (const index of [0, 1, 2]) {
        const line = lines[(turn + index) % 3] ?? direct;
        times.set(line, await line.ask(turn));
      }
      if (turn < warmUp) continue;
      const [own = 0, second = 0, passed = 0] = lines.map((line) => times.get(line));
      added.push(passed - own);
      differences.push(second - own);
      alone.push(own);
    }
    const print = (values: readonly number[]) =>
      [0.5, 0.95, 0.99].map((share) => `p${share * 100} ${findQuantile(values, share).toFixed(3)} ms`).join(', ');
    console.log(`\nCapture: ${pairs} pairs of calls, with and without it`);
    console.log(`  added to an answer: ${print(added)} (goal: p99 at most 1 ms)`);
    console.log(`  the same between two servers without it: ${print(differences)}`);
    console.log(`  an answer without it: ${print(alone)}`);
  } finally {
    direct.close();
    other.close();
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
