import { resolveLocalReference } from '../../base/json-pointer.ts';
import { isJsonEqual, isRecord } from '../../base/json.ts';
import { spend, type Work } from './work.ts';

/** A JSON Schema: `true`, `false` or an object. A server may send any other value as one. */
export type Schema = unknown;

/**
 * The document that references lead into, with the number of its schemas that may still be checked: references can make few schemas
 * endlessly many.
 */
export interface SchemaDocument {
  schema: Schema;
  left: number;
  /** The steps of the whole comparison, which all schemas share. */
  work: Work;
}

/** A schema and the document that it is part of. */
export interface Located {
  schema: Schema;
  root: SchemaDocument;
}

/** More than the schemas of any server, but few enough to be checked within a second. */
const maxSchemas = 5_000;

/** Opens a schema as the document that its references lead into. */
export function openDocument(schema: Schema, work: Work): Located {
  return { schema, root: { schema, left: maxSchemas, work } };
}

/** Keywords that do not affect which values are valid, but that people, models or programs read. */
export const noteKeywords: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

/** Keywords that do not affect the values themselves; references lead into some of them. */
const silentKeywords: ReadonlySet<string> = new Set(['$comment', '$schema', '$id', 'id', '$defs', 'definitions']);

/** The rules for values of one type (JSON Schema 2020-12, Validation, section 6). Values of other types always meet them. */
export const keywordTypes: ReadonlyMap<string, 'number' | 'string' | 'array' | 'object'> = new Map([
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'number'],
  ['minLength', 'string'],
  ['maxLength', 'string'],
  ['pattern', 'string'],
  ['format', 'string'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['maxItems', 'array'],
  ['uniqueItems', 'array'],
  ['contains', 'array'],
  ['minContains', 'array'],
  ['maxContains', 'array'],
  ['properties', 'object'],
  ['required', 'object'],
  ['additionalProperties', 'object'],
  ['patternProperties', 'object'],
  ['propertyNames', 'object'],
  ['minProperties', 'object'],
  ['maxProperties', 'object'],
  ['dependentRequired', 'object'],
  ['dependentSchemas', 'object'],
  ['dependencies', 'object'],
]);

/** Rules for values of every type. */
export const generalKeywords: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else']);

/** Keywords that list the types, or lead to other schemas for the same value. */
const structureKeywords: ReadonlySet<string> = new Set(['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf']);

/** Keywords whose meaning depends on more than their own value, or differs between revisions of JSON Schema. */
const hardKeywords: ReadonlySet<string> = new Set([
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$anchor',
  'additionalItems',
]);

/** Checks if a keyword is in none of the sets here. Validators ignore such a keyword. */
export function isUnknownKeyword(keyword: string): boolean {
  return !(
    noteKeywords.has(keyword) ||
    silentKeywords.has(keyword) ||
    keywordTypes.has(keyword) ||
    generalKeywords.has(keyword) ||
    structureKeywords.has(keyword) ||
    hardKeywords.has(keyword)
  );
}

/** Keywords that revisions before 2020-12 do not know, or read differently. */
const laterKeywords: ReadonlySet<string> = new Set([
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
  'minContains',
  'maxContains',
]);

/** MCP reads a schema without `$schema` as a 2020-12 one. */
function isLatestDialect({ schema }: SchemaDocument): boolean {
  const dialect = isRecord(schema) ? schema['$schema'] : undefined;
  return dialect === undefined || (typeof dialect === 'string' && dialect.includes('2020-12'));
}

/** Checks if the meaning of this object's keywords does not follow from reading each of them alone. */
export function isHard(schema: Record<string, unknown>, root: SchemaDocument): boolean {
  if (Object.keys(schema).some((keyword) => hardKeywords.has(keyword))) return true;
  if (Array.isArray(schema['items'])) return true;
  if (typeof schema['exclusiveMinimum'] === 'boolean' || typeof schema['exclusiveMaximum'] === 'boolean') return true;
  // A schema with its own base URI resolves references against it.
  if (schema !== root.schema && typeof schema['$id'] === 'string') return true;
  if (isLatestDialect(root)) return false;
  const keywords = listRules(schema);
  if (keywords.includes('$ref') && keywords.length > 1) return true;
  return keywords.some((keyword) => laterKeywords.has(keyword));
}

/** Lists the keywords that decide which values are valid. */
export function listRules(schema: Record<string, unknown>): string[] {
  return Object.keys(schema).filter(
    (keyword) =>
      keywordTypes.has(keyword) ||
      generalKeywords.has(keyword) ||
      structureKeywords.has(keyword) ||
      hardKeywords.has(keyword),
  );
}

/**
 * Finds the schema that a `$ref` leads to within its document; undefined for any other reference. This is correct only if the document
 * has no base URIs.
 */
export function resolveReference(reference: unknown, { schema: root }: SchemaDocument): Schema {
  return resolveLocalReference(reference, root);
}

/** Checks if two schemas have the same text apart from notes, so that they allow the same values. */
export function isSameText(a: Located, b: Located): boolean {
  const [before, after] = [a, b].map(({ schema, root }) => removeNotes(schema, root.work));
  if (!isJsonEqual(before, after)) return false;
  if (isLatestDialect(a.root) !== isLatestDialect(b.root)) return false;
  return (
    !hasReference(before) ||
    isJsonEqual(removeNotes(a.root.schema, a.root.work), removeNotes(b.root.schema, b.root.work))
  );
}

/** Keywords whose value maps names to schemas, so that its keys are no keywords. */
const mappings: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);
const literals: ReadonlySet<string> = new Set(['enum', 'const', 'required', 'dependentRequired']);

function removeNotes(schema: unknown, work: Work): unknown {
  if (Array.isArray(schema)) return schema.map((part) => removeNotes(part, work));
  spend(work, 1);
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !noteKeywords.has(keyword) && keyword !== '$comment' && !isUnknownKeyword(keyword))
      .map(([keyword, value]) => {
        if (literals.has(keyword)) {
          if (Array.isArray(value)) spend(work, value.length);
          return [keyword, value];
        }
        if (!mappings.has(keyword) || !isRecord(value)) return [keyword, removeNotes(value, work)];
        const parts = Object.entries(value).map(([key, part]) => [key, removeNotes(part, work)]);
        return [keyword, Object.fromEntries(parts)];
      }),
  );
}

function hasReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReference);
  if (!isRecord(value)) return false;
  return (
    Object.keys(value).some((key) => /^\$(?:ref|dynamicRef|recursiveRef)$/.test(key)) ||
    Object.values(value).some(hasReference)
  );
}
