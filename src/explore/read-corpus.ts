import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';
import type { Exploration, PhaseName } from './exploration.ts';
import { type ExploredRequest, exploredRequestSchema } from '../model/explored-request.ts';

/** The sessions of an earlier exploration, from which a new one starts. */
export interface EarlierCorpus {
  server: Pick<Exploration['server'], 'name' | 'version'>;
  sessions: ReadonlyArray<{ phase: PhaseName; requests: readonly ExploredRequest[] }>;
}

const corpusSchema = z.object({
  version: z.literal(1),
  server: z.object({ name: z.string().nullable(), version: z.string().nullable() }),
  sessions: z.array(
    z.object({
      phase: z.enum(['examples', 'coverage', 'chains', 'errors']),
      steps: z.array(z.object({ request: exploredRequestSchema })).min(1),
    }),
  ),
});

/** Reads the text of an earlier exploration; null if it is none. */
export function readCorpus(text: string): EarlierCorpus | null {
  const read = corpusSchema.safeParse(tryParseJson(text));
  if (!read.success) return null;
  const { server, sessions } = read.data;
  return {
    server,
    sessions: sessions.map(({ phase, steps }) => ({ phase, requests: steps.map(({ request }) => request) })),
  };
}

/** Explains why a corpus is no start for this server; null if it is of the same server and version. */
export function findOtherServer(
  { server: { name, version } }: EarlierCorpus,
  server: { name: string | null; version: string | null },
): string | null {
  if (name === server.name && version === server.version) return null;
  const print = (each: { name: string | null; version: string | null }) =>
    [each.name ?? 'a server without a name', each.version].filter((part) => part !== null).join(' ');
  return `is of ${print({ name, version })}, and this is ${print(server)}; choose another path, or remove the file`;
}
