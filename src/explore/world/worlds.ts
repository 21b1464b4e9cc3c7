import { isJsonEqual } from '../../base/json.ts';
import type { ExploredRequest, Observation } from '../exploration.ts';
import type { World, WorldSource, WorldVariant } from './world.ts';

/**
 * The state in which a session begins: `used` may follow calls that only added something, `new` only those that changed nothing, and `own`
 * none. `restored` is like `new`, and may follow any calls if the files of the workspace are as they were.
 */
export type Start = 'used' | 'restored' | 'new' | 'own';

/** How a world is after a request: `clean` as before, `used` with something more in it, `spoilt` with something less. */
export type Trace = 'clean' | 'used' | 'spoilt';

/** Runs sessions in worlds of one variant, and renews the world where a session needs that. Disposing it ends the worlds. */
export interface Worlds extends AsyncDisposable {
  /** Sends the requests of a session. The list is shorter if the process was lost on the way. */
  run(
    requests: readonly ExploredRequest[],
    options: {
      start: Start;
      /** Judges how the world is after each request, apart from the files that it began with. */
      judge: (step: { request: ExploredRequest; observation: Observation }) => Trace;
    },
  ): Promise<Observation[]>;
  /** The sessions that left something in the world of the last session, before it. */
  readonly before: ReadonlyArray<readonly ExploredRequest[]>;
  /** True if the last session began in a process that had served others which changed something, among restored files. */
  readonly isRestored: boolean;
  /** How many requests of the last session were not sent, because its world had served them. */
  readonly shared: number;
  /** Opens a world if there is none, and returns it. */
  take(): Promise<World>;
}

/** The most sessions that one world serves, so that the memory of servers stays small. */
const maxSessions = 60;

/** Requests after which a world is as it is, if nothing but calls that changed nothing came in addition. */
interface Trunk {
  requests: readonly ExploredRequest[];
  observations: readonly Observation[];
  results: readonly unknown[];
}

const noTrunk: Trunk = { requests: [], observations: [], results: [] };

/**
 * Opens worlds as sessions need them. With `isEager`, the next one starts while the present one is in use. With `isSharing`, a session
 * continues in a world that has served the requests with which it begins.
 */
export function openVariant(
  source: WorldSource,
  variant: WorldVariant,
  { isEager, isSharing = false }: { isEager: boolean; isSharing?: boolean },
): Worlds {
  let world: World | null = null;
  let state: Trace = 'clean';
  let sessions = 0;
  let before: ReadonlyArray<readonly ExploredRequest[]> = [];
  let left: Array<readonly ExploredRequest[]> = [];
  /** Null if the state of the world is that of several sessions. */
  let trunk: Trunk | null = noTrunk;
  let isRestored = false;
  let shared = 0;
  let next: Promise<World> | null = null;
  const endings: Array<PromiseLike<void>> = [];

  const open = async (): Promise<World> => {
    // A server that failed to start once, of many times, may have met a busy machine.
    return await source.open(variant).catch(async () => await source.open(variant));
  };
  const openNext = () => {
    if (!isEager || next !== null) return;
    next = open();
    // `take` throws the error.
    next.catch(() => {});
  };
  const discard = () => {
    if (world === null) return;
    endings.push(world[Symbol.asyncDispose]());
    world = null;
  };
  const begin = () => {
    state = 'clean';
    left = [];
    trunk = noTrunk;
  };
  const take = async (): Promise<World> => {
    if (world !== null && !world.isLost) return world;
    discard();
    const opening = next ?? open();
    next = null;
    const opened = await opening;
    world = opened;
    sessions = 0;
    isRestored = false;
    begin();
    return opened;
  };
  /** Counts the first requests of a session that the world has served already, if nothing else has changed it. */
  const countShared = (requests: readonly ExploredRequest[]): number => {
    const served = trunk?.requests ?? [];
    const isContinued =
      isSharing &&
      served.length <= requests.length &&
      served.every((request, index) => isJsonEqual(request, requests[index]));
    return isContinued ? served.length : 0;
  };
  const isFit = (requests: readonly ExploredRequest[], start: Start): boolean => {
    if (sessions >= maxSessions || (isRestored && start !== 'restored')) return false;
    if (start === 'own') return sessions === 0;
    return state === 'clean' || countShared(requests) > 0 || (start === 'used' && state === 'used');
  };
  return {
    take,
    get before() {
      return before;
    },
    get isRestored() {
      return isRestored;
    },
    get shared() {
      return shared;
    },
    run: async (requests, { start, judge }) => {
      if (!isFit(requests, start)) {
        const canStay = start === 'restored' && sessions < maxSessions && world?.isLost === false;
        if (canStay && (await world?.restoreFiles()) === true) {
          isRestored = true;
          begin();
        } else discard();
      }
      const current = await take();
      sessions += 1;
      shared = start === 'own' ? 0 : countShared(requests);
      const served: Trunk = shared === 0 ? noTrunk : (trunk ?? noTrunk);
      current.beginSession(served.results);
      before = shared === 0 ? [...left] : [];
      const isFromClean = shared > 0 || state === 'clean';
      let end = shared;
      const observations: Observation[] = [...served.observations];
      for (const request of requests.slice(shared)) {
        const observation = await current.send(request);
        observations.push(observation);
        const { changed, removed } = observation.files;
        const hasLost = [...changed, ...removed].some((path) => current.hadFile(path));
        const trace = hasLost ? 'spoilt' : judge({ request, observation });
        if (trace === 'spoilt' || (trace === 'used' && state === 'clean')) state = trace;
        if (trace !== 'clean') {
          end = observations.length;
          openNext();
        }
        if (current.isLost) break;
      }
      if (end > shared) {
        trunk = isFromClean
          ? {
              requests: requests.slice(0, end),
              observations: observations.slice(0, end),
              results: current.results.slice(0, end),
            }
          : null;
        if (shared > 0) left = [];
        left.push(requests);
      }
      return observations;
    },
    [Symbol.asyncDispose]: async () => {
      discard();
      const spare = await next?.catch(() => null);
      await spare?.[Symbol.asyncDispose]();
      await Promise.all(endings);
    },
  };
}
