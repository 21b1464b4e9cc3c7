import { isAnswered } from '../answers.ts';
import { hasNoEffects, type Observation } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import { isLike } from '../stability/compare-observations.ts';
import type { History, JudgeTrace, SentRequest } from './history.ts';
import type { World } from './world.ts';

/**
 * Where the tools of a server keep what they change: `files` for tools that answered alike again after the files of the workspace were
 * restored, `elsewhere` for the others. All worlds of a server share it.
 */
export type KeptState = Map<string, 'files' | 'elsewhere'>;

/** Makes a used world of one variant a new one, without another process. */
export interface Restorer {
  /** Remembers the answer of a reader in a world that nothing has changed. */
  noteRead(read: SentRequest): void;
  /** Asks the readers that answered differently after a restoring in a new world: one that differs there, too, shows more than the state. */
  confirmReads(world: World): Promise<void>;
  /** Checks if a request that changed something may be undone by restoring the files. */
  isPromising(step: SentRequest): boolean;
  /** Restores the files, if these hold all that the sessions have left. False if a new process is needed. */
  restore(world: World, left: History, judge: JudgeTrace): Promise<boolean>;
}

/** The most readers that are asked again after each restoring. */
const maxReads = 4;

/** A reader: `unseen` in another world, `doubtful` after it answered differently, and `confirmed` once a new world gave the same answer. */
interface Reader extends SentRequest {
  trust: 'unseen' | 'doubtful' | 'confirmed';
}

/**
 * Creates a restorer. It believes that a tool keeps what it changes in the files alone when two things are as they were after the files were
 * restored: the answers of readers, and those of the sessions with the tool, which run once more. It asks the readers each time.
 */
export function createRestorer(kept: KeptState): Restorer {
  let reads: readonly Reader[] = [];
  /** Two calls of different tools that change nothing. */
  const idle: ExploredRequest[] = [];
  /** A call that changes nothing any more has changed a file before. */
  const changing = new Set<string>();

  /** Where each known tool works on files alone, one that has changed none yet may do so, too. */
  const isOfFiles = () => kept.size > 0 && [...kept.values()].every((where) => where === 'files');
  const isPromising = ({ request, observation }: SentRequest) => {
    const name = nameRequest(request);
    if (!hasNoEffects(observation.files)) changing.add(name);
    return (kept.get(name) ?? (changing.has(name) || isOfFiles() ? 'files' : 'elsewhere')) === 'files';
  };
  const drop = (read: Reader) => {
    reads = reads.filter((other) => other !== read);
  };
  /**
   * Asks the readers once more. One that answers twice differently says nothing, and neither does one that counts or logs all calls. Where
   * one answers differently that no other world has confirmed, it is not known.
   */
  const compareReads = async (world: World): Promise<'alike' | 'different' | 'unknown'> => {
    for (const read of reads) {
      const again = await sendAlone(world, read.request);
      if (isLike(read.observation, again)) continue;
      const other = idle.find((request) => nameRequest(request) !== nameRequest(read.request));
      if (other !== undefined) await sendAlone(world, other);
      if (world.isLost) return 'different';
      if (!isLike(again, await sendAlone(world, read.request))) {
        drop(read);
      } else if (read.trust === 'confirmed') {
        return 'different';
      } else {
        read.trust = 'doubtful';
        return 'unknown';
      }
    }
    return world.isLost ? 'different' : 'alike';
  };
  const restoreAndRead = async (world: World) =>
    (await world.restoreFiles()) ? await compareReads(world) : ('different' as const);
  return {
    noteRead: (read) => {
      const isAlone = !JSON.stringify(read.request).includes('{{result.');
      const isOf = (request: ExploredRequest) => nameRequest(request) === nameRequest(read.request);
      if (!isAlone || !isAnswered(read.observation)) return;
      if (read.request.kind === 'tool' && idle.length < 2 && !idle.some(isOf)) idle.push(read.request);
      if (reads.length >= maxReads || reads.some(({ request }) => isOf(request))) return;
      reads = [...reads, { ...read, trust: 'unseen' }];
    },
    confirmReads: async (world) => {
      for (const read of reads.filter(({ trust }) => trust === 'doubtful')) {
        if (isLike(read.observation, await sendAlone(world, read.request))) read.trust = 'confirmed';
        else drop(read);
      }
    },
    isPromising,
    restore: async (world, left, judge) => {
      const writers = left.flatMap((session) => listSent(session)).filter((step) => judge(step) !== 'clean');
      if (!writers.every((step) => isPromising(step))) return false;
      const unknown = new Set(writers.map(({ request }) => nameRequest(request)).filter((name) => !kept.has(name)));
      const found = await restoreAndRead(world);
      if (found === 'unknown') return false;
      const isRestored = found === 'alike' && (unknown.size === 0 || (await repeatsAlike(world, left)));
      for (const name of unknown) kept.set(name, isRestored ? 'files' : 'elsewhere');
      return isRestored && (unknown.size === 0 || (await restoreAndRead(world)) === 'alike');
    },
  };
}

/** Sends a request that refers to no other one. */
async function sendAlone(world: World, request: ExploredRequest): Promise<Observation> {
  world.beginSession();
  return await world.send(request);
}

/** Runs sessions once more, in a world whose files are as they were before them. */
async function repeatsAlike(world: World, left: History): Promise<boolean> {
  for (const session of left) {
    world.beginSession();
    for (const { request, observation } of listSent(session)) {
      if (!isLike(observation, await world.send(request)) || world.isLost) return false;
    }
  }
  return true;
}

function listSent({ requests, observations }: History[number]): SentRequest[] {
  return observations.flatMap((observation, index) => {
    const request = requests[index];
    return request === undefined ? [] : [{ request, observation }];
  });
}
