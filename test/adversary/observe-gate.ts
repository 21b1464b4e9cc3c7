import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../../src/model/report.ts';
import { parseReport } from '../../src/report/report-json.ts';
import { listChildVariables } from '../support/process/child-environment.ts';

export interface ObservedGate {
  /** Null if a signal ended it. */
  exitCode: number | null;
  /** The output of stdout and stderr. */
  output: string;
  /** The report on stdout, or the one in the report directory. */
  report: Report | null;
  durationS: number;
  /** The peak memory of the gate, in MiB; 0 without /proc. */
  maxMemoryMiB: number;
  /** The command lines of processes that survived the gate. */
  survivors: string[];
}

const graceMs = 4000;

/** Runs the gate's command in its workspace and records its visible effects. Ends the processes that it leaves behind. */
export async function observeGate({
  args,
  workspace,
  env,
  limitS,
  tracer = [],
}: {
  args: readonly string[];
  workspace: string;
  env: Record<string, string>;
  limitS: number;
  /** A program, with its arguments, that starts the gate and traces it. */
  tracer?: readonly string[];
}): Promise<ObservedGate> {
  const startMs = performance.now();
  const [file = '', ...words] = [...tracer, process.execPath, ...args];
  const gate = spawn(file, words, {
    cwd: workspace,
    env: { ...listChildVariables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  gate.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  gate.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  let maxMemoryMiB = 0;
  const sampler = setInterval(() => {
    maxMemoryMiB = Math.max(maxMemoryMiB, ...listFamily(gate.pid ?? 0).map(readPeakMiB));
  }, 50);
  const limit = setTimeout(() => gate.kill('SIGKILL'), limitS * 1000);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    gate.once('error', reject);
    gate.once('exit', resolve);
  });
  const durationS = (performance.now() - startMs) / 1000;
  clearTimeout(limit);
  clearInterval(sampler);
  const survivors = await endSurvivors(workspace);
  const report = parse(stdout) ?? parse(await readFile(join(workspace, 'reports/report.json'), 'utf8').catch(() => ''));
  return { exitCode, output: `${stdout}\n${stderr}`, report, durationS, maxMemoryMiB, survivors };
}

/** Lists the supervisor and the gate that it started. */
function listFamily(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    return [pid, ...children.filter(Boolean)];
  } catch {
    return [];
  }
}

function readPeakMiB(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Lists processes with the workspace in their command line or as their directory. Zombies have neither. */
function listOfWorkspace(workspace: string): Map<number, string> {
  const found = new Map<number, string>();
  if (process.platform !== 'linux') return found;
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const isThere = words.includes(workspace) || readlinkSync(`/proc/${pid}/cwd`).startsWith(workspace);
      if (isThere && pid !== process.pid && words !== '') found.set(pid, words);
    } catch {
      // The process has ended meanwhile, or belongs to another user.
    }
  }
  return found;
}

/** Ends the processes that the gate left behind, a moment after its end. A gate whose supervisor was killed cleans up in that time. */
async function endSurvivors(workspace: string): Promise<string[]> {
  for (let waitedMs = 0; waitedMs < graceMs && listOfWorkspace(workspace).size > 0; waitedMs += 100) await sleep(100);
  const left = listOfWorkspace(workspace);
  for (const pid of left.keys()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
  return [...left.values()];
}

function parse(text: string): Report | null {
  try {
    return parseReport(JSON.parse(text));
  } catch {
    return null;
  }
}
