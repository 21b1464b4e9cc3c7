import type { JsonObject } from '../model/assertion.ts';
import type { IterationLimit } from './iteration-limit.ts';
import { isTooDeep, maxJsonDepth } from '../base/json.ts';
import { createSchemaThread, schemaLimits, type SchemaCheck, type SchemaTime } from './schema-thread.ts';

/** What the schema checks of one iteration share. */
export interface SchemaContext {
  time: SchemaTime;
  /** Held while a check waits and runs, so that it costs the server no time; null where there is no iteration. */
  limit: Pick<IterationLimit, 'signal' | 'hold'> | null;
}

/** One thread serves the whole process: its start takes longer than most checks. */
const thread = createSchemaThread();

/** The text of each schema, so that one of many results is not printed for each of them. */
const texts = new WeakMap<JsonObject, string>();

/** The full time for checks, for one iteration. */
export function startSchemaTime(): SchemaTime {
  return { leftMs: schemaLimits.timeMs };
}

/**
 * Checks a JSON value against a JSON Schema within limits of time, memory and depth, all of which both can be made to cross.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
export async function checkSchema(
  schema: JsonObject | boolean,
  value: unknown,
  {
    checksFormats = false,
    context = { time: startSchemaTime(), limit: null },
  }: { checksFormats?: boolean; context?: SchemaContext } = {},
): Promise<SchemaCheck> {
  if (isTooDeep(schema)) return { kind: 'stopped', reason: `the schema is nested deeper than ${maxJsonDepth} levels` };
  if (isTooDeep(value)) return { kind: 'stopped', reason: `the value is nested deeper than ${maxJsonDepth} levels` };
  using _held = context.limit?.hold();
  const job = { schema: printSchema(schema), value, checksFormats };
  return await thread.judge(job, { time: context.time, signal: context.limit?.signal });
}

/** Ends the thread of the checks where no check uses it. */
export async function closeSchemaThread(): Promise<void> {
  await thread.close();
}

function printSchema(schema: JsonObject | boolean): string {
  if (typeof schema === 'boolean') return String(schema);
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}
