/** Splits a name such as `noteId`, `note_id` or `note-id` into words in lower case, each in the singular. */
export function splitName(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => toSingular(word.toLowerCase()));
}

function toSingular(word: string): string {
  if (/(?:ss|us|is)$/.test(word) || word.length < 4) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:x|ch|sh|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/**
 * Rates how well a known name answers for a wanted one: 1 for the same words, less for the same last word or a part of them, 0 for none.
 * `entityName` and `name` of an entity are alike, and so are `noteId` and `id` of a note.
 */
export function rateSimilarity(wanted: readonly string[], known: readonly string[]): number {
  if (wanted.join(' ') === known.join(' ')) return 1;
  const [lastWanted, lastKnown] = [wanted.at(-1), known.at(-1)];
  if (lastWanted !== undefined && lastWanted === lastKnown) {
    const shared = wanted.filter((word) => known.includes(word)).length;
    return 0.5 + shared / (2 * Math.max(wanted.length, known.length) + 1);
  }
  return 0;
}

/** The action in the name of a tool; `unknown` if no word names one. */
export type Verb = 'read' | 'create' | 'update' | 'remove' | 'unknown';

/** The words that name an action. */
const verbs: ReadonlyArray<{ verb: Verb; words: RegExp }> = [
  {
    verb: 'read',
    words:
      /^(?:get|list|read|search|find|show|describe|view|query|fetch|count|open|lookup|check|status|diff|log|stat|info|tree|explain|echo|calculate|compute|convert|validate|parse|format|current|now|today|help|ping|head|tail)$/,
  },
  {
    verb: 'create',
    words:
      /^(?:create|add|new|insert|put|write|save|set|store|register|init|import|upload|append|make|start|commit|checkout)$/,
  },
  {
    verb: 'update',
    words: /^(?:update|edit|modify|patch|rename|move|change|replace|toggle|enable|disable|complete|merge|increment)$/,
  },
  {
    verb: 'remove',
    words: /^(?:delete|remove|clear|drop|reset|purge|destroy|unset|cancel|close|stop|kill|truncate)$/,
  },
];

const isVerb = (word: string) => verbs.some(({ words }) => words.test(word));

/** Reads what a tool is about from its name: `note` of `create_note` and of `note_create`. */
export function readThing(tool: string): string[] {
  const words = splitName(tool);
  const isBehind = isVerb(words.at(-1) ?? '') && !isVerb(words[0] ?? '');
  return isBehind ? words.slice(0, -1) : words.slice(1);
}

/** Reads the action from the name of a tool, by the first word that names one. */
export function readVerb(tool: string): Verb {
  for (const word of splitName(tool)) {
    const found = verbs.find(({ words }) => words.test(word));
    if (found !== undefined) return found.verb;
  }
  return 'unknown';
}

/** Checks if a tool may create something, by its name. */
export const mayCreate = (tool: string): boolean => readVerb(tool) === 'create' || readVerb(tool) === 'unknown';
