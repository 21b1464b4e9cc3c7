// What the three contestants of this repository share: its command, and what a person is shown by its reports.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gate, Signal, Strength } from './contestant.ts';
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

/** What a contestant of this repository keeps for its worlds. */
export const workspace = 'workspace';

/** The command of a server that works in the workspace which it is given. */
export function writeCommand(start: string): string {
  return `${start} {{workspace}}`;
}

/** Makes the workspace of the files that every contestant gets, without links that lead out, which the command refuses. */
export async function makeWorkspace(project: string, directory = workspace): Promise<void> {
  const files = join(project, 'files');
  const inside = async (path: string) => {
    const target = await readlink(path).catch(() => null);
    return target === null || !relative(files, resolve(dirname(path), target)).startsWith('..');
  };
  await mkdir(join(project, directory), { recursive: true });
  await cp(files, join(project, directory), { recursive: true, preserveTimestamps: true, filter: inside });
}

/** The value of `--workspace`. */
export async function nameWorkspace(project: string): Promise<string> {
  const names = await readdir(join(project, workspace)).catch(() => []);
  return names.length === 0 ? 'empty' : workspace;
}

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
  { evals, surface, command, files }: { evals: string; surface: string | null; command: string; files?: string },
): Promise<Signal> {
  const { code } = await runOwn(gate, [
    'run',
    `--server-command=${command}`,
    `--evals=${evals}`,
    ...(surface === null ? [] : [`--surface=${surface}`]),
    ...(files === undefined ? [] : [`--workspace=${files}`]),
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

/** Measures how many changes of answers evals notice. */
export async function measureEvals(
  gate: Gate,
  { evals, command, files }: { evals: string; command: string; files?: string },
): Promise<Strength> {
  const { code, stdout, stderr } = await runOwn(gate, [
    'mutate',
    `--server-command=${command}`,
    `--evals=${evals}`,
    ...(files === undefined ? [] : [`--workspace=${files}`]),
    `--sandbox=${sandbox[gate.level]}`,
    '--format=json',
    '--quiet',
  ]);
  if (code !== 0) throw new Error(stderr.trim().split('\n').at(-1) ?? `exit code ${code}`);
  const { harmful, harmless } = JSON.parse(stdout) as Strength;
  return { harmful, harmless };
}

/** Compares what the change and its base answer and list, with no evals at all, as the first example of the README does. */
export async function runBehaviour(gate: Gate, base: string): Promise<Signal> {
  const { code } = await runOwn(gate, [
    'run',
    `--server-command=${writeCommand(gate.start)}`,
    '--behaviour=base',
    '--surface=base',
    `--base-server-command=${writeCommand(join(base, 'start'))}`,
    `--base-server-cwd=${base}`,
    `--workspace=${await nameWorkspace(gate.project)}`,
    `--sandbox=${sandbox[gate.level]}`,
    '--report-dir=report',
    '--quiet',
  ]);
  const text = await readFile(join(gate.project, 'report/report.json'), 'utf8').catch(() => '{}');
  const { behaviour, surface = null } = JSON.parse(text) as { behaviour?: Behaviour; surface?: Surfaces | null };
  const compared = behaviour?.compared ?? null;
  if (compared === null) throw new Error(`nothing was compared: ${behaviour?.problem ?? `exit code ${code}`}`);
  // What is ignored by default is only listed.
  const shown = compared.differences.filter(({ disposition }) => disposition !== 'ignore');
  const findings = shown.map(({ kind, id }) => `${kind} ${id}`);
  return { fails: code !== 0, findings: [...findings, ...listSurface(surface)], isCut: compared.isCutByTime };
}

interface Behaviour {
  problem: string | null;
  compared: {
    isCutByTime: boolean;
    differences: ReadonlyArray<{ id: string; kind: string; disposition: string }>;
  } | null;
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
