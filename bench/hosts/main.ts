// `npm run bench -- hosts --host codex`: installs a real host, measures what it shows a model, and compares that with its profile.
// `npm run bench -- hosts --suites`: runs the suites of three servers in profiles and in programs of hosts.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hostProfiles } from '../../src/hosts/catalog.ts';
import type { HostProfile } from '../../src/hosts/profile.ts';
import { endAllGroups } from '../gates/process.ts';
import { compareFacts, formatLine, type Line } from './compare.ts';
import { findProgram, type MeasuredHost, measuredHosts } from './hosts.ts';
import { installPackage } from './install.ts';
import { measureHost, type Measurement } from './measure.ts';
import { isolation } from './run-host.ts';
import { writeMatrix } from './suites/matrix.ts';
import { printRatios } from './suites/ratios.ts';
import { preparePrograms, runSuites } from './suites/run-suites.ts';

const options = {
  host: { type: 'string' },
  /** Runs the suites of three servers in profiles and in programs of hosts instead. */
  suites: { type: 'boolean' },
  /** Writes what hosts make of these servers into docs/hosts.md instead. */
  matrix: { type: 'boolean' },
  /** Measures the replay of this many iterations after the suites; 0 skips that. */
  iterations: { type: 'string', default: '100' },
  /** Default: the version of the profile. */
  version: { type: 'string' },
  /** A directory with `node_modules` instead of an installation. */
  installed: { type: 'string' },
  /** Keeps the installation and what was seen. */
  keep: { type: 'boolean' },
  /** Writes what was measured to a JSON file. */
  write: { type: 'string' },
  /** The seconds that a conversation may take, and that a call without an answer may take. */
  limit: { type: 'string', default: '180' },
  timeout: { type: 'string', default: '75' },
} as const;

/** Reads the arguments after `hosts`; gives the exit code: 1 if a fact changed. */
export async function runHosts(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, leave);
  if (values.matrix === true) {
    await writeMatrix();
    return 0;
  }
  if (values.suites === true) return await runAllSuites(Number(values.iterations));
  const host = measuredHosts.find(({ starter }) => starter.id === values.host);
  const profile = hostProfiles.find(({ id }) => id === values.host);
  if (host === undefined || profile === undefined) {
    console.error(`Name a host with --host: ${measuredHosts.map(({ starter }) => starter.id).join(', ')}.`);
    return 2;
  }
  const scratch = await mkdtemp(join(tmpdir(), 'host-'));
  try {
    const wanted = values.version ?? readVersion(profile) ?? 'latest';
    const installed = values.installed ?? join(scratch, 'installed');
    if (values.installed === undefined) await mkdir(installed, { recursive: true });
    const version = values.installed === undefined ? await installPackage(host.package, wanted, installed) : wanted;
    console.log(`${profile.title} ${version}; the profile is of ${readVersion(profile) ?? 'no version'}.`);
    console.log(isolation === null ? 'The host can reach the network.' : 'The host has loopback only.');
    const measurement = await measureHost({
      host,
      program: findProgram(join(installed, 'node_modules'), host.program),
      limitMs: Number(values.limit) * 1000,
      timeoutMs: Number(values.timeout) * 1000,
      log: (line) => console.log(line),
      ...(values.keep === true
        ? { keep: (name, seen) => writeFile(join(scratch, `${name}.json`), JSON.stringify(seen, null, 1)) }
        : {}),
    });
    const lines = compareFacts(profile, measurement.facts);
    print(lines, measurement);
    if (values.write !== undefined) {
      await writeFile(values.write, `${JSON.stringify(describe(host, version, lines, measurement), null, 2)}\n`);
    }
    return lines.some(({ kind }) => kind === 'changed') ? 1 : 0;
  } finally {
    if (values.keep === true) console.log(`Kept ${scratch}.`);
    else await rm(scratch, { recursive: true, force: true });
  }
}

/** Gives the exit code: 1 if a verdict is not as written. */
async function runAllSuites(iterations: number): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), 'suites-'));
  try {
    const path = await preparePrograms(scratch);
    const different = await runSuites(path);
    if (iterations > 0) await printRatios(path, iterations);
    return different === 0 ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The version of most facts of a profile. */
function readVersion({ names: { basis } }: HostProfile): string | null {
  return basis.version;
}

function print(lines: readonly Line[], { more }: Measurement): void {
  for (const line of lines) console.log(formatLine(line));
  for (const [name, value] of Object.entries(more)) console.log(`more          ${name}: ${JSON.stringify(value)}`);
  const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length;
  console.log(
    `${count('same')} same, ${count('changed')} changed, ${count('new')} new, ${count('not-measured')} not measured`,
  );
}

function describe(host: MeasuredHost, version: string, facts: readonly Line[], { more }: Measurement) {
  const date = new Date().toISOString().slice(0, 10);
  return { host: host.starter.id, package: host.package, version, date, model: host.model, facts, more };
}

function leave(): void {
  endAllGroups();
  process.exit(130);
}
