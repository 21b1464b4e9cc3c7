import { stemmer } from 'stemmer';
import { isRecord, type JsonObject } from './json.ts';
import { dataKeywords, schemaMaps } from './schema-keywords.ts';

/** The parts of a tool that a search reads. */
export interface SearchedTool {
  name: string;
  description?: string | null;
  inputSchema?: Readonly<JsonObject>;
}

/** The usual constants of BM25: how fast repeated words stop to count, and how much a long text is worth less. */
const saturation = 1.2;
const lengthWeight = 0.75;

/** Words that say nothing about a tool. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about all also an and any are as at be been before but by can did do does each for from had has have he her his how i if in into is ' +
    'it its me more my no nor not of on only or other our own she should so some such than that the their them then there these they this ' +
    'those to too up us was we were what when where which while who why will with would you your'
  ).split(' '),
);

/**
 * Ranks tools by BM25 over their names, descriptions and parameters, best first; tools of equal score keep their order. A tool that has
 * none of the words is left out. This is what Codex publishes of its search: words are stemmed, and a name like `createNote` is one word.
 */
export function rankTools<Tool extends SearchedTool>(tools: readonly Tool[], words: string): Tool[] {
  const documents = tools.map((tool) => ({ tool, counts: countWords(listTexts(tool)) }));
  const lengths = documents.map(({ counts }) => counts.values().reduce((sum, count) => sum + count, 0));
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const wanted = [...countWords([words]).keys()].map((word) => {
    const holders = documents.filter(({ counts }) => counts.has(word)).length;
    return { word, rarity: Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5)) };
  });
  return documents
    .map(({ tool, counts }, index) => {
      const norm = saturation * (1 - lengthWeight + (lengthWeight * (lengths[index] ?? 0)) / meanLength);
      const score = wanted.reduce((sum, { word, rarity }) => {
        const count = counts.get(word) ?? 0;
        return count === 0 ? sum : sum + (rarity * count * (saturation + 1)) / (count + norm);
      }, 0);
      return { tool, score };
    })
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .map(({ tool }) => tool);
}

/** Scripts without spaces between words, in which each character counts as a word (Unicode Standard Annex 29). */
const word = /[\p{sc=Han}\p{sc=Hira}]|(?:(?![\p{sc=Han}\p{sc=Hira}])[\p{L}\p{M}\p{N}])+/gu;

function countWords(texts: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [written] of text.normalize('NFKC').toLowerCase().matchAll(word)) {
      if (stopWords.has(written)) continue;
      const stem = stemmer(written);
      counts.set(stem, (counts.get(stem) ?? 0) + 1);
    }
  }
  return counts;
}

function* listTexts({ name, description, inputSchema }: SearchedTool): Generator<string> {
  yield name;
  yield description ?? '';
  yield* listSchemaTexts(inputSchema);
}

/** Lists the names of properties, and all descriptions. */
function* listSchemaTexts(schema: unknown): Generator<string> {
  if (Array.isArray(schema)) for (const each of schema) yield* listSchemaTexts(each);
  if (!isRecord(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'description' && typeof value === 'string') yield value;
    else if (schemaMaps.has(keyword) && isRecord(value)) {
      if (keyword === 'properties') yield* Object.keys(value);
      yield* listSchemaTexts(Object.values(value));
    } else if (!dataKeywords.has(keyword)) yield* listSchemaTexts(value);
  }
}
