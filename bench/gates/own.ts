// What the three contestants of this repository share: its command, and what a person is shown by its reports.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gate, Signal } from './contestant.ts';
import { type Ran, runProgram } from './process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'lib/cli/main.js');

/** The newest commit that the tree shares with its main branch, since its version stays the same between releases. */
export function readCommit(): string {
  for (const branch of ['main', 'origin/main', 'HEAD']) {
    const { status, stdout } = spawnSync('git', ['merge-base', 'HEAD', branch], { cwd: root, encoding: 'utf8' });
    if (status === 0) return stdout.trim().slice(0, 12);
  }
  return 'unknown';
}

export async function installOwn(): Promise<{ version: string }> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version };
}

export async function runOwn(gate: Gate, args: readonly string[]): Promise<Ran> {
  return await gate.run([process.execPath, main, ...args]);
}

const sandbox = { none: 'off', confined: 'required' } as const;

interface Surfaces {
  configurations: ReadonlyArray<{
    changes: ReadonlyArray<{ id: string }>;
    findings: ReadonlyArray<{ id: string }>;
  }>;
}

interface Report {
  cases: ReadonlyArray<{ id: string; outcome: string }>;
  surface: Surfaces | null;
}

/** Runs evals and the comparison of the surface, as the workflow that `init` writes does. */
export async function runEvals(
  gate: Gate,
  { evals, surface }: { evals: string; surface: string | null },
): Promise<Signal> {
  const { code } = await runOwn(gate, [
    'run',
    `--server-command=${gate.start}`,
    `--evals=${evals}`,
    ...(surface === null ? [] : [`--surface=${surface}`]),
    `--sandbox=${sandbox[gate.level]}`,
    '--report-dir=report',
    '--quiet',
  ]);
  const report = JSON.parse(
    await readFile(join(gate.project, 'report/report.json'), 'utf8').catch(() => 'null'),
  ) as Report | null;
  const failed = (report?.cases ?? []).filter(({ outcome }) => outcome !== 'passed').map(({ id }) => `case ${id}`);
  return { fails: code !== 0, findings: [...failed, ...listSurface(report?.surface ?? null)] };
}

/** Compares what the change and its base answer, with no evals at all. */
export async function runBehaviour(gate: Gate, base: string): Promise<Signal> {
  const { code } = await runOwn(gate, [
    'run',
    `--server-command=${gate.start}`,
    '--behaviour=base',
    `--base-server-command=${join(base, 'start')}`,
    `--base-server-cwd=${base}`,
    `--sandbox=${sandbox[gate.level]}`,
    '--report-dir=report',
    '--quiet',
  ]);
  const text = await readFile(join(gate.project, 'report/report.json'), 'utf8').catch(() => '{}');
  const { behaviour = null } = JSON.parse(text) as { behaviour?: unknown };
  return { fails: code !== 0, findings: [...listIds(behaviour)].map((id) => `behaviour ${id}`) };
}

/** All ids of a part of a report, at any depth. */
function* listIds(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  if ('id' in part && typeof part.id === 'string') yield part.id;
  for (const each of Object.values(part)) yield* listIds(each);
}

/** Whether a subcommand of the command that was built knows an option. */
export async function hasOption(command: string, option: string): Promise<boolean> {
  const { stdout } = await runProgram([process.execPath, main, command, '--help'], { cwd: root });
  return stdout.includes(`${option} `) || stdout.includes(`${option}=`);
}

/** Compares the surface alone. */
export async function runSurface(gate: Gate, file: string): Promise<Signal> {
  const { code, stdout } = await runOwn(gate, [
    'surface',
    `--server-command=${gate.start}`,
    `--file=${file}`,
    '--check',
    '--format=json',
  ]);
  const report = code === 0 || code === 1 ? (JSON.parse(stdout) as Surfaces) : null;
  return { fails: code !== 0, findings: listSurface(report) };
}

function listSurface(report: Surfaces | null): string[] {
  return (report?.configurations ?? []).flatMap(({ changes, findings }) => [
    ...changes.map(({ id }) => `change ${id}`),
    ...findings.map(({ id }) => `finding ${id}`),
  ]);
}
