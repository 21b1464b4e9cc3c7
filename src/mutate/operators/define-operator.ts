import type { JsonObject } from '../../base/json.ts';
import type { TapedAnswer } from '../../engine/session-tape.ts';
import type { ToolDeclaration } from '../../mcp/tool-declarations.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
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

/** A change that an operator can make. */
export interface Change<Changed = TapedAnswer> {
  /** The part that changes: a JSON Pointer, or empty for the whole. */
  at: string;
  /** What a user would see, completing "`list_notes` could …"; for a harmless operator, completing "… when the server …". */
  what: string;
  make(this: void): Changed;
}

/** The name and the class of a way in which something can change. */
export interface OperatorName {
  of: 'answer' | 'tool' | 'model';
  name: string;
  faultClass: FaultClass;
  /** True if a user suffers from the change, so that evals should notice it; false if evals should tolerate it. */
  isHarmful: boolean;
}

/** A way in which answers of a server can change. */
export interface AnswerOperator extends OperatorName {
  of: 'answer';
  /** Lists the changes that the operator can make of an answer. */
  list(this: void, view: AnswerView): readonly Change[];
}

/** The parts of a declaration that operators change. */
export interface DeclaredParts extends Pick<ToolDeclaration, 'inputSchema' | 'outputSchema' | 'annotations'> {
  name: string;
}

/** A way in which the declaration of a tool can change. */
export interface ToolOperator extends OperatorName {
  of: 'tool';
  /** Lists the changes of a declaration; null means that the tool is gone. `sent` has the arguments of the calls that cases make. */
  list(this: void, tool: DeclaredParts, sent: readonly JsonObject[]): ReadonlyArray<Change<DeclaredParts | null>>;
}

/** The answers of a model that change, by position. */
export type ModelAnswers = ReadonlyMap<number, ModelAnswer>;

/** A way in which the answers of the model of a case can change. */
export interface ModelOperator extends OperatorName {
  of: 'model';
  /** Lists the changes of the answers. `tools` has the names of those that the servers list. */
  list(this: void, answers: readonly ModelAnswer[], tools: readonly string[]): ReadonlyArray<Change<ModelAnswers>>;
}

export type Operator = AnswerOperator | ToolOperator | ModelOperator;

/** Defines an operator of harmful changes. */
export function defineHarmful(name: string, faultClass: FaultClass, list: AnswerOperator['list']): AnswerOperator {
  return { of: 'answer', name, faultClass, isHarmful: true, list };
}

/** Defines an operator of harmless changes. */
export function defineHarmless(name: string, faultClass: FaultClass, list: AnswerOperator['list']): AnswerOperator {
  return { of: 'answer', name, faultClass, isHarmful: false, list };
}

/** Defines an operator of harmful changes of a declaration. */
export function defineToolChange(name: string, faultClass: FaultClass, list: ToolOperator['list']): ToolOperator {
  return { of: 'tool', name, faultClass, isHarmful: true, list };
}

/** Defines an operator of harmful changes of what a model answers. */
export function defineModelChange(name: string, faultClass: FaultClass, list: ModelOperator['list']): ModelOperator {
  return { of: 'model', name, faultClass, isHarmful: true, list };
}
