/**
 * An entry below a supervisor with narrow limits. The first argument selects the behaviour of its gate, the second is the file of its fallback
 * report. Run by Node itself: `node test/support/process/supervised-script.ts spin report.txt`.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { enter } from '../../../src/supervisor/enter.ts';
import { causePlaceholder } from '../../../src/supervisor/supervisor-messages.ts';
import { joinSupervisor, type Supervision } from '../../../src/supervisor/supervised.ts';

const [mode = '', file = ''] = process.argv.slice(2);

const plan = (supervision: Supervision, dueInMs: number) =>
  supervision.planned(dueInMs, {
    files: [{ path: file, root: null, text: `<${causePlaceholder}>`, mode: 'replace' }],
    stdout: '',
  });

function spin(): never {
  for (;;);
}

/** Returns after the supervisor is halted, before the event loop can send it the next beat. */
function haltSupervisor(exitCode: number): number {
  process.kill(process.ppid, 'SIGSTOP');
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${process.ppid}/status`, 'latin1')));
  return exitCode;
}

const behaviours: Record<string, (supervision: Supervision) => Promise<number> | number> = {
  pass: () => 0,
  fail: () => 1,
  'leave without a word': () => process.exit(0),
  'take a while': async () => {
    console.log(`ready ${process.pid}`);
    await sleep(3000);
    return 0;
  },
  'halt the supervisor and pass': () => haltSupervisor(0),
  'halt the supervisor and leave without a word': () => process.exit(haltSupervisor(0)),
  'spin before the plan': spin,
  spin: (supervision) => {
    plan(supervision, 100);
    return spin();
  },
  'wait for ever': async (supervision) => {
    plan(supervision, 100);
    await sleep(60_000);
    return 0;
  },
  grow: async (supervision) => {
    plan(supervision, 60_000);
    const kept: Buffer[] = [];
    for (;;) {
      kept.push(Buffer.alloc(16 * 1024 * 1024, kept.length + 1));
      await sleep(1);
    }
  },
  crash: async (supervision) => {
    plan(supervision, 60_000);
    const server = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    await new Promise((resolve) => {
      server.once('spawn', resolve);
    });
    console.log(`server ${server.pid}`);
    await sleep(50);
    process.kill(process.pid, 'SIGKILL');
    await sleep(60_000);
    return 0;
  },
  'count signals': async ({ signals }) => {
    let count = 0;
    const first = new Promise<void>((resolve) => {
      signals.on('SIGINT', () => {
        count += 1;
        if (count === 1) resolve();
      });
    });
    console.log(`ready ${process.pid}`);
    const timer = setInterval(() => {}, 1000);
    await first;
    // Gives messages on the other channel time to arrive.
    await sleep(300);
    clearInterval(timer);
    console.log(`signals ${count}`);
    return 130;
  },
  'ignore signals': async ({ signals }) => {
    signals.on('SIGINT', () => {});
    console.log(`ready ${process.pid}`);
    await sleep(60_000);
    return 0;
  },
  'clear up on SIGTERM': async ({ signals }) => {
    const heard = new Promise<void>((resolve) => {
      signals.on('SIGTERM', () => resolve());
    });
    console.log(`ready ${process.pid}`);
    const timer = setInterval(() => {}, 1000);
    await heard;
    clearInterval(timer);
    writeFileSync(file, 'cleared up');
    return 143;
  },
};

const exitCode = await enter({
  isSupervised: true,
  print: (line) => console.log(line),
  limits: { memoryBytes: 300 * 1024 * 1024, silenceMs: 2000, leaveMs: 1500 },
  run: async () => {
    const supervision = joinSupervisor();
    process.exit(await supervision.done((await behaviours[mode]?.(supervision)) ?? 2));
  },
});
if (exitCode !== null) process.exit(exitCode);
