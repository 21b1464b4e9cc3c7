import { makesAllDraws } from '../property-runs.ts';
import { createFaultWorld, type JobEnd, timeoutMinutes, type WorldOptions } from './fault-world.ts';
import { type Blow, createDraw, type Draw, type Letter, type Phase, type Trial } from './letters.ts';

/** Every job ends at most this long after its own time limit, whatever the fault. */
const latestEndMs = timeoutMinutes * 60_000 + 15_000;

interface Cell {
  letter: Letter;
  phase: Phase;
  blows: readonly Blow[];
}

/** Runs one seed of a cell and lists the deviations; empty if there are none. */
export async function runCell(cell: Cell, options: WorldOptions): Promise<string[]> {
  const trial = cell.letter(cell.phase, cell.blows, createDraw(options.seed));
  return await judgeTrial(trial, cell.phase, options);
}

/** The minimum number of jobs of a cell. They may differ only in numbers and in the jitter of their waits. */
const leastJobs = makesAllDraws ? 2 : 1;

/**
 * Runs a cell with these seeds and lists the deviations. Skips a seed if earlier seeds have chosen all its alternatives; `npm run test:soak`
 * skips it only if an earlier seed also drew the same numbers, and two jobs have run.
 */
export async function runSeeds(
  cell: Cell,
  { seeds, ...options }: Omit<WorldOptions, 'seed'> & { seeds: readonly number[] },
): Promise<string[]> {
  const known = new Set<string>();
  /** Lists what a job covers: the existence of a job and each of its alternatives, or all that it draws. */
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
    // A trial that makes choices while it runs does not replace another one, because its choices are not known in advance.
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
