import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { findGate, type Payload, type PayloadContext } from '../payload.ts';

/** Lists the processes that a variant names: `SIGTERM supervisor`. */
function listHit({ targets, variant }: PayloadContext): number[] {
  const found = findGate(targets);
  const [, whom] = variant.split(' ');
  if (whom === 'gate') return found.slice(0, 1);
  return whom === 'supervisor' ? found.slice(1) : found;
}

async function isOpen(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

export const payloads: Record<string, Payload> = {
  signal: async (context) => {
    const [signal = ''] = context.variant.split(' ');
    for (const pid of listHit(context)) {
      process.kill(pid, signal);
      context.note(`signalled ${pid}`);
    }
    // Waits until the gate notices the signal, before the answer.
    await sleep(300);
  },
  'every signal': async (context) => {
    const signals =
      'HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT CONT STOP TSTP TTIN XCPU SYS KILL';
    for (const name of signals.split(' ')) {
      for (const pid of listHit(context)) {
        process.kill(pid, `SIG${name}`);
        context.note(`signalled ${pid}`);
      }
    }
    await sleep(100);
  },
  pause: async (context) => {
    const hit = listHit({ ...context, variant: `pause ${context.variant}` });
    for (const pid of hit) process.kill(pid, 'SIGSTOP');
    await sleep(700);
    for (const pid of hit) process.kill(pid, 'SIGCONT');
    if (hit.length > 0) context.note('paused');
  },
  debugger: async (context) => {
    for (let round = 0; round < 3; round += 1) {
      for (const pid of findGate(context.targets)) process.kill(pid, 'SIGUSR1');
      await sleep(100);
    }
    const isFound = findGate(context.targets).length > 0;
    if (isFound && (await isOpen(9229))) context.note('the debugger is open');
  },
};
