import { isRecord, type JsonObject } from '../base/json.ts';
import { dataKeywords, schemaMaps } from '../base/schema-keywords.ts';
import type { SchemaChange } from './profile.ts';

/** A schema as a host shows it, and what the host did to it, as the ends of sentences. */
export interface ShownSchema {
  schema: JsonObject;
  effects: string[];
}

/** Applies the changes of a host to an input schema, one after the other. */
export function showSchema(schema: JsonObject, changes: readonly SchemaChange[]): ShownSchema {
  const effects: string[] = [];
  let shown = schema;
  for (const change of changes) {
    const next = applyChange(shown, change);
    if (next.effect !== null) effects.push(next.effect);
    shown = next.schema;
  }
  return { schema: shown, effects };
}

/** Checks if a property of the input has the schema `true`. */
export function hasTrueProperty({ properties }: JsonObject): boolean {
  return isRecord(properties) && Object.values(properties).includes(true);
}

function applyChange(schema: JsonObject, change: SchemaChange): { schema: JsonObject; effect: string | null } {
  switch (change.kind) {
    case 'parameter-added':
      return { schema, effect: 'adds a parameter to each tool' };
    case 'closed': {
      if (schema['additionalProperties'] === false) return { schema, effect: null };
      return {
        schema: { ...schema, additionalProperties: false },
        effect: 'adds `additionalProperties: false` to schemas',
      };
    }
    case 'keywords-dropped':
    case 'keywords-described': {
      const found = new Set<string>();
      const isDescribed = change.kind === 'keywords-described';
      const shown = moveKeywords(schema, { keywords: new Set(change.keywords), isDescribed, found });
      if (found.size === 0 || !isRecord(shown)) return { schema, effect: null };
      return {
        schema: shown,
        effect: isDescribed
          ? 'moves bounds and patterns into descriptions'
          : 'drops bounds, patterns, defaults and examples',
      };
    }
  }
}

interface Moving {
  keywords: ReadonlySet<string>;
  isDescribed: boolean;
  /** Collects the keywords that the schema has. */
  found: Set<string>;
}

/** Removes keywords from a schema and its parts, and appends them to the description of their schema if the host does. */
function moveKeywords(schema: unknown, moving: Moving, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moveKeywords(each, moving));
  if (!isRecord(schema)) return schema;
  const { keywords, isDescribed, found } = moving;
  const isMoved = (key: string) => !isMap && keywords.has(key);
  const entries = Object.entries(schema);
  const moved = entries.filter(([key]) => isMoved(key));
  const kept = entries
    .filter(([key]) => !isMoved(key))
    .map(([key, value]): [string, unknown] => {
      if (!isMap && dataKeywords.has(key)) return [key, value];
      return [key, moveKeywords(value, moving, !isMap && schemaMaps.has(key))];
    });
  for (const [key] of moved) found.add(key);
  const result = Object.fromEntries(kept);
  if (!isDescribed || moved.length === 0) return result;
  const words = moved.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ');
  const { description } = result;
  return { ...result, description: typeof description === 'string' ? `${description} (${words})` : words };
}
