import { formatCount } from '../base/text.ts';
import { firstVariant, type WorldVariant } from '../explore/world/world.ts';
import type { MeasuredBehaviour } from '../model/behaviour.ts';
import type { Bench, ComparedRequest, Round } from './bench.ts';
import { type Candidate, type CompareContext, listCandidates, listRequests, type SessionRuns } from './candidates.ts';
import { compareRun, type Run } from './compare-runs.ts';
import { shrinkSession } from './shrink.ts';

/** A difference counts after so many pairs of new worlds in which the base showed the old value and the change another one. */
const confirmations = 3;

/**
 * A change that differs only sometimes counts if it differs in at least `leastChance` of `chanceRounds` runs, and the base in none of as many.
 * Of a server that is flaky on both sides, fewer than 1 in 100 sessions look like that, at whatever rate it is flaky.
 */
const chanceRounds = 30;
const leastChance = 5;
/** Where both answers of the change come this often, fewer than 1 in 1,000 sessions of a server that is flaky on both sides look like that. */
const certainChance = 8;
const maxChanceSessions = 5;
/** A difference that none of the first runs shows again is seen no more often than others by chance. */
const firstChanceRounds = 12;

/** A difference that repeated. */
export interface Confirmed {
  candidate: Candidate;
  /** The runs that confirmed it, for the answers of both sides. */
  runs: SessionRuns;
  /** How often the change differs, if it does not always do so. */
  chance: string | null;
}

interface ConfirmOptions {
  bench: Bench;
  variants: readonly WorldVariant[];
  context: CompareContext;
}

/**
 * Repeats candidates in new worlds, with as few requests as possible: one for each key. What the base does not repeat varies by itself; what
 * only the change does not repeat is run more often.
 */
export async function confirmCandidates(
  candidates: readonly Candidate[],
  options: ConfirmOptions,
): Promise<{ confirmed: Confirmed[]; flaky: MeasuredBehaviour['flaky'] }> {
  const open = chooseShortest(candidates);
  const shrunk = await shrinkAll(open, options);
  const first = await repeat(shrunk, options);
  // A session that shows the difference only together with what was dropped is repeated whole.
  const whole = open.filter((candidate, index) => first[index]?.state !== 'confirmed' && shrunk[index] !== candidate);
  const second = await repeat(whole, options);
  const results = open.map((candidate, index) => {
    const again = second[whole.indexOf(candidate)];
    return again ?? first[index];
  });
  const confirmed = results.flatMap((result) => (result?.state === 'confirmed' ? [result.confirmed] : []));
  const rare = results.flatMap((result) => (result?.state === 'rare' ? [result.candidate] : []));
  const { found, flaky } = await runRare(rare, new Set(confirmed.map(({ candidate }) => candidate.key)), options);
  return { confirmed: [...confirmed, ...found], flaky };
}

/** Keeps the shortest session of each key, and the first of those. */
function chooseShortest(candidates: readonly Candidate[]): Candidate[] {
  const shortest = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const known = shortest.get(candidate.key);
    // One that differs in each run says more than one that does so sometimes.
    const isBetter =
      known === undefined ||
      (candidate.shown === candidate.of && known.shown < known.of) ||
      ((candidate.shown === candidate.of) === (known.shown === known.of) &&
        candidate.requests.length < known.requests.length);
    if (isBetter) shortest.set(candidate.key, candidate);
  }
  return [...shortest.values()];
}

async function shrinkAll(candidates: readonly Candidate[], { bench, context }: ConfirmOptions): Promise<Candidate[]> {
  await using round = bench.openRound(firstVariant);
  const shrunk: Candidate[] = [];
  for (const candidate of candidates) {
    if (candidate.requests.length === 1) {
      shrunk.push(candidate);
      continue;
    }
    const requests = await shrinkSession(candidate.requests, async (shorter) => {
      const pair = await runPair(round, shorter);
      return findSame(candidate, shorter, { base: [pair.base], head: [pair.head] }, context) !== null;
    });
    shrunk.push(requests === candidate.requests ? candidate : { ...candidate, requests });
  }
  return shrunk;
}

async function runPair(round: Round, requests: readonly ComparedRequest[]): Promise<{ base: Run; head: Run }> {
  return await round.run(listRequests(requests), { start: 'new' });
}

/** Finds the difference with the same key; null if no run of the change shows it. */
function findSame(
  { key }: Candidate,
  requests: readonly ComparedRequest[],
  runs: SessionRuns,
  context: CompareContext,
): Candidate | null {
  return listCandidates(requests, runs, context).candidates.find((each) => each.key === key) ?? null;
}

type Repeated =
  | { state: 'confirmed'; confirmed: Confirmed }
  /** The base varies, too. */
  | { state: 'unstable' }
  /** The change does not show it each time. */
  | { state: 'rare'; candidate: Candidate };

