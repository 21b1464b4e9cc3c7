// `npm run bench -- gates`: proves the corpus, runs cells, and makes the table. See docs/benchmark.md.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCells, runCell } from './cell.ts';
import type { Contestant, Level } from './contestant.ts';
import { type Change, formatRefusal, readBugs, readSound, type Refusal } from './corpus.ts';
import { drawBugs } from './operators/draw.ts';
import { readCommit } from './own.ts';
import { countProven, proveChanges } from './prove.ts';
import { drawSample } from './sample.ts';
import { endAllGroups } from './process.ts';
import { drawHeldOut, installServer, readServers, removeScratches, type Server, ServerProblem } from './servers.ts';
import { judgeCell, writePage } from './page.ts';
import { readStrengths, runStrength } from './strength.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Committed, so that a cell can be measured anew without all others. */
const results = fileURLToPath(new URL('results', import.meta.url));

const options = {
  prove: { type: 'boolean' },
  again: { type: 'boolean' },
  table: { type: 'boolean' },
  strength: { type: 'boolean' },
  hash: { type: 'boolean' },
  reveal: { type: 'boolean' },
  draw: { type: 'string' },
  server: { type: 'string' },
  contestant: { type: 'string' },
  level: { type: 'string', default: 'none' },
  sample: { type: 'string' },
  seed: { type: 'string', default: '1' },
  shard: { type: 'string', default: '1/1' },
  repeats: { type: 'string', default: '20' },
  results: { type: 'string', default: results },
  corpus: { type: 'string', default: here },
} as const;

interface Listed {
  name: string;
  contestant: Contestant;
}

/** Every file of `contestants/` takes part. */
async function readContestants(): Promise<Listed[]> {
  const files = (await readdir(join(here, 'contestants'))).filter((file) => file.endsWith('.ts')).toSorted();
  return await Promise.all(
    files.map(async (file) => {
      const { contestant } = (await import(`./contestants/${file}`)) as { contestant: Contestant };
      return { name: basename(file, '.ts'), contestant };
    }),
  );
}

