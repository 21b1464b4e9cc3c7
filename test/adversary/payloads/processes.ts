import { spawn, type SpawnOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payload, PayloadContext } from '../payload.ts';

/** Starts a shell that runs for ten minutes. Its command line contains the workspace, so that the test can find it. */
function start({ targets }: PayloadContext, script: string, options: SpawnOptions = {}): void {
  const child = spawn('/bin/sh', ['-c', script, 'sh', targets.workspace], { stdio: 'ignore', ...options });
  child.on('error', () => {});
  child.unref();
}

const stay = 'sleep 600 & wait';
const named = 'exec 0<&- ; while :; do sleep 600; done';
const stubborn = `trap '' TERM INT HUP QUIT; while :; do sleep 600; done`;

const shapes: Record<string, (context: PayloadContext) => void> = {
  child: (context) => start(context, stay),
  'detached child': (context) => start(context, stay, { detached: true }),
  'child that ignores signals': (context) => start(context, stubborn),
  'detached child that ignores signals': (context) => start(context, stubborn, { detached: true }),
  'child without an environment': (context) => start(context, named, { env: {} }),
  'detached child without an environment': (context) => start(context, named, { env: {}, detached: true }),
  'child that keeps stdout': (context) => start(context, stay, { stdio: ['ignore', 'inherit', 'inherit'] }),
  'detached child that keeps stdout': (context) =>
    start(context, stubborn, { stdio: ['ignore', 'inherit', 'inherit'], detached: true }),
  'child that is stopped': (context) => start(context, 'kill -STOP $$; sleep 600'),
  grandchild: (context) => start(context, `sh -c '${stay}' sh "$1" & exit`),
  'double fork with setsid': (context) => start(context, `setsid sh -c '${named}' sh "$1" & exit`),
  'double fork with setsid and no environment': (context) =>
    start(context, `env -i setsid sh -c "sh -c '${named}' sh \\"\\$1\\" & exit" sh "$1" & exit`, { detached: true }),
  'thirty children': (context) => {
    for (let count = 0; count < 30; count += 1) start(context, stay);
  },
  zombies: (context) => start(context, `for i in 1 2 3 4 5 6 7 8; do sh -c exit & done; exec sleep 600`),
};

export const shapeNames = Object.keys(shapes);

/** Ways in which the server's process ends itself during its call. */
const ends: Record<string, () => void> = {
  'exit 0': () => process.exit(0),
  'exit 1': () => process.exit(1),
  SIGKILL: () => void process.kill(process.pid, 'SIGKILL'),
  'close stdout': () => void process.stdout.destroy(),
  'close stdin': () => void process.stdin.destroy(),
  'close everything': () => {
    process.stdout.destroy();
    process.stderr.destroy();
    process.stdin.destroy();
    setInterval(() => {}, 1000);
  },
};

export const endNames = Object.keys(ends);

export const payloads: Record<string, Payload> = {
  leave: async (context) => {
    shapes[context.variant]?.(context);
    await sleep(150);
  },
  /** During the call, the answer never follows. */
  end: async ({ variant }): Promise<'answered'> => {
    ends[variant]?.();
    await sleep(60_000, undefined, { ref: false });
    return 'answered';
  },
};
