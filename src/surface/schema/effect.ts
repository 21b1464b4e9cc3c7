import type { Located } from './keywords.ts';

/** Whether something is so; `maybe` where it cannot be decided. */
export type Certainty = 'no' | 'maybe' | 'yes';

/** What a change does to the set of valid values. */
export interface Effect {
  /** Whether a value that was valid is not any more. */
  narrows: Certainty;
  /** Whether a value that was not valid is now. */
  widens: Certainty;
}

/** What of a schema changed; the words before and after are for people. */
export interface SchemaChange extends Effect {
  /** Names of properties, `[]` for items and `.*` for further properties, such as `filter.tags[]`; empty for the schema itself. */
  path: string;
  /** One of a fixed set, such as `typeNarrowed`. */
  kind: string;
  before: string | null;
  after: string | null;
}

export const noEffect: Effect = { narrows: 'no', widens: 'no' };
export const unknownEffect: Effect = { narrows: 'maybe', widens: 'maybe' };

const order: readonly Certainty[] = ['no', 'maybe', 'yes'];

/** What several changes do together: as much as the one that does most. */
export function joinEffects(effects: readonly Effect[]): Effect {
  const most = (values: readonly Certainty[]): Certainty =>
    order[Math.max(0, ...values.map((value) => order.indexOf(value)))] ?? 'no';
  return { narrows: most(effects.map(({ narrows }) => narrows)), widens: most(effects.map(({ widens }) => widens)) };
}

/** Takes back what is claimed of a part that other rules may keep from mattering. */
export function doubt({ narrows, widens }: Effect): Effect {
  return { narrows: narrows === 'yes' ? 'maybe' : narrows, widens: widens === 'yes' ? 'maybe' : widens };
}

/** The kind of a change to something that has a word for each direction, such as `typeNarrowed`. */
export function nameKind(what: string, { narrows, widens }: Effect): string {
  if (widens === 'no') return `${what}Narrowed`;
  return narrows === 'no' ? `${what}Widened` : `${what}Changed`;
}

/** Collects what changed between two schemas. */
export interface Comparing {
  changes: SchemaChange[];
  /** Pairs of schemas around this one: of recursive schemas, the rest follows from what is found of them. */
  seen: ReadonlyMap<unknown, ReadonlySet<unknown>>;
  /** How many levels of a value are around this one. */
  depth: number;
  /** Whether what changes here changes what the whole schema allows; else it only may. */
  isCertain: boolean;
}

/** Compares two schemas of a part of a value. */
export type CompareParts = (before: Located, after: Located, path: string, comparing: Comparing) => void;

/** Adds a change as far as it is certain. */
export function addChange({ changes, isCertain }: Comparing, change: SchemaChange): void {
  changes.push(isCertain ? change : { ...change, ...doubt(change) });
}
