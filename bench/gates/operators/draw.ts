// Draws candidates of the operators over all lines of a server by a seed, starts each, and keeps those that a user notices: a small file
// with the fewest calls of the server's session that show it. The others are equivalent, or the session does not reach them.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../../lib/base/random.js';
import { differs, findStable, maskForms } from '../compare.ts';
import { type Bug, hashPatch, type Patch } from '../corpus.ts';
import { type Call, runSession, type Seen } from '../session.ts';
import { installServer, openRig, type Rig, type Server, ServerProblem } from '../servers.ts';
import { type Operator, operators } from './operators.ts';

const servers = fileURLToPath(new URL('../servers', import.meta.url));

interface Candidate {
  operator: Operator;
  patch: Patch;
}

interface DrawOptions {
  /** Where `bugs/` is. */
  root: string;
  /** How many to keep. */
  count: number;
  seed: number;
}

/** Draws as many bugs as wanted, at most three of an operator for each ten. */
export async function drawBugs(server: Server, { root, count, seed }: DrawOptions): Promise<void> {
  const groups = JSON.parse(await readFile(join(servers, server.name, 'session.json'), 'utf8')) as Call[][];
  const candidates = shuffle(await listCandidates(server), createRandom(seed));
  await using rig = await openRig(server);
  const whole = groups.flat();
  const base = await observeBase(rig, whole);
  const alone = new Map<number, Base>();
  const kept = new Map<string, number>();
  const most = Math.max(2, Math.ceil(count * 0.16));
  const directory = join(root, 'bugs', server.name);
  await mkdir(directory, { recursive: true });
  const files = new Set(await readdir(directory));
  let total = 0;
  let tried = 0;
  for (const { operator, patch } of candidates) {
    if (total >= count) break;
    if ((kept.get(operator.name) ?? 0) >= most) continue;
    tried += 1;
    const seen = await observeHead(rig, patch, whole);
    if (seen === null || seen.shown === null) continue;
    const proof = await findProof(seen, { base, groups, alone, rig, patch });
    if (proof === null) continue;
    const id = `${operator.name}-${patch.id}-${hashPatch(patch).slice(0, 4)}`;
    if (files.has(`${id}.json`)) continue;
    const content = {
      file: patch.file,
      search: patch.search,
      replacement: patch.replacement,
      class: operator.class,
      notice: proof.notice,
      origin: `operator ${operator.name}`,
      proof: { kind: proof.kind, ...(proof.calls.length > 0 ? { calls: proof.calls } : {}) },
    };
    await writeFile(join(directory, `${id}.json`), formatBug(content));
    kept.set(operator.name, (kept.get(operator.name) ?? 0) + 1);
    total += 1;
    console.log(`${server.name} ${id} (${tried} tried)`);
  }
  console.log(`${server.name}: kept ${total} of ${tried} tried, of ${candidates.length} candidates.`);
}

