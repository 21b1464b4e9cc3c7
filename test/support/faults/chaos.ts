import { createFaultWorld, type JobEnd, timeoutMinutes } from './fault-world.ts';
import { type Blow, createDraw, forGood, type Phase, strike } from './letters.ts';

/** A possible element of a schedule: a blow at the request of a phase. */
export interface Peril {
  fault: number;
  phaseName: string;
  phase: Pick<Phase, 'route' | 'usual'>;
  blow: Blow;
  /** True if the fault passes. */
  passes: boolean;
}

/** A schedule of one to six faults for one job, and the true result of its evals. */
export interface Schedule {
  seed: number;
  perils: ReadonlyArray<Peril & { from: number; count: number }>;
  /** True if all faults pass, each within the limits for recovery. */
  isRecoverable: boolean;
  truth: 'passed' | 'failed';
}

/** Draws the schedule of a seed. The same seed always gives the same schedule. */
export function drawSchedule(seed: number, perils: readonly Peril[]): Schedule {
  const draw = createDraw(seed);
  const isRecoverable = draw.between(0, 2) > 0;
  const pool = isRecoverable ? perils.filter(({ passes }) => passes) : perils;
  const drawn = Array.from({ length: draw.between(1, 6) }, () => {
    const peril = pool[draw.between(0, pool.length - 1)]!;
    const from = draw.between(1, peril.phase.usual);
    const lasting = draw.between(0, 3) === 0 ? forGood : draw.between(1, 4);
    return { ...peril, from, count: isRecoverable ? 1 : lasting };
  });
  return { seed, perils: drawn, isRecoverable, truth: draw.between(0, 3) === 0 ? 'failed' : 'passed' };
}

/** Runs a job under a schedule and lists the broken promises; empty if all were kept. */
export async function runSchedule({ seed, perils, isRecoverable, truth }: Schedule): Promise<string[]> {
  await using world = await createFaultWorld({ seed });
  for (const { phase, blow, ...place } of perils) strike(world, phase, blow, place);
  const end = await world.run({ tunnel: seed % 2 === 0 ? 'always' : 'never', tests: truthfulTests(truth) });
  // The cleanup has only seconds. After that, resources may stay, and the job reports them.
  const isTeardownHit = perils.some(({ phaseName }) => phaseName.startsWith('P9'));
  return listBreaches(end, { isRecoverable, truth, mayLeave: isTeardownHit });
}

export function describeSchedule({ seed, perils, isRecoverable, truth }: Schedule): string {
  const faults = perils.map(({ fault, phaseName, from, count }) => {
    const times = count === forGood ? 'for good' : `${count} times`;
    return `fault ${fault} at ${phaseName}, request ${from}, ${times}`;
  });
  return `seed ${seed}, ${isRecoverable ? 'recoverable' : 'anything'}, evals that ${truth}: ${faults.join('; ')}`;
}

function truthfulTests(truth: Schedule['truth']): string {
  const step = (tool: string) => `  steps:\n    - toolCall: ${tool}\n      arguments: { seconds: 4 }\n`;
  return ['one', 'two', 'three']
    .map((title) => `- title: ${title}\n${step(truth === 'failed' && title === 'two' ? 'fail' : 'work')}`)
    .join('');
}

/** Checks the invariants, named as in the project's plan for faults. */
function listBreaches(
  end: JobEnd,
  { isRecoverable, truth, mayLeave }: { isRecoverable: boolean; truth: Schedule['truth']; mayLeave: boolean },
): string[] {
  const totals = end.report?.totals;
  const isVerdict = end.exitCode === 0 || end.exitCode === 1;
  const exitCodes = { passed: 0, failed: 1 };
  const checks: Array<[isKept: boolean, breach: string]> = [
    [end.exitCode !== 0 || (truth === 'passed' && end.outcome === 'passed'), 'I1 a pass that is none'],
    [!isVerdict || end.exitCode === exitCodes[truth], `a verdict (${end.outcome}) that is not true`],
    [!isVerdict || totals?.iterations === 3, `I2 ${totals?.iterations} results of 3 iterations`],
    [end.runs <= 1, `I3 ${end.runs} runs`],
    [mayLeave || end.leftovers.length === 0, `I4 left behind: ${end.leftovers.join(', ')}`],
    [!isVerdict || mayLeave || !end.hasNote, 'I4 a cleanup journal although everything is cleaned up'],
    [end.tookMs <= timeoutMinutes * 60_000 + 15_000, `I7 it took ${end.tookMs} ms`],
    [!isRecoverable || isVerdict, `exit ${end.exitCode} although everything passed by: ${end.said.slice(0, 300)}`],
  ];
  return checks.flatMap(([isKept, breach]) => (isKept ? [] : [breach]));
}
