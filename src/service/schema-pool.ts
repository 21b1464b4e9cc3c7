import { z } from 'zod';
import type { JsonSchema } from './operations/fields.ts';

/** Shorter schemas are easier to read inline. */
const minCharacters = 400;

/** Collects the schemas of a document and defines repeated ones once. */
export interface SchemaPool {
  /**
   * Adds a schema. Call the returned function after `finish` to get the final schema. If other schemas refer to it, it is named after
   * `name`.
   */
  add(schema: JsonSchema, name: string): () => JsonSchema;
  /** Returns the schemas that others refer to, by name. Add no schema after that. */
  finish(): Record<string, JsonSchema>;
}

/** Creates a pool in which schemas refer to each other as `#/components/schemas/<name>`. */
export function createSchemaPool(): SchemaPool {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  const shared: Record<string, JsonSchema> = {};

  const count = (schema: JsonSchema): void => {
    const text = JSON.stringify(schema);
    const before = counts.get(text) ?? 0;
    counts.set(text, before + 1);
    // Counts the parts only once, because a repeated schema is defined once with its parts.
    if (before === 0) mapParts(schema, (part) => (count(part), part));
  };

  const write = (schema: JsonSchema, hint: string): JsonSchema => {
    const text = JSON.stringify(schema);
    const isShared = (counts.get(text) ?? 0) > 1 && text.length >= minCharacters;
    if (!isShared) return mapParts(schema, write);
    let name = names.get(text);
    if (name === undefined) {
      name = chooseName(hint, shared);
      names.set(text, name);
      // Reserves the name before the parts of the schema are named.
      shared[name] = {};
      shared[name] = mapParts(schema, write);
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const added: Array<{ name: string; schema: JsonSchema; written: JsonSchema }> = [];
  return {
    add: (schema, name) => {
      const { $defs = {}, ...rest } = definitionsSchema.parse(pointToComponents(schema));
      for (const [id, definition] of Object.entries($defs)) shared[id] ??= definition;
      count(rest);
      const entry = { name, schema: rest, written: rest };
      added.push(entry);
      return () => entry.written;
    },
    finish: () => {
      for (const entry of added) entry.written = write(entry.schema, entry.name);
      return shared;
    },
  };
}

const definitionsSchema = z.looseObject({
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional(),
});

/** Redirects references to definitions of the schema to those of the document. */
function pointToComponents(schema: JsonSchema): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function chooseName(hint: string, taken: Readonly<Record<string, unknown>>): string {
  const base = hint.replaceAll(/\W/g, '').replace(/^./, (letter) => letter.toUpperCase());
  let name = base;
  for (let number = 2; name in taken; number += 1) name = `${base}${number}`;
  return name;
}

const schemaLike = z.record(z.string(), z.unknown());

/** Replaces the schemas directly inside a schema. `hint` is the property name or the kind of the part. */
function mapParts(schema: JsonSchema, replace: (part: JsonSchema, hint: string) => JsonSchema): JsonSchema {
  const replaceAny = (part: unknown, hint: string): unknown => {
    const parsed = schemaLike.safeParse(part);
    return parsed.success ? replace(parsed.data, hint) : part;
  };
  const mapped = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === 'properties' || keyword === 'patternProperties') {
      const parts = Object.entries(schemaLike.parse(value)).map(([name, part]) => [name, replaceAny(part, name)]);
      return [keyword, Object.fromEntries(parts)];
    }
    if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(keyword) && Array.isArray(value)) {
      return [keyword, value.map((part) => replaceAny(part, 'Choice'))];
    }
    if (['items', 'additionalProperties', 'propertyNames', 'not'].includes(keyword)) {
      return [keyword, replaceAny(value, 'Item')];
    }
    return [keyword, value];
  });
  return Object.fromEntries(mapped);
}
