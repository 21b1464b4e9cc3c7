import { resolveLocalReference } from '../../base/json-pointer.ts';
import { isRecord, type JsonObject } from '../../base/json.ts';

/** The most references that are followed, so that a circle ends. */
const maxHops = 12;

/** Follows the references of a schema and merges its `allOf`. A reference that leads nowhere allows anything. */
export function resolveSchema(written: unknown, root: JsonObject): JsonObject {
  let schema: JsonObject = isRecord(written) ? written : {};
  for (let hops = 0; schema['$ref'] !== undefined && hops < maxHops; hops += 1) {
    const { $ref: reference, ...others } = schema;
    const target = resolveLocalReference(reference, root);
    schema = mergeSchemas(isRecord(target) ? target : {}, others);
  }
  const { allOf, ...base } = schema;
  if (!Array.isArray(allOf)) return schema;
  return allOf.reduce<JsonObject>((merged, part) => mergeSchemas(merged, resolveSchema(part, root)), base);
}

/** Lists the alternatives of a schema, each merged with the keywords that all share; itself if it has none. `null` is the last one. */
export function listBranches(schema: JsonObject, root: JsonObject): JsonObject[] {
  const { anyOf, oneOf, ...base } = schema;
  const listed = [anyOf, oneOf].find((list) => Array.isArray(list));
  if (Array.isArray(listed)) {
    const branches = listed.map((branch) => mergeSchemas(base, resolveSchema(branch, root)));
    return branches.toSorted((a, b) => Number(a['type'] === 'null') - Number(b['type'] === 'null'));
  }
  const { type } = schema;
  if (!Array.isArray(type)) return [schema];
  const types = type.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
  return types.map((each: unknown) => ({ ...schema, type: each }));
}

/** Joins two schemas: the properties and required names of both, and otherwise the keywords of the second one. */
function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const merged: JsonObject = { ...first, ...second };
  if (isRecord(first['properties']) && isRecord(second['properties'])) {
    merged['properties'] = { ...first['properties'], ...second['properties'] };
  }
  if (Array.isArray(first['required']) && Array.isArray(second['required'])) {
    merged['required'] = [...new Set([...first['required'], ...second['required']])];
  }
  return merged;
}

/** Names the type of a schema without alternatives; undefined if it allows several. */
export function readType(schema: JsonObject): string | undefined {
  const { type, properties, items, enum: members } = schema;
  if (typeof type === 'string') return type;
  if (isRecord(properties)) return 'object';
  if (isRecord(items)) return 'array';
  return Array.isArray(members) && members.every((member) => typeof member === 'string') ? 'string' : undefined;
}
