import { makesAllDraws } from '../property-runs.ts';
import { createFaultWorld, type JobEnd, timeoutMinutes, type WorldOptions } from './fault-world.ts';
import { type Blow, createDraw, type Draw, type Letter, type Phase, type Trial } from './letters.ts';

/** However a job is broken, it ends this long after its own time at the latest. */
const latestEndMs = timeoutMinutes * 60_000 + 15_000;

interface Cell {
  letter: Letter;
  phase: Phase;
  blows: readonly Blow[];
}

/** Runs one seed of a cell and says what is other than it should be; empty where nothing is. */
export async function runCell(cell: Cell, options: WorldOptions): Promise<string[]> {
  const trial = cell.letter(cell.phase, cell.blows, createDraw(options.seed));
  return await judgeTrial(trial, cell.phase, options);
}

/** Jobs of a cell that may differ in nothing but numbers and the jitter of their waits. */
const leastJobs = makesAllDraws ? 2 : 1;

/**
 * Runs a cell with these seeds and says what is other than it should be. It leaves out a seed whose every alternative an earlier one has
 * chosen; `npm run test:soak` leaves it out only if it draws the same numbers, too, and there were two jobs.
 */
export async function runSeeds(
  cell: Cell,
  { seeds, ...options }: Omit<WorldOptions, 'seed'> & { seeds: readonly number[] },
): Promise<string[]> {
  const known = new Set<string>();
  /** What the job of a seed stands for: a job at all and each of its alternatives, or everything that it draws. */
  const listChoices = ({ alternatives, choices }: Draw) =>
    makesAllDraws
      ? [JSON.stringify(choices)]
      : ['a job', ...alternatives.map((choice, index) => `${index} ${String(choice)}`)];
  const differences: string[] = [];
  let jobs = 0;
  for (const seed of seeds) {
    const draw = createDraw(seed);
    const trial = cell.letter(cell.phase, cell.blows, draw);
    const drawn = draw.choices.length;
    const chosen = listChoices(draw);
    if (jobs >= leastJobs && chosen.every((choice) => known.has(choice))) continue;
    differences.push(...(await judgeTrial(trial, cell.phase, { ...options, seed })));
    jobs += 1;
    // The choices that a trial makes while it runs are not known before it does, and none of it stands for another.
    if (draw.choices.length === drawn) for (const choice of chosen) known.add(choice);
  }
  return differences;
}

async function judgeTrial(trial: Trial, phase: Phase, options: WorldOptions): Promise<string[]> {
  const { times, ...end } = await runTrial(trial, phase, options);
  const differences = findDifferences(trial, end, times);
  return differences.map(
    (difference) => `seed ${options.seed}, ${trial.what}: ${difference}\n${end.said.slice(0, 1500)}`,
  );
}

async function runTrial(
  trial: Trial,
  phase: Phase,
  options: WorldOptions,
): Promise<JobEnd & { times: readonly number[] }> {
  await using world = await createFaultWorld(options);
  await trial.arm(world);
  const end = await world.run({ ...phase.inputs, ...trial.inputs });
  return { ...end, times: end.requests(phase.route) };
}

function findDifferences({ expected }: Trial, end: JobEnd, times: readonly number[]): string[] {
  const requests = times.length;
  const { exitCode, says, refrains, untouched = [], restores, mayLeave = false, mayNote = false, runs } = expected;
  const [least, most] = toRange(expected.requests ?? [0, Number.POSITIVE_INFINITY]);
  const [shortest, longest] = expected.tookMs ?? [0, latestEndMs];
  const gaps = times.slice(1).map((atMs, index) => atMs - times[index]!);
  const { from, count, leastMs, mostMs } = expected.waits ?? { from: 1, count: 0, leastMs: 0, mostMs: 0 };
  const waits = gaps.slice(from - 1, from - 1 + count);
  const checks: Array<[isRight: boolean, difference: string]> = [
    [end.exitCode === exitCode, `exit ${end.exitCode}, not ${exitCode}`],
    [exitCode !== 0 || end.outcome === 'passed', `exit 0 with the outcome ${end.outcome}`],
    [requests >= least && requests <= most, `${requests} requests, not ${formatRange(least, most)}`],
    [says === undefined || says.test(end.said), `nothing is said like ${says}`],
    [refrains === undefined || !refrains.test(end.said), `something is said like ${refrains}`],
    [untouched.every((route) => end.requests(route).length === 0), `${untouched.join(' or ')} was asked`],
    [restores === undefined || end.serverUrls.includes(restores), `no record leads to ${restores}`],
    [mayLeave || mayNote || !end.hasNote, 'a cleanup journal stays'],
    [mayLeave || end.leftovers.length === 0, `left behind: ${end.leftovers.join(', ')}`],
    [runs === undefined ? end.runs <= 1 : end.runs === runs, `${end.runs} runs, not ${runs ?? 'at most 1'}`],
    [
      waits.every((waitMs) => waitMs >= leastMs && waitMs <= mostMs),
      `waits of ${waits.join(', ')} ms, not ${formatRange(leastMs, mostMs)}`,
    ],
    [end.tookMs >= shortest && end.tookMs <= longest, `took ${end.tookMs} ms, not ${formatRange(shortest, longest)}`],
  ];
  return checks.flatMap(([isRight, difference]) => (isRight ? [] : [difference]));
}

function toRange(requests: number | readonly [least: number, most: number]): readonly [number, number] {
  return typeof requests === 'number' ? [requests, requests] : requests;
}

function formatRange(least: number, most: number): string {
  return least === most ? String(least) : `${least} to ${most}`;
}
