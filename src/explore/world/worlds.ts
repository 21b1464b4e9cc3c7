import type { Observation } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import {
  addSession,
  findServed,
  type History,
  type JudgeTrace,
  readState,
  reviewHistory,
  type Trace,
} from './history.ts';
import { createRestorer, type KeptState } from './restorer.ts';
import type { World, WorldSource, WorldVariant } from './world.ts';

/**
 * The state in which a session begins: `used` may follow calls that only added something, `new` only those that changed nothing, and `own`
 * none. `restored` is like `new`, and may follow any calls if the files of the workspace are as they were.
 */
export type Start = 'used' | 'restored' | 'new' | 'own';

/** The answers of a session, and what its world had served before. */
export interface SessionAnswers {
  /** Shorter than the session if the process was lost on the way. */
  observations: readonly Observation[];
  /** How many of its requests were not sent, because the world had served them. */
  shared: number;
  /** The sessions that left something in the world before it. */
  before: ReadonlyArray<readonly ExploredRequest[]>;
  /** True if the process had served sessions that changed something, and the files were restored. */
  isRestored: boolean;
}

/** Runs sessions in worlds of one variant, and renews the world where a session needs that. Disposing it ends the worlds. */
export interface Worlds extends AsyncDisposable {
  run(
    requests: readonly ExploredRequest[],
    options: {
      start: Start;
      judge: JudgeTrace;
    },
  ): Promise<SessionAnswers>;
  /** Opens a world if there is none, and returns it. */
  take(): Promise<World>;
}

/** The most sessions that one world serves, so that the memory of servers stays small. */
const maxSessions = 200;

/** A world in use. */
interface OpenWorld {
  world: World;
  sessions: number;
  history: History;
  isRestored: boolean;
}

/**
 * Opens worlds as sessions need them. With `isEager`, the next one starts while the present one is in use. With `isSharing`, a session
 * continues in a world that has served the requests with which it begins. With `kept`, a world counts as new after its files were restored,
 * if its tools were seen to keep what they change in files alone.
 */
export function openVariant(
  source: WorldSource,
  variant: WorldVariant,
  { isEager, isSharing = false, kept = null }: { isEager: boolean; isSharing?: boolean; kept?: KeptState | null },
): Worlds {
  const restorer = kept === null || source.isShared ? null : createRestorer(kept);
  let present: OpenWorld | null = null;
  let next: Promise<World> | null = null;
  const endings: Array<PromiseLike<void>> = [];

  const open = async (): Promise<World> => {
    // A server that failed to start once, of many times, may have met a busy machine.
    return await source.open(variant).catch(async () => await source.open(variant));
  };
  const openNext = () => {
    if (!isEager || next !== null) return;
    next = open();
    // `takeWorld` throws the error.
    next.catch(() => {});
  };
  const discard = () => {
    if (present !== null) endings.push(present.world[Symbol.asyncDispose]());
    present = null;
  };
  const takeWorld = async (): Promise<OpenWorld> => {
    if (present !== null && !present.world.isLost) return present;
    discard();
    const opening = next ?? open();
    next = null;
    const opened = { world: await opening, sessions: 0, history: [], isRestored: false };
    present = opened;
    return opened;
  };
  /** Returns a world in which a session can begin. */
  const takeFit = async (
    requests: readonly ExploredRequest[],
    { start, judge }: { start: Start; judge: JudgeTrace },
  ): Promise<OpenWorld> => {
    if (present !== null) present.history = reviewHistory(present.history, judge);
    if (present === null || isFit(present, requests, { start, isSharing })) return await takeWorld();
    const { world, sessions, history, isRestored } = present;
    const canStay = start !== 'own' && sessions < maxSessions && !world.isLost;
    if (canStay && !isRestored && (await restorer?.restore(world, history, judge)) === true) {
      present.history = [];
    } else if (canStay && start === 'restored' && (await world.restoreFiles())) {
      present.isRestored = true;
      present.history = [];
    } else discard();
    return await takeWorld();
  };
  return {
    take: async () => (await takeWorld()).world,
    run: async (requests, { start, judge }) => {
      const current = await takeFit(requests, { start, judge });
      const { world, history, isRestored } = current;
      // A session that wants a process of its own is the first in it.
      if (current.sessions === 0 && start !== 'own') await restorer?.confirmReads(world);
      current.sessions += 1;
      const served = findServed(isSharing && start !== 'own' ? history : [], requests);
      const shared = served.requests.length;
      world.beginSession(served.results);
      const observations = [...served.observations];
      const traces: Trace[] = [...served.traces];
      for (const request of requests.slice(shared)) {
        const observation = await world.send(request);
        observations.push(observation);
        const { changed, removed } = observation.files;
        const hasLost = [...changed, ...removed].some((path) => world.hadFile(path));
        const trace = hasLost ? 'spoilt' : judge({ request, observation });
        traces.push(trace);
        if (history.length === 0 && traces.every((each) => each === 'clean'))
          restorer?.noteRead({ request, observation });
        if (trace !== 'clean' && restorer?.isPromising({ request, observation }) !== true) openNext();
        if (world.isLost) break;
      }
      const session = { requests, observations, results: world.results, traces };
      current.history = addSession(history, session, { isContinued: shared > 0 });
      return {
        observations,
        shared,
        before: shared === 0 ? history.map((each) => each.requests) : [],
        isRestored,
      };
    },
    [Symbol.asyncDispose]: async () => {
      discard();
      const spare = await next?.catch(() => null);
      await spare?.[Symbol.asyncDispose]();
      await Promise.all(endings);
    },
  };
}

function isFit(
  { sessions, history, isRestored }: OpenWorld,
  requests: readonly ExploredRequest[],
  { start, isSharing }: { start: Start; isSharing: boolean },
): boolean {
  if (sessions >= maxSessions || (isRestored && start !== 'restored')) return false;
  if (start === 'own') return sessions === 0;
  const state = readState(history);
  if (state === 'clean' || (start === 'used' && state === 'used')) return true;
  return isSharing && findServed(history, requests).requests.length > 0;
}
