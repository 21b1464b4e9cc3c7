// One cell of the table: a contestant at a server, over bugs, sound changes and repeats of the unchanged server. What was measured is in a
// file, from which the cell goes on.
import { cp, mkdir, readFile, rm, writeFile, appendFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { type Change, findHalf, formatRefusal, hashPatch, type Refusal } from './corpus.ts';
import type { Contestant, Gate, Level, Signal } from './contestant.ts';
import { runProgram } from './process.ts';
import { openRig, type Rig, type Server, ServerProblem } from './servers.ts';

const gateLimitMs = 300_000;
/** Preparing is not measured, so a busy machine may take its time. */
export const preparationLimitMs = 900_000;
const mostRuns = 3;
const leastRuns = 2;

/** `hung`: the gate did not end by its limit. `broken`: it could not be prepared or did not start. */
export type Outcome = 'done' | 'hung' | 'broken';

export interface GateRun {
  outcome: Outcome;
  fails: boolean;
  reports: boolean;
  seconds: number;
  isCut?: true;
}

/** One line of a cell's file. */
export interface Line {
  /** The hash of the patch; `base` and a number for a repeat of the unchanged server. */
  key: string;
  kind: 'bug' | 'silent' | 'meant' | 'repeat';
  /** Absent for the half of which only totals are shown. */
  id?: string;
  class?: string;
  runs: GateRun[];
  /** The load of the machine after the runs; absent in older files. */
  load?: number;
}

export interface Cell {
  server: string;
  contestant: string;
  level: Level;
  version: string;
  commit: string;
  lines: number;
  isHeldOut: boolean;
  measured: Line[];
}

export interface CellOptions {
  contestant: { name: string; contestant: Contestant; version: string };
  level: Level;
  commit: string;
  directory: string;
  changes: readonly Change[];
  repeats: number;
  isHeldOut: boolean;
  isRevealed: boolean;
  limitMs?: number;
  log: (line: string) => void;
}

interface Head {
  server: string;
  contestant: string;
  level: Level;
  version: string;
  commit: string;
  lines: number;
  isHeldOut: boolean;
}

/** Runs what the cell's file does not have yet. */
export async function runCell(server: Server, options: CellOptions): Promise<{ cell: Cell; refusals: Refusal[] }> {
  const { contestant, level, directory, changes, repeats, isHeldOut, isRevealed, log } = options;
  const path = join(directory, `${server.name}.${contestant.name}.${level}.jsonl`);
  const head: Head = {
    server: server.name,
    contestant: contestant.name,
    level,
    version: contestant.version,
    commit: options.commit,
    lines: await contestant.contestant.countLines(server),
    isHeldOut,
  };
  const known = await readCell(path, head, contestant.contestant);
  const refusals: Refusal[] = [];
  const todo = listTodo(changes, repeats).filter(({ key }) => !known.some((line) => line.key === key));
  if (todo.length === 0) return { cell: { ...head, measured: known }, refusals };
  await mkdir(directory, { recursive: true });
  if (known.length === 0) await writeFile(path, `${JSON.stringify(head)}\n`);
  await using rig = await openRig(server);
  const referee = await openReferee(rig, options);
  for (const { key, kind, change } of todo) {
    const isShown = change === null || isRevealed || (!isHeldOut && findHalf(change) === 'development');
    const named = change !== null && isShown ? { id: change.id } : {};
    try {
      const runs = await referee.judge(change);
      const line: Line = {
        key,
        kind,
        ...named,
        ...(change?.kind === 'bug' ? { class: change.class } : {}),
        runs,
        load: readLoad(),
      };
      known.push(line);
      await appendFile(path, `${JSON.stringify(line)}\n`);
      if (isShown && change !== null) log(`${server.name} ${contestant.name}: ${change.id}: ${describeRuns(runs)}`);
    } catch (error) {
      if (!(error instanceof ServerProblem) || change === null) throw error;
      const file = `${change.kind === 'bug' ? 'bugs' : 'sound'}/${server.name}/${change.id}.json`;
      const refusal = {
        file,
        reason: error.message.replace(/\.$/, ''),
        remedy: 'Quote the server as it is, exactly once',
      };
      refusals.push(refusal);
      log(formatRefusal(refusal));
    }
  }
  return { cell: { ...head, measured: known }, refusals };
}

/** The processes that ran or waited to run, over the last minute. */
function readLoad(): number {
  const [load = 0] = loadavg();
  return Math.round(load * 10) / 10;
}

function describeRuns(runs: readonly GateRun[]): string {
  return isCaught(runs, 'fails') ? 'fails' : isCaught(runs, 'reports') ? 'reports' : describeOutcome(runs);
}

function describeOutcome(runs: readonly GateRun[]): string {
  return runs.find(({ outcome }) => outcome !== 'done')?.outcome ?? 'nothing';
}

/** A signal counts if it came in two of three runs; where the first two agree, a third decides nothing and is not made. */
export function isCaught(runs: readonly GateRun[], column: 'fails' | 'reports'): boolean {
  return runs.filter((run) => run[column]).length >= leastRuns;
}

interface Todo {
  key: string;
  kind: Line['kind'];
  change: Change | null;
}

function listTodo(changes: readonly Change[], repeats: number): Todo[] {
  return [
    ...Array.from({ length: repeats }, (_, index) => ({ key: `base ${index}`, kind: 'repeat' as const, change: null })),
    ...changes.map((change) => ({ key: hashPatch(change), kind: change.kind, change })),
  ];
}

async function readCell(path: string, head: Head, contestant: Contestant): Promise<Line[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const [first = '', ...others] = text.split('\n').filter((line) => line !== '');
  // What another version measured is another cell. A commit of this repository changes nothing that a peer measures.
  const own = contestant.kind === 'own' || contestant.kind === 'person';
  const identify = (each: Partial<Head>) => JSON.stringify(own ? each : { ...each, commit: '' });
  if (identify(JSON.parse(first === '' ? '{}' : first) as Partial<Head>) !== identify(head)) {
    await rm(path, { force: true });
    return [];
  }
  return others.map((line) => JSON.parse(line) as Line);
}

/** Reads all cells of a directory that were measured, for the table. */
export async function readCells(directory: string, files: readonly string[]): Promise<Cell[]> {
  return await Promise.all(
    files.map(async (file) => {
      const [first = '{}', ...lines] = (await readFile(join(directory, file), 'utf8')).split('\n');
      const measured = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
      return { ...(JSON.parse(first) as Head), measured };
    }),
  );
}

interface Referee {
  judge(change: Change | null): Promise<GateRun[]>;
}

/** Makes a gate whose programs run until its time is over. */
export function openGate(
  rig: Rig,
  { level, limitMs }: { level: Level; limitMs: number },
): { gate: Gate; hung: () => boolean } {
  const end = performance.now() + limitMs;
  let hung = false;
  const run: Gate['run'] = async (command, env = {}) => {
    const isolated = { HOME: join(rig.project, 'home'), TMPDIR: join(rig.project, 'tmp'), CI: 'true' };
    const left = Math.max(1, end - performance.now());
    const ran = await runProgram(command, { cwd: rig.project, env: { ...isolated, ...env }, limitMs: left });
    hung ||= ran.hung;
    return ran;
  };
  return { gate: { server: rig.server, project: rig.project, start: rig.start, level, run }, hung: () => hung };
}

/** Prepares the contestant on the base, once, and keeps what it left there. */
async function openReferee(rig: Rig, options: CellOptions): Promise<Referee> {
  const { contestant } = options.contestant;
  const { level, limitMs = gateLimitMs, log } = options;
  const kept = join(dirname(rig.project), 'kept');
  let problem: Outcome | null = null;
  let first: Signal = { fails: false, findings: [] };
  await rig.lay(null);
  const preparation = openGate(rig, { level, limitMs: options.limitMs ?? preparationLimitMs });
  try {
    await contestant.prepare(preparation.gate);
    if (preparation.hung()) problem = 'hung';
  } catch (error) {
    problem = preparation.hung() ? 'hung' : 'broken';
    log(`${rig.server.name} ${options.contestant.name}: cannot be prepared: ${String(error).slice(0, 300)}`);
  }
  await rm(kept, { recursive: true, force: true });
  await mkdir(kept);
  for (const path of contestant.kept) {
    await cp(join(rig.project, path), join(kept, path), { recursive: true }).catch(() => {});
  }
  const runGate = async (change: Change | null): Promise<{ run: GateRun; signal: Signal | null }> => {
    await rig.lay(change);
    if (problem !== null) {
      return { run: { outcome: problem, fails: false, reports: false, seconds: 0 }, signal: null };
    }
    await cp(kept, rig.project, { recursive: true });
    const { gate, hung } = openGate(rig, { level, limitMs });
    const start = performance.now();
    const measure = () => Math.round((performance.now() - start) / 10) / 100;
    try {
      const signal = await contestant.check(gate);
      if (hung()) return { run: { outcome: 'hung', fails: false, reports: false, seconds: measure() }, signal: null };
      const isNew = signal.findings.some((finding) => !first.findings.includes(finding));
      const run: GateRun = {
        outcome: 'done',
        fails: signal.fails,
        reports: signal.fails || isNew,
        seconds: measure(),
        ...(signal.isCut === true ? { isCut: true } : {}),
      };
      return { run, signal };
    } catch (error) {
      const outcome = hung() ? 'hung' : 'broken';
      if (outcome === 'broken') log(`${rig.server.name} ${options.contestant.name}: ${String(error).slice(0, 300)}`);
      return { run: { outcome, fails: false, reports: false, seconds: measure() }, signal: null };
    }
  };
  // What it shows of the unchanged server is no finding about a change. This run is the first of the repeats, too.
  const opening = await runGate(null);
  first = opening.signal ?? first;
  const repeats = [{ ...opening.run, reports: opening.run.fails }];
  return {
    async judge(change) {
      if (change === null) return [repeats.pop() ?? (await runGate(null)).run];
      const runs: GateRun[] = [];
      while (runs.length < mostRuns && !isDecided(runs)) runs.push((await runGate(change)).run);
      return runs;
    },
  };
}

function isDecided(runs: readonly GateRun[]): boolean {
  const [first, ...others] = runs;
  return (
    first !== undefined &&
    others.length > 0 &&
    others.every(({ fails, reports }) => fails === first.fails && reports === first.reports)
  );
}
