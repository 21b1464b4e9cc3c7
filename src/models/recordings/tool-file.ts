import { z } from 'zod';
import { isRecord, printCanonicalJson, tryParseJson } from '../../base/json.ts';
import { fingerprintJson } from './plain-json.ts';
import { fingerprintSchema, storedSchema } from './stored-value.ts';

/** Members are stored separately, so that messages can name the one that changed, however long it is. */
const storedToolSchema = z.strictObject({ name: z.string(), members: z.record(z.string(), storedSchema({})) });

export type StoredTool = z.infer<typeof storedToolSchema>;

/** @throws {z.ZodError} if the value is no tool */
export function readTool(value: unknown): StoredTool {
  return storedToolSchema.parse(value);
}

const toolLineSchema = z.strictObject({ tool: fingerprintSchema, definition: storedToolSchema });
const listLineSchema = z.strictObject({ list: fingerprintSchema, tools: z.array(fingerprintSchema) });

/** The lists of tools that the recordings of a suite name, by fingerprint. */
export type ToolLists = ReadonlyMap<string, readonly StoredTool[]>;

/** The name of a list of tools: the fingerprint of those of its tools. */
export interface NamedList {
  id: string;
  tools: readonly string[];
}

/** Caches by identity, because the calls of a recording share the objects of equal tools. */
export function createListNames(): (tools: readonly StoredTool[]) => NamedList {
  const tools = new WeakMap<StoredTool, string>();
  const lists = new WeakMap<readonly StoredTool[], NamedList>();
  const nameTool = (tool: StoredTool) => {
    const id = tools.get(tool) ?? fingerprintJson(tool);
    tools.set(tool, id);
    return id;
  };
  return (list) => {
    const known = lists.get(list);
    if (known !== undefined) return known;
    const ids = list.map(nameTool);
    const named = { id: fingerprintJson(ids), tools: ids };
    lists.set(list, named);
    return named;
  };
}

/** Prints the tools of a suite, each once and in the order of names, and then the lists that consist of them. */
export function printToolFile(lists: Iterable<readonly StoredTool[]>): string {
  const name = createListNames();
  const tools = new Map<string, StoredTool>();
  const printed = new Map<string, string>();
  for (const list of lists) {
    const { id, tools: ids } = name(list);
    for (const [index, tool] of list.entries()) tools.set(ids[index] ?? '', tool);
    printed.set(id, JSON.stringify({ list: id, tools: ids }));
  }
  const definitions = [...tools]
    .toSorted(([one, { name: a }], [other, { name: b }]) => (a === b ? compare(one, other) : compare(a, b)))
    .map(([tool, definition]) => `{"tool":"${tool}","definition":${printCanonicalJson(definition)}}`);
  const named = [...printed].toSorted(([one], [other]) => compare(one, other)).map(([, line]) => line);
  return [...definitions, ...named].map((line) => `${line}\n`).join('');
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * Reads the tools of a suite. A line that cannot be read is left out, and so is a list with such a tool: recordings with it are stale, and
 * recording them again writes it. Both sides of a merge conflict are read, since every line is named by its content.
 */
export function parseToolFile(text: string): ToolLists {
  const values = text.split('\n').map(tryParseJson).filter(isRecord);
  const tools = new Map(
    values.flatMap((value) => {
      const { data } = toolLineSchema.safeParse(value);
      return data === undefined || fingerprintJson(data.definition) !== data.tool ? [] : [[data.tool, data.definition]];
    }),
  );
  return new Map(
    values.flatMap((value) => {
      const { data } = listLineSchema.safeParse(value);
      const list = data?.tools.map((id) => tools.get(id)) ?? [];
      return data === undefined || !list.every((tool) => tool !== undefined) ? [] : [[data.list, list]];
    }),
  );
}
