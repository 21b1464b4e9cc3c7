import { z } from 'zod';
import { type JsonObject, tryParseJson } from '../base/json.ts';

/** A result that a tool gave when the server was explored. */
export interface ExploredResult {
  tool: string;
  result: JsonObject;
}

const json: z.ZodType<JsonObject> = z.record(z.string(), z.unknown());

const stepSchema = z.object({
  request: z.object({ kind: z.string(), tool: z.string().optional() }),
  observation: z.object({ outcome: z.object({ kind: z.string(), result: json.optional() }) }),
});

const explorationSchema = z.object({
  version: z.literal(1),
  sessions: z.array(z.object({ steps: z.array(stepSchema) })),
});

/** Reads the results of tools from the text of an exploration; null if it is none. */
export function readExploredResults(text: string): ExploredResult[] | null {
  const read = explorationSchema.safeParse(tryParseJson(text));
  if (!read.success) return null;
  return read.data.sessions.flatMap(({ steps }) =>
    steps.flatMap(({ request: { kind, tool }, observation: { outcome } }) =>
      kind === 'tool' && tool !== undefined && outcome.kind === 'result' && outcome.result !== undefined
        ? [{ tool, result: outcome.result }]
        : [],
    ),
  );
}
