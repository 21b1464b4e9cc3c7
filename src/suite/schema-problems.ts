import { resolveLocalReference } from '../base/json-pointer.ts';
import { RE2JS } from 're2js';
import { isRecord } from '../base/json.ts';
import { findNearest } from './findings.ts';
import { quoteValue } from '../base/text.ts';

/** One mistake in a JSON Schema that an evals file or a request carries. */
export interface SchemaProblem {
  /** The path from the root of the schema. */
  path: readonly PropertyKey[];
  /** True if the key at the end of the path is wrong, and not its value. */
  isKey: boolean;
  message: string;
}

/** The formats that are checked. Any other format would accept every value. */
export const checkedFormats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'iso-time',
  'iso-date-time',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'uuid',
  'regex',
  'byte',
  'int32',
  'int64',
  'float',
  'double',
  'json-pointer',
  'json-pointer-uri-fragment',
  'relative-json-pointer',
];

const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

const draft07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const draft2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** Limits recursion. Deeper schemas are not readable and could exhaust the stack. */
const maxDepth = 64;
const maxProblems = 50;

interface Walk {
  root: unknown;
  isDraft07: boolean;
  ids: Set<string>;
  anchors: Set<string>;
  problems: SchemaProblem[];
}

type Check = (value: unknown, path: readonly PropertyKey[], walk: Walk) => void;

/**
 * Finds mistakes of a JSON Schema that a validator would overlook or fail on: unknown keywords, wrong values of keywords, patterns that RE2
 * cannot run, unchecked formats and references that lead nowhere. The schema is 2020-12, or draft-07 if `$schema` says so. Keywords that
 * begin with `x-` are ignored.
 *
 * Does not use `ajv` for this. Its strict mode reports an unknown keyword without a location, ends at the first wrong value, skips `$defs` that
 * nothing refers to, and takes `$anchor` for unknown. Its meta-schemas allow unknown keywords, formats and patterns, and report one wrong value
 * up to eight times.
 */
export function findSchemaProblems(schema: unknown): SchemaProblem[] {
  const dialect = isRecord(schema) ? schema['$schema'] : undefined;
  const isDraft07 = typeof dialect === 'string' && draft07.test(dialect);
  const walk: Walk = { root: schema, isDraft07, ids: new Set(), anchors: new Set(), problems: [] };
  collectNames(schema, walk, 0);
  checkSubschema(schema, [], walk);
  return walk.problems.slice(0, maxProblems);
}

function collectNames(value: unknown, walk: Walk, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth * 2) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === '$id' && typeof part === 'string') walk.ids.add(part);
    if ((key === '$anchor' || key === '$dynamicAnchor') && typeof part === 'string') walk.anchors.add(`#${part}`);
    collectNames(part, walk, depth + 1);
  }
}

const checkSubschema: Check = (value, path, walk) => {
  if (walk.problems.length >= maxProblems || typeof value === 'boolean') return;
  if (!isRecord(value)) return addWrongType('a schema: a mapping, or true or false', value, path, walk);
  if (path.length > maxDepth) return add(`The schema is nested more than ${maxDepth} levels deep`, path, walk);
  for (const [keyword, part] of Object.entries(value)) {
    const check = findCheck(keyword, walk);
    if (check !== undefined) check(part, [...path, keyword], walk);
    else if (!keyword.startsWith('x-')) {
      const names = [...keywords.keys()].filter((name) => findCheck(name, walk) !== undefined);
      const nearest = findNearest(keyword, names);
      const advice = nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
      const dialect = walk.isDraft07 ? 'draft-07' : '2020-12';
      const message = `Unknown keyword \`${keyword}\` of JSON Schema ${dialect}${advice}`;
      walk.problems.push({ path: [...path, keyword], isKey: true, message });
    }
  }
};

function findCheck(keyword: string, { isDraft07 }: Walk): Check | undefined {
  return (isDraft07 ? only2020 : onlyDraft07).has(keyword) ? undefined : keywords.get(keyword);
}

function add(message: string, path: readonly PropertyKey[], { problems }: Walk): void {
  problems.push({ path, isKey: false, message });
}

function addWrongType(expected: string, value: unknown, path: readonly PropertyKey[], walk: Walk): void {
  const what = path.length === 0 ? 'The schema' : `\`${String(path.at(-1))}\``;
  add(`${what} must be ${expected}, not ${quoteValue(value)}`, path, walk);
}

/** Creates the check of a keyword from the values that it accepts. */
function expectValue(expected: string, isRight: (value: unknown) => boolean): Check {
  return (value, path, walk) => {
    if (!isRight(value)) addWrongType(expected, value, path, walk);
  };
}

