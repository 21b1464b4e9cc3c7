// Starts both sides of every change. Refuses a bug that no user can notice, and a silent sound change that a user can.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { differs, findStable } from './compare.ts';
import type { Bug, Change, Refusal, SoundChange } from './corpus.ts';
import { type Call, runSession, type Seen } from './session.ts';
import { openRig, type Rig, type Server, ServerProblem } from './servers.ts';

const repeats = 3;
const chanceRuns = 30;
const chanceLeast = 5;
const slowerMs = 500;

export interface Proof {
  change: Change;
  refusal: Refusal | null;
  /** In how many runs of the patched side something differed, of how many. */
  differed: number;
  of: number;
}

interface ProveOptions {
  /** Proofs of before count as long as neither the change nor the server changed. */
  isAgain: boolean;
  /** The directory of the corpus, which keeps the proofs. */
  corpus: string;
  onProof: (proof: Proof) => void;
}

/** Proves the changes of one server, one after the other. */
export async function proveChanges(
  server: Server,
  changes: readonly Change[],
  { isAgain, corpus, onProof }: ProveOptions,
): Promise<Proof[]> {
  const ledger = await openLedger(server, changes, corpus);
  const unknown = changes.filter((change) => isAgain || !ledger.known.has(hashProof(server, change)));
  const proofs: Proof[] = changes
    .filter((change) => !unknown.includes(change))
    .map((change) => ({ change, refusal: null, differed: repeats, of: repeats }));
  if (unknown.length === 0) return proofs;
  await using rig = await openRig(server);
  const sides = createSides(rig);
  for (const change of unknown) {
    const proof = await prove(sides, change);
    onProof(proof);
    proofs.push(proof);
    if (proof.refusal === null) await ledger.add(hashProof(server, change));
  }
  return proofs;
}

/** Counts the changes of a server that were proven as they are. */
export async function countProven(server: Server, changes: readonly Change[], corpus: string): Promise<number> {
  const { known } = await openLedger(server, changes, corpus);
  return changes.filter((change) => known.has(hashProof(server, change))).length;
}

interface Ledger {
  known: ReadonlySet<string>;
  add(hash: string): Promise<void>;
}

/** The corpus has a line for each change whose proof held, and for none that it does not have any more. */
async function openLedger(server: Server, changes: readonly Change[], corpus: string): Promise<Ledger> {
  const path = join(corpus, 'proofs', `${server.name}.txt`);
  const current = new Set(changes.map((change) => hashProof(server, change)));
  const text = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(text.split('\n').filter((line) => current.has(line)));
  return {
    known,
    async add(hash) {
      known.add(hash);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `${[...known].toSorted().join('\n')}\n`);
    },
  };
}

function hashProof(server: Server, change: Change): string {
  return createHash('sha256')
    .update(JSON.stringify([server, change]))
    .digest('hex')
    .slice(0, 16);
}

interface Sides {
  /** Of the unchanged server, made once for the same calls. */
  base(calls: readonly Call[], runs: number): Promise<Seen[]>;
  head(change: Change, calls: readonly Call[], runs: number): Promise<Seen[]>;
}

function createSides(rig: Rig): Sides {
  const known = new Map<string, Seen[]>();
  const run = async (change: Change | null, calls: readonly Call[]) => {
    await rig.lay(change);
    const seen = await runSession(calls, {
      start: rig.start,
      cwd: rig.project,
      ...(rig.server.capabilities === undefined ? {} : { capabilities: rig.server.capabilities }),
    });
    return seen;
  };
  return {
    async base(calls, runs) {
      const key = JSON.stringify(calls);
      const seen = known.get(key) ?? [];
      known.set(key, seen);
      while (seen.length < runs) seen.push(await run(null, calls));
      return seen.slice(0, runs);
    },
    async head(change, calls, runs) {
      const seen: Seen[] = [];
      while (seen.length < runs) seen.push(await run(change, calls));
      return seen;
    },
  };
}

async function prove(sides: Sides, change: Change): Promise<Proof> {
  const file = `${change.kind === 'bug' ? 'bugs' : 'sound'}/${change.server}/${change.id}.json`;
  try {
    const { differed, of, problem } =
      change.kind === 'bug' ? await proveBug(sides, change) : await proveSound(sides, change);
    return { change, differed, of, refusal: problem === null ? null : { file, ...problem } };
  } catch (error) {
    if (!(error instanceof ServerProblem)) throw error;
    const refusal = {
      file,
      reason: error.message.replace(/\.$/, ''),
      remedy: 'Quote the server as it is, exactly once',
    };
    return { change, differed: 0, of: 0, refusal };
  }
}