async function listCandidates(server: Server): Promise<Candidate[]> {
  const { own } = await installServer(server);
  const entries = await readdir(own, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.(?:js|py|go|rs)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(own.length + 1))
    .filter((path) => !/node_modules|__tests__|test|transports\/(?:sse|streamable)|telemetry/.test(path))
    .toSorted();
  const candidates: Candidate[] = [];
  for (const file of paths) {
    const source = await readFile(join(own, file), 'utf8');
    const lines = source.split('\n');
    for (const [index, line] of lines.entries()) {
      if (/^\s*(?:\/\/|#|\*|import |from |"""|package |console\.error|logger\.)| from ['"]|^\s*\S.{400}/.test(line))
        continue;
      for (const operator of operators) {
        for (const mutated of new Set(operator.mutate(line))) {
          if (mutated.trim() === line.trim()) continue;
          const patch = quoteSite(source, lines, { index, mutated });
          if (patch === null) continue;
          candidates.push({ operator, patch: { server: server.name, id: String(index + 1), file, ...patch } });
        }
      }
    }
  }
  return candidates;
}

/** Quotes the line with as many lines around it as make the text unique. */
function quoteSite(
  source: string,
  lines: readonly string[],
  { index, mutated }: { index: number; mutated: string },
): { search: string; replacement: string } | null {
  for (let around = 0; around <= 3; around += 1) {
    const before = lines.slice(Math.max(0, index - around), index);
    const after = lines.slice(index + 1, index + 1 + around);
    const search = [...before, lines[index], ...after].join('\n');
    if (source.split(search).length === 2) return { search, replacement: [...before, mutated, ...after].join('\n') };
  }
  return null;
}

function shuffle<T>(all: readonly T[], random: () => number): T[] {
  return all
    .map((each) => ({ each, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ each }) => each);
}

interface Base {
  shown: string[];
  answers: string[][];
}

async function observeBase(rig: Rig, calls: readonly Call[]): Promise<Base> {
  const runs: Seen[] = [];
  while (runs.length < 3) {
    const seen = await observeHead(rig, null, calls);
    if (seen !== null) runs.push(seen);
  }
  return {
    shown: runs.map(({ shown }) => shown ?? ''),
    answers: calls.map((_, index) => runs.map(({ answers }) => answers[index] ?? '')),
  };
}

async function observeHead(rig: Rig, patch: Patch | null, calls: readonly Call[]): Promise<Seen | null> {
  try {
    await rig.lay(patch);
  } catch (error) {
    if (error instanceof ServerProblem) return null;
    throw error;
  }
  const { capabilities } = rig.server;
  const seen = await runSession(calls, {
    start: rig.start,
    cwd: rig.project,
    limitMs: 20_000,
    ...(capabilities === undefined ? {} : { capabilities }),
  });
  return seen;
}

interface FoundProof {
  kind: Bug['proof']['kind'];
  calls: Call[];
  notice: string;
}

interface ProofContext {
  base: Base;
  groups: readonly Call[][];
  alone: Map<number, Base>;
  rig: Rig;
  patch: Patch;
}

/** Finds the group whose answers differ, and confirms it by a session of that group alone. */
async function findProof(seen: Seen, { base, groups, alone, rig, patch }: ProofContext): Promise<FoundProof | null> {
  if (isDifferent(base.shown, seen.shown ?? '')) {
    return {
      kind: 'shown',
      calls: [],
      notice: `A host is shown ${quoteChange(base.shown[0] ?? '', seen.shown ?? '')}`,
    };
  }
  let start = 0;
  for (const [number, group] of groups.entries()) {
    const index = group.findIndex((_, at) =>
      isDifferent(base.answers[start + at] ?? [], seen.answers[start + at] ?? ''),
    );
    start += group.length;
    if (index < 0) continue;
    const own = alone.get(number) ?? (await observeBase(rig, group));
    alone.set(number, own);
    const again = await observeHead(rig, patch, group);
    if (again === null) return null;
    const at = group.findIndex((_, each) => isDifferent(own.answers[each] ?? [], again.answers[each] ?? ''));
    const call = group[at];
    if (call === undefined) continue;
    const name = 'tool' in call ? call.tool : call.method;
    const change = quoteChange(own.answers[at]?.[0] ?? '', again.answers[at] ?? '');
    return { kind: 'answer', calls: group.slice(0, at + 1), notice: `${name} answers ${change}` };
  }
  return null;
}

function isDifferent(known: readonly string[], text: string): boolean {
  const stable = findStable(known);
  return stable !== null && differs(stable, text);
}

/** One call a line, so that a file is read at a glance. */
function formatBug({
  proof,
  ...others
}: Record<string, unknown> & { proof: { kind: string; calls?: readonly Call[] } }): string {
  const { kind, calls } = proof;
  const body = JSON.stringify(others, null, 2).slice(0, -2);
  const listed = calls?.map((call) => `      ${JSON.stringify(call)}`).join(',\n');
  const shown = listed === undefined ? '' : `,\n    "calls": [\n${listed}\n    ]`;
  return `${body},\n  "proof": {\n    "kind": "${kind}"${shown}\n  }\n}\n`;
}

/** What a person reads of an answer. */
function readText(answer: string): string {
  try {
    const { result, error } = JSON.parse(answer) as {
      result?: { content?: ReadonlyArray<{ text?: string }>; isError?: boolean };
      error?: { message: string };
    };
    if (error !== undefined) return `error: ${error.message}`;
    if (result?.content === undefined) return answer;
    const text = result.content.map((block) => block.text ?? JSON.stringify(block)).join(' ');
    return result.isError === true ? `error: ${text}` : text;
  } catch {
    return answer;
  }
}

/** Quotes where two texts part, a few words long. */
function quoteChange(before: string, after: string): string {
  const [read, changed] = [readText(before), readText(after)];
  // Where the text is the same, another part of the answer differs.
  const [was, is] = (read === changed ? [before, after] : [read, changed]).map((text) =>
    maskForms(text).replaceAll(/\/tmp\/gates-\w+\/project/g, '‹project›'),
  );
  if (was === undefined || is === undefined) return '';
  let start = 0;
  while (start < was.length && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < Math.min(was.length, is.length) - start && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  const from = Math.max(0, start - 12);
  const clip = (text: string) => {
    const part = text.slice(from, Math.max(text.length - end + 8, from));
    return `“${part.length > 90 ? `${part.slice(0, 90)}…` : part}”`;
  };
  return `${clip(is)} instead of ${clip(was)}`;
}