const anything: Check = () => {};
const isText = (value: unknown): value is string => typeof value === 'string';
const text = expectValue('text', isText);
const flag = expectValue('true or false', (value) => typeof value === 'boolean');
const number = expectValue('a number', Number.isFinite);
const positive = expectValue('a number above 0', (value) => typeof value === 'number' && value > 0);
const count = expectValue('a whole number from 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0);
const list = expectValue('a list', Array.isArray);
const filledList = expectValue('a list of at least one value', (value) => Array.isArray(value) && value.length > 0);
const names = expectValue(
  'a list of names, each once',
  (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length,
);

const schemaList: Check = (value, path, walk) => {
  if (!Array.isArray(value) || value.length === 0) {
    return addWrongType('a list of at least one schema', value, path, walk);
  }
  for (const [index, item] of value.entries()) checkSubschema(item, [...path, index], walk);
};

/** Checks each value of a mapping, and each key if `checkKey` is given. */
function mapping(checkValue: Check, checkKey: Check = anything): Check {
  return (value, path, walk) => {
    if (!isRecord(value)) return addWrongType('a mapping', value, path, walk);
    for (const [key, part] of Object.entries(value)) {
      checkKey(key, [...path, key], walk);
      checkValue(part, [...path, key], walk);
    }
  };
}

const types: Check = (value, path, walk) => {
  const written: unknown[] = Array.isArray(value) ? value : [value];
  for (const [index, name] of written.entries()) {
    if (isText(name) && typeNames.includes(name)) continue;
    const nearest = isText(name) ? findNearest(name, typeNames) : undefined;
    const advice = nearest === undefined ? `write ${typeNames.join(', ')}` : `did you mean \`${nearest}\`?`;
    add(`\`type\` cannot be ${quoteValue(name)}; ${advice}`, Array.isArray(value) ? [...path, index] : path, walk);
  }
  if (written.length === 0 || new Set(written).size < written.length) {
    add('`type` must name at least one type, and each once', path, walk);
  }
};

const pattern: Check = (value, path, walk) => {
  if (!isText(value)) return addWrongType('text', value, path, walk);
  try {
    RE2JS.compile(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    add(`The pattern ${quoteValue(value)} is no RE2 regular expression: ${why}`, path, walk);
  }
};

const format: Check = (value, path, walk) => {
  if (isText(value) && checkedFormats.includes(value)) return;
  const nearest = isText(value) ? findNearest(value, checkedFormats) : undefined;
  const advice = nearest === undefined ? '; write it as a `pattern`' : `; did you mean \`${nearest}\`?`;
  add(`The format ${quoteValue(value)} is not checked${advice}`, path, walk);
};

const dialect: Check = (value, path, walk) => {
  if (path.length === 1 && isText(value) && (draft07.test(value) || draft2020.test(value))) return;
  const known = 'https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#';
  add(`\`$schema\` must be ${known}, at the root alone, not ${quoteValue(value)}`, path, walk);
};

const reference: Check = (value, path, walk) => {
  if (!isText(value)) return addWrongType('text', value, path, walk);
  if (canResolve(value, walk)) return;
  const message = `The reference ${quoteValue(value)} leads nowhere in this schema; other documents are never fetched`;
  add(message, path, walk);
};

function canResolve(written: string, { root, ids, anchors }: Walk): boolean {
  if (draft07.test(written) || draft2020.test(written)) return true;
  const [base = '', fragment = ''] = written.split('#', 2);
  // Leaves references relative to an embedded schema to the validator.
  if (base !== '') return [...ids].some((id) => id === base || id.endsWith(`/${base}`));
  if (fragment === '') return true;
  if (!fragment.startsWith('/')) return anchors.has(`#${fragment}`) || ids.has(`#${fragment}`);
  if (ids.size > (isRecord(root) && Object.hasOwn(root, '$id') ? 1 : 0)) return true;
  const part = resolveLocalReference(`#${fragment}`, root);
  return isRecord(part) || typeof part === 'boolean';
}

const items: Check = (value, path, walk) =>
  (walk.isDraft07 && Array.isArray(value) ? schemaList : checkSubschema)(value, path, walk);

const dependency: Check = (value, path, walk) => (Array.isArray(value) ? names : checkSubschema)(value, path, walk);

const only2020: ReadonlySet<string> = new Set([
  '$defs',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
  'minContains',
  'maxContains',
  'contentSchema',
  'deprecated',
]);
const onlyDraft07: ReadonlySet<string> = new Set(['additionalItems']);

/** The keywords of both dialects, grouped by the check of their values. */
const keywordsByCheck: ReadonlyArray<readonly [check: Check, names: string]> = [
  [dialect, '$schema'],
  [text, '$id $anchor $dynamicAnchor $comment title description contentEncoding contentMediaType'],
  [reference, '$ref $dynamicRef'],
  [anything, 'const default'],
  [types, 'type'],
  [filledList, 'enum'],
  [format, 'format'],
  [pattern, 'pattern'],
  [positive, 'multipleOf'],
  [number, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
  [count, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'],
  [flag, 'uniqueItems deprecated readOnly writeOnly'],
  [names, 'required'],
  [list, 'examples'],
  [schemaList, 'allOf anyOf oneOf prefixItems'],
  [items, 'items'],
  [checkSubschema, 'not if then else contains additionalItems additionalProperties propertyNames'],
  [checkSubschema, 'unevaluatedItems unevaluatedProperties contentSchema'],
  [mapping(checkSubschema), '$defs definitions properties dependentSchemas'],
  [mapping(checkSubschema, pattern), 'patternProperties'],
  [mapping(names), 'dependentRequired'],
  [mapping(dependency), 'dependencies'],
];

const keywords: ReadonlyMap<string, Check> = new Map(
  keywordsByCheck.flatMap(([check, list]) => list.split(' ').map((name) => [name, check] as const)),
);
