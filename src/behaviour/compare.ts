import { isAnswered } from '../explore/answers.ts';
import { appendAll } from '../base/lists.ts';
import { createHash } from 'node:crypto';
import { createRandom } from '../base/random.ts';
import { type ExploredRequest, nameRequest } from '../model/explored-request.ts';
import { type ExploreProgress, exploreServer } from '../explore/explore.ts';
import { type Inventory, readInventory } from '../explore/inventory.ts';
import { shareTime } from '../explore/time-shares.ts';
import type { RequiredNames } from '../explore/draft/title.ts';
import { isHarmlessRequest } from '../explore/vocabulary/statements.ts';
import { firstVariant, type WorldSource, type WorldVariant } from '../explore/world/world.ts';
import { behaviourKinds, type MeasuredBehaviour, type MeasuredDifference } from '../model/behaviour.ts';
import { type Bench, type ComparedRequest, createBench, settleBoth } from './bench.ts';
import {
  type Candidate,
  type CompareContext,
  listCandidates,
  listRequests,
  type RanSession,
  type SessionRuns,
  writeKey,
} from './candidates.ts';
import type { FoundDifference } from './compare-runs.ts';
import type { ComparedBehaviour, CompareOptions } from './comparison.ts';
import { type Confirmed, confirmCandidates } from './confirm.ts';
import { type Corpus, createCorpus } from './corpus.ts';
import { draftCase, draftTimed } from './draft-case.ts';
import { askContrasts } from './lost/ask-contrasts.ts';
import { type PlannedSession, planSessions } from './plan-sessions.ts';
import { findSlowerTools, measureGain, type SlowerTool } from './slower.ts';

/** Worlds of both sides that differ in their path, its length and the time zone. */
const variants: readonly WorldVariant[] = [
  firstVariant,
  { folder: 'a-world-with-another-longer-path-', timeZone: 'Pacific/Auckland', daysAhead: 0, isForeign: false },
  { folder: 'world', timeZone: 'America/St_Johns', daysAhead: 0, isForeign: false },
];

/**
 * Each session runs in one round, one that differs in a second round, and one whose calls change nothing in so many more, to see what differs
 * sometimes.
 */
const furtherRounds = 10;
/** A session that takes longer than this has no further rounds. */
const longestFurtherMs = 250;

/**
 * Compares how two servers behave: explores the base, unless the requests are cached, sends the same sessions to both in rounds, and repeats
 * each difference in new worlds of both before it counts.
 *
 * @throws {ServerStartError} if one of the servers does not start
 */
export async function compareBehaviour(options: CompareOptions): Promise<ComparedBehaviour> {
  const { base, head, cached, clock, seed, onProgress, callMs } = options;
  const [ofBase, ofHead] = await settleBoth(readListed(base.source), readListed(head.source));
  const inventories = { base: ofBase.inventory, head: ofHead.inventory };
  const corpus = cached ?? (await explore(options));
  const { sessions, uncompared } = await planSessions(corpus, inventories);
  const harmless = new Set(corpus.harmless);
  const bench = createBench({ base: base.source, head: head.source, harmless, clock, random: createRandom(seed) });
  const roots = { base: base.roots, head: head.roots };
  onProgress('Comparing answers');
  const first: CompareContext = { roots, callMs, contrasts: new Map() };
  const ran = await runAll(sessions, { bench, context: first });
  const isHarmless = (request: ExploredRequest) => isHarmlessRequest(request, (tool) => harmless.has(tool));
  await runFurther(
    ran.filter((session) => session.requests.every(({ request }) => isHarmless(request))),
    bench,
  );
  const contrasts = await askContrasts(ran, { bench, context: first, inventories });
  const context: CompareContext = { roots, callMs, contrasts };
  const candidates: Candidate[] = [];
  const flaky: MeasuredBehaviour['flaky'] = [];
  for (const { requests, runs } of ran) {
    const found = listCandidates(requests, runs, context);
    appendAll(candidates, found.candidates);
    if (found.unstable !== null) flaky.push({ session: listRequests(requests), reason: found.unstable });
  }
  onProgress('Confirming differences');
  const { confirmed, flaky: rare } = await confirmCandidates(candidates, { bench, variants, context });
  onProgress('Timing calls');
  const slower = await findSlowerTools(
    ran.map(({ requests, runs }) => ({
      requests,
      runs: { base: runs.base.slice(0, 2), head: runs.head.slice(0, 2) },
    })),
    bench,
  );
  const required = listRequired(inventories.base);
  const differences = [
    ...describeNoise(ofBase.startNoise, ofHead.startNoise),
    ...mergeDifferences(confirmed).map((each) => describeConfirmed(each, required)),
    ...slower.map((each) => describeSlower(each)),
  ];
  return {
    measured: {
      sandbox: head.source.sandbox,
      seed,
      corpus: cached === null ? 'explored' : 'cached',
      isCutByTime: corpus.isCutByTime,
      requests: corpus.requests,
      sessions: { compared: sessions.length, of: corpus.sessions.length },
      tools: countTools(ran, inventories.base),
      coverage: corpus.coverage,
      unexplored: corpus.unexplored,
      uncompared,
      flaky: [...flaky, ...rare],
      differences: sortDifferences(differences, inventories.base),
    },
    corpus,
  };
}

