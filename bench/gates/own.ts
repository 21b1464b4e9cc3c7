// What the three contestants of this repository share: its command, and what a person is shown by its reports.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gate, Signal } from './contestant.ts';
import type { Ran } from './process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'lib/cli/main.js');

/** The commit of the tree, since its version stays the same between releases. */
export function readCommit(): string {
  return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
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
