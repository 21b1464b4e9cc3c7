// Measures how many changes of answers the evals of a contestant notice, to compare it with the share of bugs that its gate fails on.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeWilsonInterval } from '../../lib/verdict/statistics/wilson.js';
import { openGate, preparationLimitMs } from './cell.ts';
import type { Contestant, Level, Strength } from './contestant.ts';
import type { ScatterPoint } from './scatter.ts';
import { openRig, type Server, ServerProblem } from './servers.ts';

const ending = '.strength.json';
const confidence = 0.95;

export interface MeasuredStrength extends Strength {
  server: string;
  contestant: string;
  commit: string;
}

interface StrengthOptions {
  name: string;
  contestant: Contestant;
  level: Level;
  commit: string;
  directory: string;
}

/** Prepares a contestant on the unchanged server, measures its evals, and writes the result into a file. Gives a line about it. */
export async function runStrength(
  server: Server,
  { name, contestant, level, commit, directory }: StrengthOptions,
): Promise<string> {
  try {
    await using rig = await openRig(server);
    await rig.lay(null);
    const { gate } = openGate(rig, { level, limitMs: preparationLimitMs });
    await contestant.prepare(gate);
    const strength = await contestant.measureStrength?.(gate);
    if (strength === undefined) return 'has no evals to measure';
    const measured: MeasuredStrength = { server: server.name, contestant: name, commit, ...strength };
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${server.name}.${name}${ending}`), `${JSON.stringify(measured)}\n`);
    const { harmful, harmless } = strength;
    return `notices ${harmful.noticed} of ${harmful.of} harmful changes, tolerates ${harmless.tolerated} of ${harmless.of} harmless ones`;
  } catch (error) {
    // A server that cannot be measured is one line; the others are measured.
    const message = error instanceof ServerProblem ? error.message : String(error);
    return `not measured: ${message.slice(0, 300)}`;
  }
}

export async function readStrengths(directory: string): Promise<MeasuredStrength[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(ending)).toSorted();
  return await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(directory, name), 'utf8')) as MeasuredStrength),
  );
}

/** Joins strengths with the bugs that the gates of the same evals caught. One without bugs is no point. */
export function joinStrengths(
  strengths: readonly MeasuredStrength[],
  countBugs: (strength: MeasuredStrength) => { passed: number; total: number },
): ScatterPoint[] {
  const measure = (passed: number, total: number) => ({
    passed,
    total,
    ...computeWilsonInterval(passed, total, confidence),
  });
  return strengths.flatMap((strength) => {
    const { server, contestant, harmful } = strength;
    const { passed, total } = countBugs(strength);
    if (harmful.of === 0 || total === 0) return [];
    return [{ server, contestant, noticed: measure(harmful.noticed, harmful.of), caught: measure(passed, total) }];
  });
}
