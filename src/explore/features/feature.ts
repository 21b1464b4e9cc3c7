import type { Ability } from '../../model/client-abilities.ts';
import { describeTrait, type Trait } from './traits.ts';

/** Something that a session shows. `subject` is the name of a tool or a prompt, or the URI of a resource or a template. */
export type Feature =
  /** An answer; `given` names the arguments. */
  | { kind: 'tool'; subject: string }
  | { kind: 'resource'; subject: string }
  | { kind: 'prompt'; subject: string; given: readonly string[] }
  /** Values that complete an argument, all or those with a start. */
  | { kind: 'completion'; subject: string; argument: string; isStarted: boolean }
  /** A parameter in a call that was answered. */
  | { kind: 'parameter'; tool: string; name: string }
  /** Its value, where the schema lists the values that it can have. */
  | { kind: 'value'; tool: string; name: string; value: unknown }
  /** What its value has that others do not have. */
  | { kind: 'trait'; tool: string; name: string; trait: Trait }
  /** A statement of SQL, by what it does. */
  | { kind: 'statement'; tool: string; does: string; writes: boolean }
  /** A reader is asked after a call that makes, changes or removes several things of a list at once. */
  | { kind: 'several'; tool: string; name: string; count: number; reader: string }
  /** A parameter in which the server refuses an option, or its own machine, for what it is. */
  | { kind: 'guard'; tool: string; name: string }
  /** A refusal, with its words without the values of the call. */
  | { kind: 'refusal'; subject: string; words: string }
  /** The members of a result and their types. */
  | { kind: 'result'; subject: string; shape: string }
  /** A request to the client. */
  | { kind: 'asks'; subject: string; ability: Ability }
  /** A reader answers otherwise after a call. */
  | { kind: 'state'; reader: string; writer: string }
  /** A call changes what the reader has read before it. */
  | { kind: 'replaced'; reader: string; writer: string }
  /** A call of another tool names the same thing as the last one that changed something. */
  | { kind: 'joined'; reader: string; writer: string; other: string }
  /** A reader answers as before after a call with an option, such as that of a dry run. */
  | { kind: 'kept'; reader: string; writer: string; option: string }
  /** The same call is answered otherwise when it comes again, or a reader is asked after both. */
  | { kind: 'again'; tool: string }
  /** A call makes a second thing with the name of the first. */
  | { kind: 'namesake'; tool: string }
  /** A parameter of a reader selects some of the things that several calls have made. */
  | { kind: 'selected'; tool: string; name: string; maker: string }
  /** A reader is asked before and after a call that changes one part of what an earlier one made. */
  | { kind: 'part'; tool: string; name: string; reader: string; isEmptied: boolean }
  /** A call is answered otherwise with an option than without it. */
  | { kind: 'effect'; tool: string; name: string; value: unknown }
  /** A call is answered, and one with a number, or a length, just beyond that of the first is refused. */
  | { kind: 'limit'; tool: string; name: string; isUpper: boolean }
  /** A call is answered otherwise with a number than with the next one. */
  | { kind: 'edge'; tool: string; name: string }
  /** A search for a text of what a call made, in the same letters or in others. */
  | {
      kind: 'search';
      tool: string;
      name: string;
      maker: string;
      path: string;
      letters: 'same' | 'capital' | 'small';
    };

type Kind = Feature['kind'];
type FeatureOf<Name extends Kind> = Extract<Feature, { kind: Name }>;

/** How soon a session that shows the feature is taken, first 0: into the corpus, and among the cases of a file. */
interface Place {
  inCorpus: 0 | 1 | 2 | 3;
  inCases: 0 | 1 | 3 | 6;
}

const rest: Place = { inCorpus: 3, inCases: 6 };
const telling: Place = { inCorpus: 1, inCases: 3 };
const change: Place = { inCorpus: 0, inCases: 1 };

const places: { [Name in Kind]: Place | ((feature: FeatureOf<Name>) => Place) } = {
  tool: { inCorpus: 0, inCases: 0 },
  resource: { inCorpus: 0, inCases: 6 },
  prompt: { inCorpus: 0, inCases: 6 },
  completion: { inCorpus: 0, inCases: 6 },
  parameter: telling,
  value: telling,
  trait: ({ trait }) => (describeTrait(trait).isTelling ? telling : rest),
  statement: ({ writes }) => (writes ? change : telling),
  several: change,
  guard: telling,
  refusal: rest,
  result: rest,
  asks: rest,
  state: change,
  replaced: change,
  // Many calls have something in common.
  joined: { inCorpus: 2, inCases: 1 },
  kept: change,
  again: change,
  namesake: change,
  selected: change,
  part: change,
  // It shows the option, and a text that has more in it.
  effect: { inCorpus: 0, inCases: 3 },
  limit: { inCorpus: 0, inCases: 3 },
  edge: { inCorpus: 1, inCases: 3 },
  search: change,
};

/** Finds the first place that a session with these features takes. */
export function findPlace(features: readonly Feature[], where: keyof Place): number {
  return Math.min(rest[where], ...features.map((feature) => readPlace(feature)[where]));
}

function readPlace<Name extends Kind>(feature: FeatureOf<Name>): Place {
  const place = places[feature.kind];
  return typeof place === 'function' ? place(feature) : place;
}

/** Writes a feature as a text; the same feature gives the same text. */
export const nameFeature = (feature: Feature): string =>
  Object.values(feature)
    .map((part) => JSON.stringify(part))
    .join(' ');

/** Lists the features of these kinds. */
export function pickFeatures<Name extends Kind>(
  features: readonly Feature[],
  ...kinds: Name[]
): Array<FeatureOf<Name>> {
  const wanted: ReadonlySet<Kind> = new Set(kinds);
  return features.filter((feature): feature is FeatureOf<Name> => wanted.has(feature.kind));
}

/** The kinds of which a reader shows what a call changed. */
export const states = ['state', 'replaced', 'joined'] as const;
