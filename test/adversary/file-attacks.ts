import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/time.ts';
import type { GateContext } from '../../src/gate/run/context.ts';
import { runPlan } from '../../src/gate/job.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { readGateInputs } from '../support/gate/gate-inputs.ts';
import { writeSayingCases } from '../support/gate/embedded-gate.ts';
import { runGitIn } from '../support/github/pull-request.ts';
import { startSayingServer } from '../support/servers/saying-server.ts';
import { createWorkspace } from '../support/workspace.ts';
import type { Attack, AttackResult } from './attack.ts';

/** A change that makes the gate write to a forbidden path, or a server with text that must not reach readers unescaped. */
export interface FileAttack extends Attack {
  attacker: 'pull-request';
  inputs?: Readonly<Record<string, string>>;
  /** Links in the checkout and their targets, committed before the gate or created while it runs. */
  links?: Readonly<Record<string, string>>;
  isPlacedLate?: boolean;
  /** The path of the snapshot to write. */
  snapshot?: string;
  /** The answer of the server. */
  says?: string;
}

const secret = `k3y&<${'Zq9'.repeat(30)}>`;
const evil = 'red\u202E\u2066\u009B\u0090';
const wrapped = Buffer.from(`x${secret}`).toString('base64').replaceAll(/.{76}/g, '$&\n');
const escaped = secret.replaceAll(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`);
const formats = { 'report-dir': 'r', 'report-formats': 'html, iterations, otlp, ctrf, badge' };
const past = { 'history-path': 'h.jsonl' };

const attacks: Array<[string, Omit<FileAttack, keyof Attack>]> = [
  ['makes report-dir a link', { inputs: formats, links: { r: '../victim' } }],
  ['makes a directory of report-dir a link', { inputs: { 'report-dir': 'r/s' }, links: { r: '../victim' } }],
  ['makes report-dir a link into .git', { inputs: formats, links: { r: '.git' } }],
  ['makes report.json a link', { inputs: formats, links: { 'r/report.json': '../../victim/keep.txt' } }],
  ['makes iterations.jsonl a link', { inputs: formats, links: { 'r/iterations.jsonl': '../../victim/keep.txt' } }],
  ['makes history-path a link', { inputs: past, links: { 'h.jsonl': '../victim/keep.txt' } }],
  ['makes history-path a link to nothing', { inputs: past, links: { 'h.jsonl': '../victim/new.txt' } }],
  ['makes report-dir a link late', { inputs: formats, links: { r: '../victim' }, isPlacedLate: true }],
  [
    'makes report.json a link late',
    { inputs: formats, links: { 'r/report.json': '../../victim/keep.txt' }, isPlacedLate: true },
  ],
  ['makes history-path a link late', { inputs: past, links: { 'h.jsonl': '../victim/keep.txt' }, isPlacedLate: true }],
  ['keeps a snapshot as a hook of git', { snapshot: '.git/hooks/post-checkout' }],
  ['keeps a snapshot as package.json', { snapshot: 'package.json' }],
  ['keeps a snapshot as a workflow', { snapshot: '.github/workflows/ci.yml' }],
  ['keeps a snapshot in a package called snapshots', { snapshot: 'node_modules/snapshots/index.js' }],
  ['keeps a snapshot behind a link', { snapshot: 'snapshots/keep.txt', links: { snapshots: '../victim' } }],
  ['says controls of text and terminals', { inputs: formats, says: evil }],
  ['says a secret as base64 in lines', { inputs: formats, says: wrapped }],
  ['says a secret in character references', { inputs: formats, says: escaped }],
];

export const fileAttacks: readonly FileAttack[] = attacks.map(([name, attack]) => ({
  name,
  class: 'written files',
  attacker: 'pull-request',
  deserves: 'failed',
  ...attack,
}));

/** Runs the gate of a checkout next to a file that must not change. */
export async function runFileAttack(attack: FileAttack): Promise<AttackResult> {
  const { inputs = {}, links = {}, isPlacedLate = false, snapshot = null, says = 'blue' } = attack;
  await using outer = await createWorkspace({ 'victim/keep.txt': 'precious' });
  const path = join(outer.path, 'checkout');
  await mkdir(path);
  runGitIn({ ...outer, path }, 'init', '-q', '--template=');
  const wanted = snapshot === null ? `{ toolResultContains: '"red"' }` : `{ toMatchFile: ${snapshot} }`;
  const evals = writeSayingCases('Says', ['red']).replace(`{ toolResultContains: '"red"' }`, wanted);
  await writeFile(join(path, 'a.evals.yaml'), evals);
  const place = async () => {
    for (const [link, target] of Object.entries(links)) {
      await mkdir(dirname(join(path, link)), { recursive: true });
      await symlink(target, join(path, link));
    }
  };
  if (!isPlacedLate) await place();
  const before = await listFiles(join(path, '.git'));
  const found = await runGate(path, {
    inputs,
    says,
    place: isPlacedLate ? place : null,
    isUpdating: snapshot !== null,
  });
  const texts = [found.log, ...(await readAll(join(path, 'r')))];
  const victim = `${(await readdir(join(outer.path, 'victim'))).join(' ')} ${await outer.read('victim/keep.txt')}`;
  const isOutside = snapshot !== null && !snapshot.startsWith('snapshots/');
  const problems = [
    ...(victim === 'keep.txt precious' ? [] : ['wrote out of the checkout']),
    ...((await listFiles(join(path, '.git'))) === before ? [] : ['wrote into .git']),
    ...(isOutside && (await readFile(join(path, snapshot), 'utf8').catch(() => null)) !== null ? ['wrote it'] : []),
    ...(texts.some((text) => /[\p{Bidi_Control}\u0080-\u009F]/u.test(text)) ? ['printed controls'] : []),
    ...(texts.some((text) => [secret, wrapped.slice(0, 60), escaped].some((each) => text.includes(each)))
      ? ['printed a secret']
      : []),
  ];
  return { attack, found: found.end, problems };
}

async function runGate(
  cwd: string,
  gate: {
    inputs: Readonly<Record<string, string>>;
    says: string;
    place: (() => Promise<void>) | null;
    isUpdating: boolean;
  },
): Promise<{ end: string; log: string }> {
  await using server = await startSayingServer(gate.says);
  const lines: string[] = [];
  const logger = { ...silentLogger, warning: (text: string) => void lines.push(text) };
  const redactor = createRedactor([new Secret(secret)]);
  const environment = { PATH: process.env['PATH'] ?? '' };
  const watchEvidence: NonNullable<GateContext['watchEvidence']> = (within) => {
    void gate.place?.();
    return within;
  };
  try {
    const options = readGateInputs({ 'server-url': server.url, evals: '*.evals.yaml', ...gate.inputs });
    const plan = await planGate(options, { cwd, environment, updatesSnapshots: gate.isUpdating });
    const { signal } = new AbortController();
    const { exitCode } = await runPlan(plan, {
      clock: systemClock,
      logger,
      redactor,
      signal,
      environment,
      watchEvidence,
    });
    return { end: `exit code ${exitCode}`, log: lines.join('\n') };
  } catch (error) {
    return {
      end: error instanceof Error && 'exitCode' in error ? `exit code ${String(error.exitCode)}` : String(error),
      log: '',
    };
  }
}

/** Lists all files below a directory, except those that git updates itself. */
async function listFiles(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true });
  return files
    .filter((file) => !file.startsWith('index'))
    .toSorted()
    .join(' ');
}

async function readAll(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
}
