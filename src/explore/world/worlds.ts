import type { ExploredRequest, Observation } from '../exploration.ts';
import type { World, WorldSource, WorldVariant } from './world.ts';

/**
 * The state in which a session begins: `used` may follow calls that only added something, `new` only those that changed nothing, and `own`
 * none.
 */
export type Start = 'used' | 'new' | 'own';

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
  /** Opens a world if there is none, and returns it. */
  take(): Promise<World>;
}

/** The most sessions that one world serves, so that the memory of servers stays small. */
const maxSessions = 60;

/** Opens worlds as sessions need them. With `isEager`, the next one starts while the present one is in use. */
export function openVariant(source: WorldSource, variant: WorldVariant, { isEager }: { isEager: boolean }): Worlds {
  let world: World | null = null;
  let state: Trace = 'clean';
  let sessions = 0;
  let before: ReadonlyArray<readonly ExploredRequest[]> = [];
  let left: Array<readonly ExploredRequest[]> = [];
  let next: Promise<World> | null = null;
  const endings: Array<PromiseLike<void>> = [];

  const open = async (): Promise<World> => {
    // A server that failed to start once, of many times, may have met a busy machine.
    return await source.open(variant).catch(async () => await source.open(variant));
  };
  const discard = () => {
    if (world === null) return;
    endings.push(world[Symbol.asyncDispose]());
    world = null;
  };
  const take = async (): Promise<World> => {
    if (world !== null && !world.isLost) return world;
    discard();
    const opening = next ?? open();
    next = null;
    const opened = await opening;
    world = opened;
    state = 'clean';
    sessions = 0;
    left = [];
    return opened;
  };
  return {
    take,
    get before() {
      return before;
    },
    run: async (requests, { start, judge }) => {
      const isTooUsed =
        state === 'spoilt' ||
        (start === 'new' && state === 'used') ||
        (start === 'own' && sessions > 0) ||
        sessions >= maxSessions;
      if (isTooUsed) discard();
      const current = await take();
      sessions += 1;
      current.beginSession();
      before = [...left];
      let hasLeft = false;
      const observations: Observation[] = [];
      for (const request of requests) {
        const observation = await current.send(request);
        observations.push(observation);
        const { changed, removed } = observation.files;
        const hasLost = [...changed, ...removed].some((path) => current.hadFile(path));
        const trace = hasLost ? 'spoilt' : judge({ request, observation });
        if (trace === 'spoilt' || (trace === 'used' && state === 'clean')) state = trace;
        hasLeft ||= trace !== 'clean';
        if (current.isLost) break;
      }
      if (hasLeft) left.push(requests);
      if (isEager && state !== 'clean' && next === null) {
        next = open();
        // `take` throws the error.
        next.catch(() => {});
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