async function explore({
  base,
  identity,
  clock,
  timeLimitMs,
  onProgress,
  ...options
}: CompareOptions): Promise<Corpus> {
  const showPhase = ({ phase, subject }: ExploreProgress) => {
    if (subject === null) onProgress(phase);
  };
  return createCorpus(
    await exploreServer(base.source, { ...options, time: shareTime(clock, timeLimitMs), onProgress: showPhase }),
    identity,
  );
}

/** Reads what a server lists, in a world of its own. */
async function readListed(source: WorldSource): Promise<{ inventory: Inventory; startNoise: string | null }> {
  await using world = await source.open(firstVariant);
  return { inventory: await readInventory(world), startNoise: world.startNoise };
}

interface RunOptions {
  bench: Bench;
  context: CompareContext;
}

/** Runs all sessions on both sides, and those that differ once more, in the reverse order: what varies on the base differs there, too. */
async function runAll(sessions: readonly PlannedSession[], { bench, context }: RunOptions): Promise<RanSession[]> {
  const ran = sessions.map((session): RanSession => ({ ...session, runs: { base: [], head: [] } }));
  await runRound(ran, bench, firstVariant);
  const differing = ran.filter(
    ({ requests, runs }) => listCandidates(requests, runs, context).candidates.length > 0 || isSlower(runs),
  );
  await runRound(differing.toReversed(), bench, variants[1] ?? firstVariant);
  return ran;
}

async function runRound(ran: readonly RanSession[], bench: Bench, variant: WorldVariant): Promise<void> {
  if (ran.length === 0) return;
  await using round = bench.openRound(variant);
  for (const { requests, runs } of ran) {
    const pair = await round.run(listRequests(requests), { start: 'new' });
    runs.base.push(pair.base);
    runs.head.push(pair.head);
  }
}

function isSlower({ base: [base], head: [head] }: SessionRuns): boolean {
  return head?.some((step, index) => measureGain(base?.[index], step) > 0) === true;
}

/** Runs sessions whose calls change nothing some more times, without new worlds. */
async function runFurther(ran: readonly RanSession[], bench: Bench): Promise<void> {
  const isShort = ({ runs }: RanSession) =>
    [...runs.base, ...runs.head].every(
      (run) => run.reduce((sum, { durationMs }) => sum + durationMs, 0) <= longestFurtherMs,
    );
  const isWhole = ({ requests, runs }: RanSession) =>
    [...runs.base, ...runs.head].every(
      (run) =>
        run.length === requests.length &&
        run.every(({ observation }) => observation.outcome.kind === 'result' || observation.outcome.kind === 'error'),
    );
  const repeated = ran.filter((session) => isShort(session) && isWhole(session));
  if (repeated.length === 0) return;
  await using round = bench.openRound(firstVariant);
  for (let count = 0; count < furtherRounds; count += 1) {
    for (const { requests, runs } of repeated) {
      const pair = await round.run(listRequests(requests), { start: 'new' });
      runs.base.push(pair.base);
      runs.head.push(pair.head);
    }
  }
}