/** Reads the arguments after `gates`; gives the exit code. */
export async function runGates(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, leave);
  const level = values.level as Level;
  const all = await readServers();
  const heldOut = drawHeldOut(all.map(({ name }) => name));
  const servers = pick(all, values.server, ({ name }) => name);
  const refusals: Refusal[] = [];
  const problems: string[] = [];
  if (values.hash === true) {
    for (const server of servers) console.log(`${server.name} ${await findHash(server)}`);
    return 0;
  }
  if (values.draw !== undefined) {
    for (const server of servers)
      await drawBugs(server, { root: values.corpus, count: Number(values.draw), seed: Number(values.seed) });
    return 0;
  }
  const changes = new Map<string, Change[]>();
  for (const { name } of all) {
    const [bugs, sound] = [await readBugs(values.corpus, name), await readSound(values.corpus, name)];
    if (servers.some((server) => server.name === name)) refusals.push(...bugs.refusals, ...sound.refusals);
    changes.set(name, [...bugs.changes, ...sound.changes]);
  }
  if (values.prove === true) {
    for (const server of servers) {
      const own = changes.get(server.name) ?? [];
      try {
        const proofs = await proveChanges(server, own, {
          isAgain: values.again === true,
          corpus: values.corpus,
          onProof({ change, refusal, differed, of }) {
            if (refusal === null) console.log(`${server.name} ${change.id}: ${differed} of ${of}`);
            else console.log(formatRefusal(refusal));
          },
        });
        refusals.push(...proofs.flatMap(({ refusal }) => (refusal === null ? [] : [refusal])));
        const proven = proofs.filter(({ refusal }) => refusal === null).length;
        console.log(`${server.name}: ${proven} of ${own.length} proven.`);
      } catch (error) {
        problems.push(explain(error));
      }
    }
  } else if (values.strength === true) {
    const listed = pick(await readContestants(), values.contestant, ({ name }) => name);
    for (const server of servers) {
      for (const { name, contestant } of listed.filter((each) => each.contestant.measureStrength !== undefined)) {
        const line = await runStrength(server, {
          name,
          contestant,
          level,
          commit: readCommit(),
          directory: values.results,
        });
        console.log(`${server.name} ${name}: ${line}.`);
      }
    }
  } else if (values.table !== true) {
    const listed = pick(await readContestants(), values.contestant, ({ name }) => name);
    const sampled = values.sample === undefined ? null : drawSample(changes, values.sample, Number(values.seed));
    const filled = servers.filter(({ name }) => (changes.get(name) ?? []).length > 0);
    const cells = filled.flatMap((server) => listed.map((each) => ({ server, ...each })));
    const [index = 1, count = 1] = values.shard.split('/').map(Number);
    const mine = cells.filter((_, position) => position % count === index - 1);
    for (const { server, name, contestant } of mine) {
      const installed = await contestant.install();
      if ('missing' in installed) {
        console.log(`${name}: not installed: ${installed.missing}`);
        await mkdir(values.results, { recursive: true });
        await writeFile(nameMissing(values.results, name), installed.missing);
        continue;
      }
      await rm(nameMissing(values.results, name), { force: true });
      try {
        const { cell, refusals: found } = await runCell(server, {
          contestant: { name, contestant, version: installed.version },
          level,
          commit: readCommit(),
          directory: values.results,
          changes: (changes.get(server.name) ?? []).filter((change) => sampled === null || sampled.has(change)),
          repeats: Number(values.repeats),
          isHeldOut: heldOut.has(server.name),
          isRevealed: values.reveal === true,
          log: (line) => console.log(line),
        });
        refusals.push(...found);
        const totals = Object.entries(Object.groupBy(judgeCell(cell), ({ kind }) => kind)).map(
          ([kind, results]) => `${results.filter(({ fails }) => fails).length} of ${results.length} ${kind}s fail`,
        );
        console.log(`${server.name} ${name}: ${totals.join(', ')}.`);
      } catch (error) {
        problems.push(explain(error));
      }
    }
  }
  if (values.table === true) {
    const files = (await readdir(values.results)).filter((file) => file.endsWith('.jsonl')).toSorted();
    const contestants = await readContestants();
    const missing = new Map<string, string>();
    for (const { name } of contestants) {
      const reason = await readFile(nameMissing(values.results, name), 'utf8').catch(() => null);
      if (reason !== null) missing.set(name, reason);
    }
    const cells = await readCells(values.results, files);
    const proven = new Map<string, number>();
    for (const server of all)
      proven.set(server.name, await countProven(server, changes.get(server.name) ?? [], values.corpus));
    await writePage({
      // A cell that was stopped before its first run measured nothing.
      cells: cells.filter(({ measured }) => measured.length > 0),
      changes: [...changes.values()].flat(),
      servers: all,
      heldOut,
      contestants,
      missing,
      proven,
      strengths: await readStrengths(values.results),
    });
  }
  for (const refusal of refusals) console.error(formatRefusal(refusal));
  for (const problem of problems) console.error(problem);
  return refusals.length + problems.length > 0 ? 1 : 0;
}

/** Keeps why a contestant could not be installed, since the table installs nothing. */
function nameMissing(directory: string, contestant: string): string {
  return join(directory, `${contestant}.missing.txt`);
}

/** Cells go on from their files, so nothing else has to be kept. */
function leave(): void {
  endAllGroups();
  removeScratches();
  process.exit(130);
}

/** A server that cannot be measured is one line; the others are measured. */
function explain(error: unknown): string {
  if (error instanceof ServerProblem) return error.message;
  throw error;
}

function pick<T>(all: readonly T[], wanted: string | undefined, readName: (each: T) => string): T[] {
  if (wanted === undefined) return [...all];
  const names = wanted.split(',');
  const unknown = names.find((name) => !all.some((each) => readName(each) === name));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${all.map(readName).join(', ')}.`);
  return all.filter((each) => names.includes(readName(each)));
}

/** For the catalogue: the hash of what the registry has for the pinned version. */
async function findHash(server: Server): Promise<string> {
  return await installServer(server).then(
    () => server.sha256,
    (error: unknown) => (error instanceof ServerProblem ? error.message : Promise.reject(error)),
  );
}