interface Shown {
  differed: number;
  of: number;
  problem: Omit<Refusal, 'file'> | null;
}

async function proveBug(sides: Sides, bug: Bug): Promise<Shown> {
  const { kind, calls } = bug.proof;
  const [first] = await sides.base(calls, 1);
  const invalid = findInvalid(calls, first);
  if (invalid !== null) {
    return {
      differed: 0,
      of: 0,
      problem: { reason: invalid, remedy: 'Make calls that the schema of the base allows' },
    };
  }
  const base = await sides.base(calls, repeats);
  const of = kind === 'chance' ? chanceRuns : repeats;
  const head = await sides.head(bug, calls, of);
  const least = kind === 'chance' ? chanceLeast : repeats;
  const differed =
    kind === 'latency'
      ? countSlower(base, head)
      : countDifferent(base, head, kind === 'shown' ? readShown : readAnswers);
  if (differed === null) return { differed: 0, of, problem: flaky };
  if (differed >= least) return { differed, of, problem: null };
  if (differed === 0 || kind === 'chance') {
    const reason = `its proof differs in ${differed} of ${of} runs, not in ${least}`;
    return { differed, of, problem: { reason, remedy: 'Make calls that show the bug, or remove the file' } };
  }
  return { differed, of, problem: flaky };
}

const flaky = {
  reason: 'its proof is flaky: runs of one side differ from each other',
  remedy: 'Make calls with stable answers, or say that the kind of the proof is chance',
};

async function proveSound(sides: Sides, change: SoundChange): Promise<Shown> {
  const { calls } = change.proof;
  const base = await sides.base(calls, repeats);
  const head = await sides.head(change, calls, repeats);
  const differed = countDifferent(base, head, readAll);
  if (differed === null) return { differed: 0, of: repeats, problem: flaky };
  const wanted = change.kind === 'silent' ? 0 : repeats;
  if (differed === wanted) return { differed, of: repeats, problem: null };
  const problem =
    change.kind === 'silent'
      ? {
          reason: `it is called silent and differs in ${differed} of ${repeats} runs`,
          remedy: 'Call it meant, or a bug',
        }
      : {
          reason: `it is called meant and differs in ${differed} of ${repeats} runs`,
          remedy: 'Make calls that show it',
        };
  return { differed, of: repeats, problem };
}

function readShown({ shown }: Seen): string[] {
  return [shown ?? 'does not start'];
}

/** A server that does not start at all is noticed by every gate, and measures none. */
function readAnswers({ shown, answers }: Seen): string[] | null {
  return shown === null ? null : [...answers];
}

function readAll(seen: Seen): string[] {
  return [...readShown(seen), ...seen.answers];
}

/** Counts the runs of the head that differ from what the runs of the base agree on; null where these do not agree. */
function countDifferent(
  base: readonly Seen[],
  head: readonly Seen[],
  read: (seen: Seen) => string[] | null,
): number | null {
  const known = base.map((seen) => read(seen) ?? []);
  const stable = known[0]?.map((_, index) => findStable(known.map((texts) => texts[index] ?? ''))) ?? [];
  if (stable.some((each) => each === null)) return null;
  return head.filter((seen) => {
    const texts = read(seen);
    return texts !== null && stable.some((each, index) => each !== null && differs(each, texts[index] ?? ''));
  }).length;
}

/** Compares each run with the median of the base, since a busy machine delays single runs of either side. */
function countSlower(base: readonly Seen[], head: readonly Seen[]): number {
  const times = base.map(({ callsMs }) => callsMs).toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  return head.filter(({ callsMs }) => callsMs - median >= slowerMs).length;
}

/** Says which call the server's own schema does not allow; null where it allows all. */
function findInvalid(calls: readonly Call[], seen: Seen | undefined): string | null {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  for (const call of calls) {
    if (!('tool' in call)) continue;
    const tool = seen?.tools.find(({ name }) => name === call.tool);
    if (tool === undefined) return `the base has no tool ${call.tool}`;
    const { $schema: _, ...schema } = tool.inputSchema;
    if (!ajv.validate(schema, call.arguments ?? {})) return `a call of ${call.tool} is invalid: ${ajv.errorsText()}`;
  }
  return null;
}
