import { z } from 'zod';
import { listPathFields, type Operation } from './operation.ts';

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A field of an operation that a caller may set. */
export interface OperationField {
  name: string;
  place: 'path' | 'query' | 'body';
  isRequired: boolean;
  schema: JsonSchema;
}

/** Lists the fields of an operation: ids of the path, then query, then body. */
export function listFields({ path, query, body }: Pick<Operation, 'path' | 'query' | 'body'>): OperationField[] {
  const ids = listPathFields(path).map((name) => ({
    name,
    place: 'path' as const,
    isRequired: true,
    schema: { type: 'string' },
  }));
  return [...ids, ...listProperties(query, 'query'), ...listProperties(body, 'body')];
}

function listProperties(schema: z.ZodObject, place: 'query' | 'body'): OperationField[] {
  const { properties = {}, required = [] } = objectSchema.parse(describeSchema(schema, 'input'));
  return Object.entries(properties).map(([name, property]) => ({
    name,
    place,
    isRequired: required.includes(name),
    schema: property,
  }));
}

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional(),
  required: z.array(z.string()).exactOptional(),
});

/** Converts a zod schema to JSON Schema. Rules that JSON Schema cannot express are left out. */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _draft, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return described;
}

/** Lists the types that a schema allows, with those of its alternatives. Empty if it allows any value. */
export function listTypes(schema: JsonSchema): string[] {
  const { type, anyOf = [], oneOf = [], const: constant } = typesSchema.parse(schema);
  const own = type ?? (constant === undefined ? [] : [typeof constant]);
  const types = [own, ...[...anyOf, ...oneOf].map(listTypes)].flat();
  return [...new Set(types)];
}

const alternatives = z.array(z.record(z.string(), z.unknown())).exactOptional();
const typesSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).exactOptional(),
  anyOf: alternatives,
  oneOf: alternatives,
  const: z.unknown().exactOptional(),
});

/** Describes a schema briefly for people: `text`, `1..200`, `true|false`, `stdio|http`, `list of text`, `JSON`. */
export function nameType(schema: JsonSchema): string {
  const { enum: choices, minimum, maximum, items } = wordsSchema.parse(schema);
  if (choices !== undefined) return choices.join('|');
  const [type, ...others] = listTypes(schema).filter((each) => each !== 'null');
  if (type === undefined || others.length > 0) return 'JSON';
  if (type === 'string') return 'text';
  if (type === 'boolean') return 'true|false';
  if (type === 'array') return items !== undefined && nameType(items) === 'text' ? 'list of text' : 'JSON list';
  if (type !== 'integer' && type !== 'number') return 'JSON';
  const isBounded = minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return isBounded ? `${minimum}..${maximum}` : 'number';
}

const wordsSchema = z.looseObject({
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).exactOptional(),
  minimum: z.number().exactOptional(),
  maximum: z.number().exactOptional(),
  items: z.record(z.string(), z.unknown()).exactOptional(),
});
