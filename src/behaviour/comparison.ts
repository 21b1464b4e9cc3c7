import type { Clock } from '../base/time.ts';
import type { ExploreOptions } from '../explore/explore.ts';
import type { WorldSource } from '../explore/world/world.ts';
import type { MeasuredBehaviour } from '../model/behaviour.ts';
import type { Corpus } from './corpus.ts';

/** One of the two servers. */
export interface BehaviourSide {
  source: WorldSource;
  /** Directories of the server's own code, which may differ between the sides: answers show them as `{{server}}`. */
  roots: readonly string[];
}

export interface CompareOptions extends Omit<ExploreOptions, 'time' | 'onProgress'> {
  base: BehaviourSide;
  head: BehaviourSide;
  /** Says what the base is, such as a commit and a command; a corpus of another base is of no use. */
  identity: string;
  /** The corpus of an earlier job, as `readCorpus` returns it; null explores the base. */
  cached: Corpus | null;
  /** The limit of a call in the worlds of both sides, for messages. */
  callMs: number;
  clock: Clock;
  /** The time for exploring the base. */
  timeLimitMs: number;
  /** Gets a line whenever another part of the work begins. */
  onProgress: (what: string) => void;
}

export interface ComparedBehaviour {
  measured: MeasuredBehaviour;
  /** What to cache: the requests that were sent. */
  corpus: Corpus;
}
