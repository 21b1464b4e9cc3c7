import { isAnswered } from '../answers.ts';
import { type ExploredRequest, hasNoEffects, nameRequest, type Observation } from '../exploration.ts';
import { isLike } from '../stability/compare-observations.ts';
import type { LeftSession, Trace } from './history.ts';
import type { World } from './world.ts';

/** A request with its observation. */
interface SentRequest {
  request: ExploredRequest;
  observation: Observation;
}

/** Judges how a world is after a request, apart from the files that it began with. */
export type JudgeTrace = (step: SentRequest) => Trace;

/**
 * Where the tools of a server keep what they change: `files` for tools that answered alike again after the files of the workspace were
 * restored, `elsewhere` for the others. All worlds of a server share it.
 */
export type KeptState = Map<string, 'files' | 'elsewhere'>;

/** Makes a used world of one variant a new one, without another process. */
export interface Restorer {
  /** Remembers the answer of a reader in a world that nothing has changed. */
  noteRead(read: SentRequest): void;
  /** Checks if a request that changed something may be undone by restoring the files. */
  isPromising(step: SentRequest): boolean;
  /** Restores the files, if these hold all that the sessions have left. False if a new process is needed. */
  restore(world: World, left: readonly LeftSession[], judge: JudgeTrace): Promise<boolean>;
}

/** The most readers that are asked again after each restoring. */
const maxReads = 4;

/**
 * Creates a restorer. It believes that a tool keeps what it changes in the files alone when two things are as they were after the files were
 * restored: the answers of readers, and those of the sessions with the tool, which run once more. It asks the readers each time.
 */
export function createRestorer(kept: KeptState): Restorer {
  let reads: readonly SentRequest[] = [];
  /** A call that changes nothing any more has changed a file before. */
  const changing = new Set<string>();

  /** Where each known tool works on files alone, one that has changed none yet may do so, too. */
  const isOfFiles = () => kept.size > 0 && [...kept.values()].every((where) => where === 'files');
  const isPromising = ({ request, observation }: SentRequest) => {
    const name = nameRequest(request);
    if (!hasNoEffects(observation.files)) changing.add(name);
    return (kept.get(name) ?? (changing.has(name) || isOfFiles() ? 'files' : 'elsewhere')) === 'files';
  };
  /** A reader that answers twice differently says nothing. */
  const readsAlike = async (world: World): Promise<boolean> => {
    for (const read of reads) {
      const again = await sendAlone(world, read.request);
      if (isLike(read.observation, again)) continue;
      if (world.isLost || isLike(again, await sendAlone(world, read.request))) return false;
      reads = reads.filter((other) => other !== read);
    }
    return !world.isLost;
  };
  const restoreAndRead = async (world: World) => (await world.restoreFiles()) && (await readsAlike(world));
  return {
    noteRead: (read) => {
      const isAlone = !JSON.stringify(read.request).includes('{{result.');
      if (reads.length >= maxReads || !isAlone || !isAnswered(read.observation)) return;
      if (reads.some(({ request }) => nameRequest(request) === nameRequest(read.request))) return;
      reads = [...reads, read];
    },
    isPromising,
    restore: async (world, left, judge) => {
      const writers = left.flatMap((session) => listSent(session)).filter((step) => judge(step) !== 'clean');
      if (!writers.every((step) => isPromising(step))) return false;
      const unknown = new Set(writers.map(({ request }) => nameRequest(request)).filter((name) => !kept.has(name)));
      const isRestored = (await restoreAndRead(world)) && (unknown.size === 0 || (await repeatsAlike(world, left)));
      for (const name of unknown) kept.set(name, isRestored ? 'files' : 'elsewhere');
      return isRestored && (unknown.size === 0 || (await restoreAndRead(world)));
    },
  };
}

/** Sends a request that refers to no other one. */
async function sendAlone(world: World, request: ExploredRequest): Promise<Observation> {
  world.beginSession();
  return await world.send(request);
}

/** Runs sessions once more, in a world whose files are as they were before them. */
async function repeatsAlike(world: World, left: readonly LeftSession[]): Promise<boolean> {
  for (const session of left) {
    world.beginSession();
    for (const { request, observation } of listSent(session)) {
      if (!isLike(observation, await world.send(request)) || world.isLost) return false;
    }
  }
  return true;
}

function listSent({ requests, observations }: LeftSession): SentRequest[] {
  return observations.flatMap((observation, index) => {
    const request = requests[index];
    return request === undefined ? [] : [{ request, observation }];
  });
}
