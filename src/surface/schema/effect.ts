import type { Located } from './keywords.ts';

/** The answer to a question; `maybe` if it cannot be decided. */
export type Certainty = 'no' | 'maybe' | 'yes';

/** The effect of a change on the set of valid values. */
export interface Effect {
  /** Says if a value that was valid no longer is. */
  narrows: Certainty;
  /** Says if a value that was not valid now is. */
  widens: Certainty;
}

/** A change in a schema; `before` and `after` are words for people. */
export interface SchemaChange extends Effect {
  /** Names of properties, `[]` for items and `.*` for further properties, such as `filter.tags[]`; empty for the schema itself. */
  path: string;
  /** The kind of change, one of a fixed set, such as `typeNarrowed`. */
  kind: string;
  before: string | null;
  after: string | null;
}

export const noEffect: Effect = { narrows: 'no', widens: 'no' };
export const unknownEffect: Effect = { narrows: 'maybe', widens: 'maybe' };

const order: readonly Certainty[] = ['no', 'maybe', 'yes'];

/** Joins the effects of several changes: for each direction the strongest one. */
export function joinEffects(effects: readonly Effect[]): Effect {
  const most = (values: readonly Certainty[]): Certainty =>
    order[Math.max(0, ...values.map((value) => order.indexOf(value)))] ?? 'no';
  return { narrows: most(effects.map(({ narrows }) => narrows)), widens: most(effects.map(({ widens }) => widens)) };
}

/** Weakens a certain effect to `maybe`, because other rules may cancel the change of this part. */
export function doubt({ narrows, widens }: Effect): Effect {
  return { narrows: narrows === 'yes' ? 'maybe' : narrows, widens: widens === 'yes' ? 'maybe' : widens };
}

/** Names the kind of a change by its direction, such as `typeNarrowed`. */
export function nameKind(what: string, { narrows, widens }: Effect): string {
  if (widens === 'no') return `${what}Narrowed`;
  return narrows === 'no' ? `${what}Widened` : `${what}Changed`;
}

/** Collects the changes between two schemas. */
export interface Comparing {
  changes: SchemaChange[];
  /** The pairs of schemas around this one. A recursive pair is not compared again: its changes are found where it first occurs. */
  seen: ReadonlyMap<unknown, ReadonlySet<unknown>>;
  /** The number of levels of a value around this one. */
  depth: number;
  /** True if a change here certainly changes the values that the whole schema allows; else it only may. */
  isCertain: boolean;
}

/** Compares two schemas of a part of a value. */
export type CompareParts = (before: Located, after: Located, path: string, comparing: Comparing) => void;

/** Adds a change, weakened if it is not certain. */
export function addChange({ changes, isCertain }: Comparing, change: SchemaChange): void {
  changes.push(isCertain ? change : { ...change, ...doubt(change) });
}
