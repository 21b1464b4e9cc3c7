import pMap from 'p-map';
import { Disposer } from '../../base/disposal.ts';
import { isRecord, listTexts } from '../../base/json.ts';
import type { KeptSession } from '../corpus.ts';
import type { AskedRequest, FlakySession, Observation, ObservedStep, Outcome, SessionRun } from '../exploration.ts';
import { judgeTrace } from '../lab.ts';
import { namesFiles } from '../needs-files.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { TimeShares } from '../time-shares.ts';
import type { KeptState } from '../world/restorer.ts';
import type { WorldSource, WorldVariant } from '../world/world.ts';
import { openVariant, type Worlds } from '../world/worlds.ts';
import { isLike, nameAsked } from './compare-observations.ts';
import { keepsNone, type KeepsPart } from './forms.ts';
import { keepDigests } from './keep-parts.ts';
import { mergeValues } from './merge-values.ts';
import { printMasked } from './texts.ts';

/** Three worlds that differ in their path, its length, the time zone, the time of day, the date down to the year, and the file system. */
const variants: readonly WorldVariant[] = [
  { folder: 'w', timeZone: null, daysAhead: 0, isForeign: false },
  { folder: 'a-world-with-another-longer-path-', timeZone: 'Pacific/Auckland', daysAhead: 1.3, isForeign: false },
  { folder: 'world', timeZone: 'America/St_Johns', daysAhead: 400.7, isForeign: false, isElsewhere: true },
];

/** A world without the files of the user and without the variables of the explorer. */
const foreignVariant: WorldVariant = { folder: 'plain', timeZone: 'UTC', daysAhead: 0, isForeign: true };

/** A session whose merged observations are stable. */
export interface StableSession extends KeptSession {
  /** True if the session works in this workspace only: it names its files or changes some, or other files give another outcome. */
  needsFiles: boolean;
}

export interface Replayed {
  stable: readonly StableSession[];
  flaky: readonly FlakySession[];
  /** How many sessions were left out, because the time was over. */
  notReplayed: number;
}

/** What the requests of one session observed, each time that they were sent in a world. */
type Replays = ReadonlyArray<readonly Observation[]>;

/** How often calls whose answers differ by chance are sent in each world: two sides of a coin agree in a few throws. */
const throws = 5;

/** Sessions are replayed in groups, so that those of the first groups are complete if the time ends. Each is twice as large as the one before. */
const firstGroup = 2;
const largestGroup = 16;

/**
 * Replays sessions in three new worlds, and once more among other files. Drops those whose outcome differs, and marks the parts of the
 * others that differ. One process serves several sessions, with restored files. Unless the files are known to hold all that a server keeps,
 * that counts where each answer and each change of a file is as it was when the session ran in a new world first. Otherwise, the session is
 * replayed in a new world again.
 */
