import type { Clock } from '../base/time.ts';
import type { Observation } from '../explore/exploration.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
import { judgeTrace } from '../explore/lab.ts';
import type { KeptState } from '../explore/world/restorer.ts';
import type { World, WorldSource, WorldVariant } from '../explore/world/world.ts';
import { openVariant, type Start, type Worlds } from '../explore/world/worlds.ts';

/** A request of a session, and what the base says about it. */
export interface ComparedRequest {
  request: ExploredRequest;
  /** True if the call is meant to be refused: it breaks its schema, or names something unknown. */
  isWrong: boolean;
  /** True if the call may change what later requests of the session see. */
  mayMake: boolean;
}

/** A request that was sent: what was observed, and how long it took. */
export interface SentStep {
  observation: Observation;
  durationMs: number;
}

/** Both sides in new worlds of one variant. Disposing it ends the worlds. */
export interface Round extends AsyncDisposable {
  run(requests: readonly ExploredRequest[], options: { start: Start }): Promise<SidePair>;
}

export interface SidePair {
  base: readonly SentStep[];
  head: readonly SentStep[];
}

export interface Bench {
  /**
   * Opens a round, in which both sides answer at once, new worlds start while others are in use, sessions share the requests with which they
   * begin, and restored files make a new world of a server that keeps all in them. In a quiet one, each request is sent, each new world is a
   * new process, and nothing runs but the side that answers, so that neither its time nor a port of the machine depends on the other.
   */
  openRound(variant: WorldVariant, options?: { isQuiet?: boolean }): Round;
}

/** Opens rounds, in which both sides answer the same sessions. In a quiet one, chance decides which side is first. */
export function createBench({
  base,
  head,
  harmless,
  clock,
  random,
}: {
  base: WorldSource;
  head: WorldSource;
  /** The tools whose calls change nothing on the base. */
  harmless: ReadonlySet<string>;
  clock: Clock;
  random: () => number;
}): Bench {
  const judge = (step: { request: ExploredRequest; observation: Observation }) =>
    judgeTrace(step, (tool) => harmless.has(tool));
  const durations = new WeakMap<Observation, number>();
  const timed = { base: timeWorlds(base, clock, durations), head: timeWorlds(head, clock, durations) };
  const kept: Record<keyof typeof timed, KeptState> = { base: new Map(), head: new Map() };
  const openSide = (side: keyof typeof timed, variant: WorldVariant, isQuiet: boolean) =>
    openVariant(timed[side], variant, {
      isEager: !isQuiet,
      isSharing: !isQuiet,
      kept: isQuiet ? null : kept[side],
    });
  const runSide = async (worlds: Worlds, requests: readonly ExploredRequest[], start: Start): Promise<SentStep[]> => {
    const { observations } = await worlds.run(requests, { start, judge });
    return observations.map((observation) => ({ observation, durationMs: durations.get(observation) ?? 0 }));
  };
  return {
    openRound: (variant, { isQuiet = false } = {}) => {
      const sides = { base: openSide('base', variant, isQuiet), head: openSide('head', variant, isQuiet) };
      return {
        run: async (requests, { start }) => {
          const runBase = async () => await runSide(sides.base, requests, start);
          const runHead = async () => await runSide(sides.head, requests, start);
          if (!isQuiet) {
            const [ofBase, ofHead] = await settleBoth(runBase(), runHead());
            return { base: ofBase, head: ofHead };
          }
          if (random() < 0.5) return { head: await runHead(), base: await runBase() };
          return { base: await runBase(), head: await runHead() };
        },
        [Symbol.asyncDispose]: async () => {
          await Promise.all([sides.base[Symbol.asyncDispose](), sides.head[Symbol.asyncDispose]()]);
        },
      };
    },
  };
}

/** Waits for both, also if one fails, so that nothing is in use when its error is thrown. */
export async function settleBoth<T>(left: Promise<T>, right: Promise<T>): Promise<[T, T]> {
  await Promise.allSettled([left, right]);
  return [await left, await right];
}

/** Notes the duration of each observation. */
function timeWorlds(source: WorldSource, clock: Clock, durations: WeakMap<Observation, number>): WorldSource {
  return {
    ...source,
    open: async (variant) => timeWorld(await source.open(variant), clock, durations),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

function timeWorld(world: World, clock: Clock, durations: WeakMap<Observation, number>): World {
  return {
    handshake: world.handshake,
    capabilities: world.capabilities,
    startNoise: world.startNoise,
    get isLost() {
      return world.isLost;
    },
    hadFile: (path) => world.hadFile(path),
    beginSession: (results) => world.beginSession(results),
    get results() {
      return world.results;
    },
    restoreFiles: async () => await world.restoreFiles(),
    send: async (request) => {
      const startedMs = clock.monotonicMs();
      const observation = await world.send(request);
      durations.set(observation, clock.monotonicMs() - startedMs);
      return observation;
    },
    list: async (method, key) => await world.list(method, key),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
