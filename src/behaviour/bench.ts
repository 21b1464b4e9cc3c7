import type { Clock } from '../base/time.ts';
import type { ExploredRequest, Observation } from '../explore/exploration.ts';
import { judgeTrace } from '../explore/lab.ts';
import type { World, WorldSource, WorldVariant } from '../explore/world/world.ts';
import { openVariant, type Start, type Worlds } from '../explore/world/worlds.ts';

/** A request that was sent: what was observed, and how long it took. */
export interface SentStep {
  observation: Observation;
  durationMs: number;
}

/** Both sides in new worlds of one variant. Disposing it ends the worlds. */
export interface Round extends AsyncDisposable {
  /** Sends the requests to both sides, one after the other. */
  run(requests: readonly ExploredRequest[], options: { start: Start; isHeadFirst: boolean }): Promise<SidePair>;
}

export interface SidePair {
  base: readonly SentStep[];
  head: readonly SentStep[];
}

export interface Bench {
  /** Opens a round. With `isEager`, new worlds start while others are in use, which takes time from those. */
  openRound(variant: WorldVariant, options?: { isEager?: boolean }): Round;
}

/** Opens rounds, in which both sides answer the same sessions alternately. */
export function createBench({
  base,
  head,
  harmless,
  clock,
}: {
  base: WorldSource;
  head: WorldSource;
  /** The tools whose calls change nothing on the base. */
  harmless: ReadonlySet<string>;
  clock: Clock;
}): Bench {
  const judge = (step: { request: ExploredRequest; observation: Observation }) =>
    judgeTrace(step, (tool) => harmless.has(tool));
  const openSide = (source: WorldSource, variant: WorldVariant, isEager: boolean) => {
    const durations: number[] = [];
    const worlds = openVariant(timeWorlds(source, clock, durations), variant, { isEager });
    return { durations, worlds };
  };
  const runSide = async (
    { worlds, durations }: { worlds: Worlds; durations: number[] },
    requests: readonly ExploredRequest[],
    start: Start,
  ): Promise<SentStep[]> => {
    durations.length = 0;
    const observations = await worlds.run(requests, { start, judge });
    return observations.map((observation, index) => ({ observation, durationMs: durations[index] ?? 0 }));
  };
  return {
    openRound: (variant, { isEager = true } = {}) => {
      const sides = { base: openSide(base, variant, isEager), head: openSide(head, variant, isEager) };
      return {
        run: async (requests, { start, isHeadFirst }) => {
          const first = await runSide(isHeadFirst ? sides.head : sides.base, requests, start);
          const second = await runSide(isHeadFirst ? sides.base : sides.head, requests, start);
          return isHeadFirst ? { base: second, head: first } : { base: first, head: second };
        },
        [Symbol.asyncDispose]: async () => {
          await Promise.all([sides.base.worlds[Symbol.asyncDispose](), sides.head.worlds[Symbol.asyncDispose]()]);
        },
      };
    },
  };
}

/** Adds the duration of each request to a list. */
function timeWorlds(source: WorldSource, clock: Clock, durations: number[]): WorldSource {
  return {
    ...source,
    open: async (variant) => timeWorld(await source.open(variant), clock, durations),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

function timeWorld(world: World, clock: Clock, durations: number[]): World {
  return {
    handshake: world.handshake,
    capabilities: world.capabilities,
    startNoise: world.startNoise,
    get isLost() {
      return world.isLost;
    },
    hadFile: (path) => world.hadFile(path),
    beginSession: () => world.beginSession(),
    send: async (request) => {
      const startedMs = clock.monotonicMs();
      const observation = await world.send(request);
      durations.push(clock.monotonicMs() - startedMs);
      return observation;
    },
    list: async (method, key) => await world.list(method, key),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
