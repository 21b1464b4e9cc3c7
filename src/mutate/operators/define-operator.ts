import type { TapedAnswer } from '../../engine/session-tape.ts';
import type { AnswerView } from '../answer-view.ts';

/** The classes of faults, as in bench/gates: docs/benchmark.md names the studies that they come from. */
export type FaultClass =
  | 'condition'
  | 'boundary'
  | 'state'
  | 'field'
  | 'schema'
  | 'error-flag'
  | 'order'
  | 'text'
  | 'filter'
  | 'protocol'
  | 'annotation'
  | 'description';

/** A change of one answer that an operator can make. */
export interface Change {
  /** The part of the answer that changes: a JSON Pointer, or empty for the whole. */
  at: string;
  /** What a user would see, completing "`list_notes` could …"; for a harmless operator, completing "… when the server …". */
  what: string;
  make(this: void): TapedAnswer;
}

/** A way in which answers of a server can change. */
export interface Operator {
  name: string;
  faultClass: FaultClass;
  /** True if a user suffers from the change, so that evals should notice it; false if evals should tolerate it. */
  isHarmful: boolean;
  /** Lists the changes that the operator can make of an answer. */
  list(this: void, view: AnswerView): readonly Change[];
}

/** Defines an operator of harmful changes. */
export function defineHarmful(name: string, faultClass: FaultClass, list: Operator['list']): Operator {
  return { name, faultClass, isHarmful: true, list };
}

/** Defines an operator of harmless changes. */
export function defineHarmless(name: string, faultClass: FaultClass, list: Operator['list']): Operator {
  return { name, faultClass, isHarmful: false, list };
}
