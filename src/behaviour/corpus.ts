import { z } from 'zod';
import { isTooDeep, tryParseJson } from '../base/json.ts';
import type { Explored } from '../explore/explore.ts';
import { exploredRequestSchema } from '../model/explored-request.ts';
import { count } from '../model/quantities.ts';

/** Raise it when the format changes, or when the explorer finds other requests for the same server and seed. */
const corpusVersion = 11;

const counted = z.object({ reached: count, of: count });

const corpusSchema = z.object({
  version: z.literal(corpusVersion),
  /** What was explored, such as a commit and a command. */
  identity: z.string(),
  server: z.object({ name: z.string().nullable(), version: z.string().nullable() }),
  seed: z.int().min(0),
  isCutByTime: z.boolean(),
  requests: z.object({ sent: count, budget: count }),
  coverage: z.object({ tools: counted, parameters: counted, errorPaths: counted }),
  sessions: z
    .array(
      z.object({
        phase: z.enum(['examples', 'coverage', 'chains', 'errors']),
        requests: z.array(exploredRequestSchema).min(1),
      }),
    )
    .max(10_000),
  harmless: z.array(z.string()),
  unexplored: z.array(z.object({ subject: z.string(), reason: z.string() })),
});

/** What the exploration of a base found: requests and what they reach, and no answer. Answers come from a live base only. */
export type Corpus = z.infer<typeof corpusSchema>;

/** Makes the corpus of an exploration. `identity` says what was explored. */
export function createCorpus(explored: Explored, identity: string): Corpus {
  const { server, seed, isCutByTime, requests, coverage, sessions, harmless, unexplored } = explored;
  const { tools, parameters, errorPaths } = coverage;
  return {
    version: corpusVersion,
    identity,
    server: { name: server.name, version: server.version },
    seed,
    isCutByTime,
    requests,
    coverage: { tools, parameters, errorPaths },
    sessions: sessions.map(({ run: { phase, steps } }) => ({ phase, requests: steps.map(({ request }) => request) })),
    harmless: [...harmless],
    unexplored: unexplored.map(({ subject, reason }) => ({ subject, reason: dropQuote(reason) })),
  };
}

/** Leaves out the text with which the server refused a call: it is an answer. */
function dropQuote(reason: string): string {
  return reason.replace(/, the last one with: .*$/s, '');
}

/** Prints a corpus for a file. */
export function writeCorpus(corpus: Corpus): string {
  return `${JSON.stringify(corpus)}\n`;
}

/** Reads a corpus that `writeCorpus` has printed; or a note that says why the base is explored again. */
export function readCorpus(
  text: string,
  { identity, seed }: { identity: string; seed: number },
): { corpus: Corpus; note: null } | { corpus: null; note: string } {
  const ignore = (why: string) => ({
    corpus: null,
    note: `The cached requests of the base are ignored: ${why}. The base is explored again.`,
  });
  const parsed = tryParseJson(text);
  if (parsed === undefined) return ignore('the file is damaged');
  if (isTooDeep(parsed)) return ignore('the file is nested too deeply');
  const checked = corpusSchema.safeParse(parsed);
  if (!checked.success) return ignore('the file has another format');
  if (checked.data.identity !== identity) return ignore('they belong to another base');
  if (checked.data.seed !== seed) return ignore(`they were found with the seed ${checked.data.seed}`);
  if (checked.data.isCutByTime) return ignore('the time limit had cut their exploration');
  return { corpus: checked.data, note: null };
}
