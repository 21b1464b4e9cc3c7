/** The common parts of plain-server.ts and stdio-server.ts: the tools that show their process, and their start. */
import { setTimeout as sleep } from 'node:timers/promises';

export type Arguments = Record<string, unknown>;

let counter = 0;
const held: Array<(value: unknown) => void> = [];

export const processTools = {
  /** Returns its argument, so that an answer to the wrong client is visible. */
  echo: async ({ value, delayMs }: Arguments) => {
    await sleep(Number(delayMs ?? 0));
    return value;
  },
  /** Answers when another call releases it. */
  hold: () => new Promise((resolve) => held.push(resolve)),
  held: () => held.length,
  release: ({ value }: Arguments) => {
    for (const answer of held.splice(0)) answer(value);
    return 'released';
  },
  pid: () => process.pid,
  count: () => (counter += 1),
  environment: () => process.env,
  argv: () => process.argv.slice(2),
  /** Answers, and ends the process a moment later. */
  leave: ({ code }: Arguments) => {
    setTimeout(() => process.exit(Number(code)), 20);
    return 'bye';
  },
  crash: ({ code }: Arguments) => process.exit(Number(code)),
  /** Blocks the whole process. */
  spin: () => {
    for (;;) Date.now();
  },
};

/** Writes to stderr that the server is up. `IMPATIENCE_MS` ends a server that receives nothing for that time after its start. */
export function reportStart(name: string): void {
  const impatienceMs = Number(process.env['IMPATIENCE_MS'] ?? 0);
  if (impatienceMs > 0) {
    const leaving = setTimeout(() => process.exit(5), impatienceMs);
    process.stdin.once('data', () => clearTimeout(leaving));
  }
  process.stderr.write(`${name} ${process.pid} is up\n`);
}