function countTools(ran: readonly RanSession[], { tools }: Inventory): MeasuredBehaviour['tools'] {
  const answered = new Set(
    ran.flatMap(({ requests, runs }) =>
      requests.flatMap(({ request }, step) => {
        const sent = runs.base[0]?.[step];
        return request.kind === 'tool' && sent !== undefined && isAnswered(sent.observation) ? [request.tool] : [];
      }),
    ),
  );
  return { reached: tools.filter(({ name }) => answered.has(name)).length, of: tools.length };
}

function listRequired({ tools }: Inventory): RequiredNames {
  return new Map(
    tools.map(({ name, parameters }) => [
      name,
      parameters.filter(({ isRequired }) => isRequired).map((each) => each.name),
    ]),
  );
}

/**
 * Keeps one of each key. A crash, for example, can be found in several sessions. What another session only finds changed at the place of a
 * lost effect is said with that effect.
 */
export function mergeDifferences(confirmed: readonly Confirmed[]): Confirmed[] {
  const known = new Set<string>();
  const place = ({ candidate: { requests, difference } }: Confirmed) => {
    const request = requests.at(-1)?.request;
    return request === undefined ? '' : writeKey(request, difference.pointer, 'lost');
  };
  const lost = new Set(confirmed.filter(({ candidate }) => candidate.difference.kind === 'lost').map(place));
  return confirmed.filter((each) => {
    const { key, difference } = each.candidate;
    const isSaid = difference.kind === 'changed' && lost.has(place(each));
    return !isSaid && !known.has(key) && known.add(key);
  });
}

function describeConfirmed({ candidate, runs, chance }: Confirmed, required: RequiredNames): MeasuredDifference {
  const { requests, difference, varies } = candidate;
  const isInEach = varies && chance === null && (difference.kind === 'changed' || difference.isReordered === true);
  const what = isInEach ? `${difference.what} in each run` : difference.what;
  const shown = difference.kind === 'fixed' ? runs.head : runs.base;
  return {
    ...describe(requests, difference, difference.kind),
    message: chance === null ? what : `${what}, ${chance}`,
    case: draftCase(requests, shown, { difference, required }),
  };
}

function describeSlower({ requests, difference, limitMs }: SlowerTool): MeasuredDifference {
  return { ...describe(requests, difference, 'slower'), message: difference.what, case: draftTimed(requests, limitMs) };
}

function describe(
  requests: readonly ComparedRequest[],
  { pointer, before, after }: Pick<FoundDifference, 'pointer' | 'before' | 'after'>,
  kind: MeasuredDifference['kind'],
): Omit<MeasuredDifference, 'message' | 'case'> {
  const request = requests.at(-1)?.request;
  const key = request === undefined ? '' : writeKey(request, pointer, kind);
  return {
    id: hash(key),
    kind,
    tool: request === undefined ? null : nameRequest(request),
    pointer,
    before,
    after,
    session: listRequests(requests),
  };
}

function hash(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** Output at the start belongs to no tool. */
function describeNoise(base: string | null, head: string | null): MeasuredDifference[] {
  if (base !== null || head === null) return [];
  return [
    {
      id: hash('server\n\n/stdout\nbroken'),
      kind: 'broken',
      tool: null,
      pointer: '/stdout',
      message: 'the server writes to stdout as it starts, where only messages belong',
      before: '',
      after: head.slice(0, 200),
      session: [],
      case: '',
    },
  ];
}

function sortDifferences(differences: readonly MeasuredDifference[], { tools }: Inventory): MeasuredDifference[] {
  const rank = ({ tool }: MeasuredDifference) => tools.findIndex(({ name }) => name === tool);
  return differences.toSorted(
    (a, b) =>
      behaviourKinds.indexOf(a.kind) - behaviourKinds.indexOf(b.kind) || rank(a) - rank(b) || (a.id < b.id ? -1 : 1),
  );
}
