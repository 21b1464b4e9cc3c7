import { isRecord, type JsonObject } from '../base/json.ts';
import type { Evidence, FinalStates } from './evidence.ts';

/** What a check of one's own gets in addition to the evidence. */
export interface OwnCheckContext {
  /** Aborts once the time of the check or of its iteration is over. */
  signal: AbortSignal;
}

/** A check of one's own whose definition is usable. */
export interface OwnCheck {
  name: string;
  schema: Readonly<JsonObject>;
  final: FinalStates;
  timeoutMs: number;
  /** Returns whatever the definition returns: its result is not known to be a judgement. */
  judge(this: void, fields: JsonObject, evidence: Evidence, context: OwnCheckContext): unknown;
}

/** A use of a check of one's own in an evals file: `<name>: <value>`, with further arguments next to it. */
export interface OwnCheckUse {
  name: string;
  /** The value of the first property of the schema, or all arguments if it is an object; undefined for a name alone. */
  value?: unknown;
  arguments?: JsonObject;
}

/** Puts the arguments of a use together. */
export function readOwnFields({ schema }: Pick<OwnCheck, 'schema'>, use: Omit<OwnCheckUse, 'name'>): JsonObject {
  const { value, arguments: others = {} } = use;
  if (value === undefined) return others;
  const [first = 'value'] = Object.keys(isRecord(schema['properties']) ? schema['properties'] : {});
  return { ...(isRecord(value) ? value : { [first]: value }), ...others };
}

/** Checks if a value has the members that `defineCheck` gives a check. */
export function isOwnCheck(value: unknown): value is OwnCheck {
  return (
    isRecord(value) &&
    typeof value['name'] === 'string' &&
    isRecord(value['schema']) &&
    typeof value['timeoutMs'] === 'number' &&
    typeof value['judge'] === 'function'
  );
}