async function repeat(
  candidates: readonly Candidate[],
  { bench, variants, context }: ConfirmOptions,
): Promise<Repeated[]> {
  if (candidates.length === 0) return [];
  const runs = candidates.map((): SessionRuns => ({ base: [], head: [] }));
  for (let count = 0; count < confirmations; count += 1) {
    await using round = bench.openRound(variants[count % variants.length] ?? firstVariant, { isQuiet: true });
    const order = candidates.map((_, index) => index);
    // Another order shows what one session leaves for the next.
    for (const index of count % 2 === 0 ? order : order.toReversed()) {
      const pair = await runPair(round, candidates[index]?.requests ?? []);
      runs[index]?.base.push(pair.base);
      runs[index]?.head.push(pair.head);
    }
  }
  return candidates.map((candidate, index): Repeated => {
    const own = runs[index] ?? { base: [], head: [] };
    const { unstable, candidates: found } = listCandidates(candidate.requests, own, context);
    const same = found.find(({ key }) => key === candidate.key);
    if (same !== undefined && same.shown === confirmations) {
      return { state: 'confirmed', confirmed: { candidate: judgeOrder(same), runs: own, chance: null } };
    }
    const isStable = unstable === null && isRepeatedByBase(candidate, own, context);
    return isStable ? { state: 'rare', candidate } : { state: 'unstable' };
  });
}

/** An order is broken where it is another one in each run, and one order on the base. */
function judgeOrder(candidate: Candidate): Candidate {
  const { difference, varies } = candidate;
  const isBroken = varies && difference.isReordered === true && difference.kind === 'changed';
  return isBroken ? { ...candidate, difference: { ...difference, kind: 'broken' } } : candidate;
}

/** Checks if no run of the base differs from the others where the change does. */
function isRepeatedByBase({ key, requests }: Candidate, { base }: SessionRuns, context: CompareContext): boolean {
  const [first, ...others] = base;
  if (first === undefined) return false;
  const own = { ...context, roots: { base: context.roots.base, head: context.roots.base } };
  const { candidates, unstable } = listCandidates(requests, { base: [first], head: others }, own);
  const withoutKind = (text: string) => text.split('\n').slice(0, 3).join('\n');
  return unstable === null && candidates.every((each) => withoutKind(each.key) !== withoutKind(key));
}

/** Runs sessions that differ sometimes often enough to tell chance from a difference. */
async function runRare(
  rare: readonly Candidate[],
  known: ReadonlySet<string>,
  options: ConfirmOptions,
): Promise<{ found: Confirmed[]; flaky: MeasuredBehaviour['flaky'] }> {
  const found: Confirmed[] = [];
  const flaky: MeasuredBehaviour['flaky'] = [];
  for (const [index, candidate] of rare.filter(({ key }) => !known.has(key)).entries()) {
    const session = listRequests(candidate.requests);
    if (index >= maxChanceSessions) {
      flaky.push({ session, reason: 'the change answered differently in some runs, and was not run more often' });
      continue;
    }
    const result = await runOften(candidate, options);
    if (result.confirmed !== null) found.push(result.confirmed);
    // What varies on the base, too, is no more than another time or id.
    else if (result.shown > 0 && !result.isBaseFlaky) {
      const reason = `the change answered differently in ${result.shown} of ${formatCount(result.of, 'run')}`;
      flaky.push({ session, reason });
    }
  }
  return { found, flaky };
}

async function runOften(
  candidate: Candidate,
  { bench, context }: ConfirmOptions,
): Promise<{ confirmed: Confirmed | null; shown: number; of: number; isBaseFlaky: boolean }> {
  await using round = bench.openRound(firstVariant, { isQuiet: true });
  const runs: SessionRuns = { base: [], head: [] };
  let shown = 0;
  for (let count = 1; count <= chanceRounds; count += 1) {
    const pair = await runPair(round, candidate.requests);
    runs.base.push(pair.base);
    runs.head.push(pair.head);
    if (!isRepeatedByBase(candidate, runs, context)) return { confirmed: null, shown, of: count, isBaseFlaky: true };
    shown = findSame(candidate, candidate.requests, runs, context)?.shown ?? 0;
    const isHopeless = shown + chanceRounds - count < leastChance || (shown === 0 && count >= firstChanceRounds);
    if (isHopeless) return { confirmed: null, shown, of: count, isBaseFlaky: false };
  }
  const same = findSame(candidate, candidate.requests, runs, context);
  if (same === null) return { confirmed: null, shown, of: chanceRounds, isBaseFlaky: false };
  const chance = `in ${shown} of ${chanceRounds} runs; the base answered alike in all of as many`;
  const confirmed = { candidate: judgeChance(same, runs, context), runs, chance };
  return { confirmed, shown, of: chanceRounds, isBaseFlaky: false };
}

/** Another answer is broken where that of the base comes, too: a change that is meant does not work now and then. */
function judgeChance(candidate: Candidate, { base, head }: SessionRuns, context: CompareContext): Candidate {
  const { requests, difference, shown } = candidate;
  const isAsBase = (run: Run) => compareRun(base, run, { requests, ...context }).differences.length === 0;
  const isCertain = Math.min(shown, head.filter(isAsBase).length) >= certainChance;
  if (difference.kind !== 'changed' || !isCertain) return candidate;
  return { ...candidate, difference: { ...difference, kind: 'broken' } };
}