export async function replaySessions(
  kept: readonly KeptSession[],
  {
    source,
    workspace,
    alone,
    isHarmless,
    isDrawn = () => false,
    kept: keptState = new Map(),
    keeps = keepsNone,
    time,
  }: {
    source: WorldSource;
    workspace: Workspace;
    /** The runs that began in a new world. */
    alone: ReadonlySet<SessionRun>;
    isHarmless: (tool: string) => boolean;
    /** True for a harmless tool whose answers differ by chance alone; no tool unless given. */
    isDrawn?: (tool: string) => boolean;
    /** Where the tools were seen to keep what they change. */
    kept?: KeptState;
    /** Says which times of the answers stay if all replays have them. */
    keeps?: KeepsPart;
    time: Pick<TimeShares, 'isOver'>;
  },
): Promise<Replayed> {
  await using resources = new Disposer();
  const judge = (step: Pick<ObservedStep, 'request' | 'observation'>) => judgeTrace(step, isHarmless);
  const openReplay = (variant: WorldVariant) => {
    const open = () => openVariant(source, variant, { isEager: false, isSharing: true, kept: keptState });
    const shared = resources.use(open());
    const results = new Map<KeptSession, Replays>();
    let keepsState = false;
    const isByChance = ({ run }: KeptSession) =>
      run.steps.every(({ request }) => request.kind === 'tool' && isDrawn(request.tool));
    const repeat = async (session: KeptSession, worlds: Worlds): Promise<readonly Observation[]> => {
      const { run } = session;
      const requests = run.steps.map(({ request }) => request);
      // Its answers show nothing of what earlier sessions did.
      const isThrown = isByChance(session);
      const start = isThrown || (alone.has(run) && !keepsState) ? 'restored' : 'new';
      const replayed = await worlds.run(requests, { start, judge });
      if (isThrown || !replayed.isRestored || areLike(run.steps, replayed.observations)) return replayed.observations;
      const { observations } = await worlds.run(requests, { start: 'new', judge });
      keepsState = areLike(run.steps, observations);
      return observations;
    };
    const replayIn = async (worlds: Worlds, sessions: readonly KeptSession[]) => {
      for (const session of sessions) {
        if (time.isOver()) return;
        const count = isByChance(session) ? throws : 1;
        const replays: Array<readonly Observation[]> = [];
        while (replays.length < count) replays.push(await repeat(session, worlds));
        results.set(session, replays);
      }
    };
    return {
      results,
      replay: async (sessions: readonly KeptSession[]) => await replayIn(shared, sessions),
      /** Replays in the other order, in processes that have served no other sessions. */
      replayApart: async (sessions: readonly KeptSession[]) => {
        await using own = open();
        await replayIn(own, sessions.toReversed());
      },
    };
  };
  const isMovable = ({ run }: KeptSession) => !namesFiles(run.steps.map(dropRoots), workspace);
  const foreign = openReplay(foreignVariant);
  const replays = variants.map(openReplay);
  let size = firstGroup;
  for (let from = 0; from < kept.length && !time.isOver();) {
    const group = kept.slice(from, from + size);
    from += size;
    size = Math.min(size * 2, largestGroup);
    const parts = [
      () => foreign.replay(group.filter(isMovable)),
      // A process may remember what earlier sessions did, although their files were restored: one variant shows that.
      ...replays.map(
        ({ replay, replayApart }, index) =>
          () =>
            index === 1 ? replayApart(group) : replay(group),
      ),
    ];
    // Replays that share a server would disturb each other.
    await pMap(parts, async (part) => await part(), { concurrency: source.isShared ? 1 : parts.length });
  }
  const isReplayed = (session: KeptSession) =>
    replays.every(({ results }) => results.has(session)) && (!isMovable(session) || foreign.results.has(session));
  const complete = kept.filter(isReplayed);
  const stable: StableSession[] = [];
  const flaky: FlakySession[] = [];
  for (const session of complete) {
    const observed = replays.flatMap(({ results }) => results.get(session) ?? []);
    const others = foreign.results.get(session) ?? [];
    const requests = session.run.steps.map(({ request }) => request);
    const reason = findDifference(observed) ?? findDifference(others);
    if (reason !== null) {
      flaky.push({ requests, reason });
      continue;
    }
    const keepsOwn = keepDigests(keeps, requests);
    const steps = mergeSteps(session.run.steps, observed, keepsOwn);
    const needsFiles =
      namesFiles(steps, workspace) || others.length === 0 || others.some((other) => dependsOnFiles(steps, other));
    stable.push({
      ...session,
      run: { ...session.run, steps: needsFiles ? steps : mergeSteps(steps, [...observed, ...others], keepsOwn) },
      needsFiles,
    });
  }
  return { stable, flaky, notReplayed: kept.length - complete.length };
}

/** Checks if steps were observed again, apart from times, ids and other volatile forms. */
function areLike(steps: readonly ObservedStep[], observed: readonly Observation[]): boolean {
  return steps.every(({ observation }, index) => isLike(observation, observed[index]));
}

function findDifference(replays: Replays): string | null {
  const [first = []] = replays;
  if (replays.some(({ length }) => length !== first.length)) return 'the process was lost in some replays';
  for (const [index, { outcome }] of first.entries()) {
    const kinds = new Set(replays.map((replay) => nameOutcome(replay[index]?.outcome ?? outcome)));
    if (kinds.size > 1) return `request ${index + 1} had different outcomes: ${[...kinds].toSorted().join(', ')}`;
    const asked = new Set(replays.map((replay) => nameAsked(replay[index])));
    if (asked.size > 1) return `request ${index + 1} asked the client for different things`;
  }
  return null;
}

/** Leaves out requests for roots, which may have come with the step by chance. */
function dropRoots(step: ObservedStep): ObservedStep {
  const { asked = [], ...observation } = step.observation;
  const others = asked.filter(({ ability }) => ability !== 'roots');
  return { ...step, observation: { ...observation, ...(others.length > 0 && { asked: others }) } };
}

/** Merges the requests of the server to its client. One for roots counts if it came each time. */
function mergeAsked(observations: readonly Observation[], keeps?: KeepsPart): AskedRequest[] {
  const lists = observations.map(({ asked = [] }) => asked);
  const isAlways = lists.every((list) => list.some(({ ability }) => ability === 'roots'));
  const others = lists.map((list) => list.flatMap((each) => (each.ability === 'roots' ? [] : [each])));
  const merged = (others[0] ?? []).map((each, index) => {
    const messages = others.map((list) => list[index]?.message ?? each.message);
    return { ...each, message: String(mergeValues(messages, keeps)) };
  });
  return [...(isAlways ? [{ ability: 'roots' as const }] : []), ...merged];
}

/** Names how a request ended. */
export function nameOutcome(outcome: Outcome): string {
  if (outcome.kind === 'result') return outcome.isError ? 'an error of the tool' : 'a result';
  return outcome.kind === 'error' ? `error ${outcome.code}` : outcome.kind;
}

/** Merges the observations of replays into steps: parts that differ, or that read as volatile and that `keeps` does not name, are marked. */
export function mergeSteps(steps: readonly ObservedStep[], replays: Replays, keeps?: KeepsPart): ObservedStep[] {
  return steps.map((step, index) => {
    const observations = replays.flatMap((replay) => replay[index] ?? []);
    const [first = step.observation] = observations;
    const outcome =
      mergeOutcomes(
        observations.map((each) => each.outcome),
        keeps,
      ) ?? step.observation.outcome;
    const asked = mergeAsked([step.observation, ...observations], keeps);
    const { files, noise } = first;
    return { ...step, observation: { outcome, files, noise, ...(asked.length > 0 && { asked }) } };
  });
}

/** Merges outcomes of one kind; null without any. */
function mergeOutcomes(outcomes: readonly Outcome[], keeps?: KeepsPart): Outcome | null {
  const [first] = outcomes;
  if (first === undefined) return null;
  if (first.kind === 'result') {
    const merged = mergeValues(
      outcomes.map((outcome) => (outcome.kind === 'result' ? outcome.result : {})),
      keeps,
    );
    return { ...first, result: isRecord(merged) ? merged : {} };
  }
  if (first.kind !== 'error' && first.kind !== 'malformed') return first;
  const message = mergeValues(
    outcomes.map((outcome) => ('message' in outcome ? outcome.message : '')),
    keeps,
  );
  return { ...first, message: String(message) };
}

/** Checks if other files give another outcome, or one that no longer names what a call asked for. */
export function dependsOnFiles(steps: readonly ObservedStep[], others: readonly Observation[]): boolean {
  return (
    !areAlike(steps, others) ||
    steps.some(({ request, observation }, index) => {
      const named = request.kind === 'tool' ? [...listTexts(request.arguments)] : [];
      const [own, other] = [observation, others[index]].map((each) => JSON.stringify(each?.outcome ?? null));
      return named.some(({ text }) => {
        const written = JSON.stringify(text).slice(1, -1);
        return own?.includes(written) !== other?.includes(written);
      });
    })
  );
}

/** Checks if other files leave the outcomes as they are; texts may differ only in a part of them. */
export function areAlike(steps: readonly ObservedStep[], others: readonly Observation[]): boolean {
  return steps.every(({ observation }, index) => {
    const other = others[index];
    if (other === undefined || nameOutcome(other.outcome) !== nameOutcome(observation.outcome)) return false;
    const merged = mergeValues([observation.outcome, other.outcome]);
    return (
      JSON.stringify(merged) === printMasked(observation.outcome) ||
      JSON.stringify(merged).length > 0.5 * JSON.stringify(observation.outcome).length
    );
  });
}
