import { isJsonEqual, isRecord, printCanonicalJson } from '../../base/json.ts';
import {
  generalKeywords,
  isHard,
  keywordTypes,
  listRules,
  type Located,
  resolveReference,
  type SchemaDocument,
} from './keywords.ts';
import { hasValue, indexValues } from './value-index.ts';
import { spend } from './work.ts';

/** The types of JSON Schema; `integer` is a rule for numbers. */
export const jsonTypes = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** A set of values of one type that meet all rules. A schema allows the values of all its alternatives. */
export interface Alternative {
  type: JsonType;
  /** The only possible values, though the rules may refuse some of them; null if the values are not listed. */
  values: readonly unknown[] | null;
  isInteger: boolean;
  /** The rules by keyword: those for values of this type, and those for values of every type. */
  rules: Readonly<Record<string, unknown>>;
  root: SchemaDocument;
}

/** A schema with more alternatives is not compared rule by rule. */
const maxAlternatives = 100;

/** The deepest nesting of `allOf`, `anyOf`, `oneOf` and references for one value. */
const maxNesting = 50;

/**
 * Lists the values that a schema allows, type by type; null if the keywords cannot be read one by one. References are followed, unless
 * one leads back to itself for the same value.
 */
export function expandSchema({ schema, root }: Located, open: readonly unknown[] = []): Alternative[] | null {
  if (schema === true) return jsonTypes.map((type) => allow(type, root));
  if (schema === false) return [];
  root.left -= 1;
  spend(root.work, 1 + open.length);
  if (root.left < 0 || open.length > maxNesting || !isRecord(schema) || open.includes(schema) || isHard(schema, root))
    return null;
  const rules = listRules(schema);
  if (rules.length === 1 && rules[0] === '$ref') {
    const target = resolveReference(schema['$ref'], root);
    return target === undefined ? null : expandSchema({ schema: target, root }, [...open, schema]);
  }
  let found = expandOwn(schema, root);
  const within = [...open, schema];
  const narrow = (parts: Alternative[] | null) => {
    found = found === null || parts === null ? null : intersect(found, parts);
    if (found !== null && found.length > maxAlternatives) found = null;
  };
  if (schema['$ref'] !== undefined) {
    const target = resolveReference(schema['$ref'], root);
    narrow(target === undefined ? null : expandSchema({ schema: target, root }, within));
  }
  for (const part of listSchemas(schema['allOf'])) narrow(expandSchema({ schema: part, root }, within));
  for (const keyword of ['anyOf', 'oneOf']) {
    if (schema[keyword] === undefined) continue;
    const branches = listSchemas(schema[keyword]).map((part) => expandSchema({ schema: part, root }, within));
    const known = branches.filter((branch) => branch !== null);
    spend(
      root.work,
      known.reduce((sum, branch) => sum + branch.length, 0),
    );
    const isKnown = known.length === branches.length && (keyword === 'anyOf' || areApart(known));
    narrow(isKnown ? joinValues(known.flat()) : null);
  }
  return found;
}

function listSchemas(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function allow(type: JsonType, root: SchemaDocument, rules: Alternative['rules'] = {}): Alternative {
  const few: Partial<Record<JsonType, unknown[]>> = { null: [null], boolean: [false, true] };
  return { type, values: few[type] ?? null, isInteger: false, rules, root };
}

function expandOwn(schema: Record<string, unknown>, root: SchemaDocument): Alternative[] | null {
  const written = schema['type'];
  const types = written === undefined ? [...jsonTypes] : [written].flat();
  const rules = listRules(schema).flatMap((keyword) => (isRule(keyword) ? [[keyword, schema[keyword]] as const] : []));
  const found: Alternative[] = [];
  for (const type of jsonTypes) {
    const isListed = types.includes(type);
    if (!isListed && !(type === 'number' && types.includes('integer'))) continue;
    const own = rules.filter(([keyword]) => (keywordTypes.get(keyword) ?? type) === type);
    found.push({ ...allow(type, root, Object.fromEntries(own)), isInteger: type === 'number' && !isListed });
  }
  const isKnownType = (type: unknown) => type === 'integer' || jsonTypes.some((known) => known === type);
  if (!types.every(isKnownType)) return null;
  const lists = [
    ...(schema['const'] === undefined ? [] : [[schema['const']]]),
    ...(schema['enum'] === undefined ? [] : [schema['enum']]),
  ];
  if (!lists.every(Array.isArray)) return null;
  return lists.reduce<Alternative[]>((all, list) => all.flatMap((each) => keepValues(each, list)), found);
}

function isRule(keyword: string): boolean {
  return keywordTypes.has(keyword) || generalKeywords.has(keyword);
}

/** Finds the type of a JSON value. */
export function readType(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

/** Keeps only the values of an alternative that are in the list. */
function keepValues(alternative: Alternative, list: readonly unknown[]): Alternative[] {
  const known = alternative.values;
  spend(alternative.root.work, list.length);
  const values = list.filter(
    (value) => readType(value) === alternative.type && (known === null || hasValue(known, value)),
  );
  return values.length === 0 ? [] : [{ ...alternative, values }];
}

/** Lists the values that both sides allow; null if two sets of rules cannot be merged. */
function intersect(left: readonly Alternative[], right: readonly Alternative[]): Alternative[] | null {
  const found: Alternative[] = [];
  for (const a of left) {
    for (const b of right.filter(({ type }) => type === a.type)) {
      spend(a.root.work, countRules(a.rules) + countRules(b.rules));
      const rules = mergeRules(a.rules, b.rules);
      if (rules === null) return null;
      const merged = { ...a, rules, isInteger: a.isInteger || b.isInteger };
      const kept = b.values === null ? [merged] : keepValues(merged, b.values);
      for (const each of kept) found.push(each);
    }
  }
  return found;
}

/** Counts the steps of a merge of rules, which copies properties. */
function countRules({ properties, required, ...rules }: Alternative['rules']): number {
  const size = isRecord(properties) ? Object.keys(properties).length : 0;
  return Object.keys(rules).length + size + (Array.isArray(required) ? required.length : 0);
}

const largest: ReadonlySet<string> = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const smallest: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
]);

/** Groups of rules that refer to each other, so that such rules of two schemas cannot be merged one by one. */
const groups: ReadonlyArray<ReadonlySet<string>> = [
  new Set(['properties', 'patternProperties', 'additionalProperties']),
  new Set(['items', 'prefixItems']),
  new Set(['contains', 'minContains', 'maxContains']),
  new Set(['if', 'then', 'else']),
];

function mergeRules(a: Alternative['rules'], b: Alternative['rules']): Record<string, unknown> | null {
  const merged: Record<string, unknown> = { ...a };
  for (const group of groups) {
    const [inA, inB] = [a, b].map((rules) => [...group].filter((keyword) => Object.hasOwn(rules, keyword)));
    if (inA === undefined || inB === undefined || inA.length === 0 || inB.length === 0) continue;
    const isSame = isJsonEqual(pick(a, inA), pick(b, inB));
    if (!isSame && !areSeparate(pick(a, inA), pick(b, inB))) return null;
  }
  for (const [keyword, value] of Object.entries(b)) {
    const own = merged[keyword];
    if (own === undefined || isJsonEqual(own, value)) merged[keyword] = value;
    else if (keyword === 'required' && Array.isArray(own) && Array.isArray(value)) {
      merged[keyword] = [...new Set([...own, ...value])];
    } else if (keyword === 'properties' && isRecord(own) && isRecord(value)) merged[keyword] = { ...own, ...value };
    else if (typeof own === 'number' && typeof value === 'number' && largest.has(keyword)) {
      merged[keyword] = Math.max(own, value);
    } else if (typeof own === 'number' && typeof value === 'number' && smallest.has(keyword)) {
      merged[keyword] = Math.min(own, value);
    } else return null;
  }
  return merged;
}

function pick(rules: Alternative['rules'], keywords: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, rules[keyword]]));
}

/** Checks if both only declare properties, and share none. */
function areSeparate(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  if (Object.keys(a).join() !== 'properties' || Object.keys(b).join() !== 'properties') return false;
  const { properties: own } = a;
  const { properties: other } = b;
  return isRecord(own) && isRecord(other) && Object.keys(own).every((name) => !Object.hasOwn(other, name));
}

/** Checks if no value can meet two of the branches, so that "exactly one" means the same as "at least one". */
function areApart(branches: ReadonlyArray<readonly Alternative[]>): boolean {
  const owners = new Map<string, number>();
  for (const [index, branch] of branches.entries()) {
    for (const text of branch.flatMap(({ values }) => (values === null ? [] : [...indexValues(values)]))) {
      if ((owners.get(text) ?? index) !== index) return false;
      owners.set(text, index);
    }
  }
  const all = branches.flatMap((branch, index) => branch.map((alternative) => ({ alternative, index })));
  const open = all.filter(({ alternative }) => alternative.values === null);
  // With more of them, no rules are compared.
  if (open.length > maxAlternatives) return false;
  return open.every((a) => all.every((b) => a.index === b.index || isApart(a.alternative, b.alternative)));
}

/** Checks if two alternatives share no value; at least one of them does not list its values. */
function isApart(a: Alternative, b: Alternative): boolean {
  if (a.type !== b.type) return true;
  const label = readLabel(a, b);
  return label !== null && !isJsonEqual(label.a, label.b);
}

/** Finds a required property with one fixed value on each side that differs; null if there is none. */
function readLabel(a: Alternative, b: Alternative): { a: unknown; b: unknown } | null {
  const [own, others] = [listLabels(a), listLabels(b)];
  for (const [name, value] of own) {
    if (others.has(name) && !isJsonEqual(value, others.get(name))) return { a: value, b: others.get(name) };
  }
  return null;
}

const labels = new WeakMap<Alternative, ReadonlyMap<string, unknown>>();

/** Maps each required property that has only one value to that value, which distinguishes kinds of objects. */
export function listLabels(alternative: Alternative): ReadonlyMap<string, unknown> {
  const found = labels.get(alternative) ?? findLabels(alternative);
  labels.set(alternative, found);
  return found;
}

function findLabels({ type, rules: { properties, required }, root }: Alternative): Map<string, unknown> {
  if (type !== 'object' || !isRecord(properties) || !Array.isArray(required)) return new Map();
  spend(root.work, Object.keys(properties).length + required.length);
  const names = new Set(required);
  return new Map(
    Object.entries(properties).flatMap(([name, schema]) => {
      if (!isRecord(schema) || !names.has(name)) return [];
      const { const: value, enum: values } = schema;
      if (value !== undefined) return [[name, value] as const];
      return Array.isArray(values) && values.length === 1 ? [[name, values[0]] as const] : [];
    }),
  );
}

/** Joins the alternatives that only list values into one for each type. */
function joinValues(alternatives: readonly Alternative[]): Alternative[] {
  const isPlain = ({ values, rules }: Alternative) => values !== null && Object.keys(rules).length === 0;
  const plain = Map.groupBy(alternatives.filter(isPlain), ({ type }) => type);
  return [
    ...[...plain.values()].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const values = [first, ...others].flatMap((each) =>
        (each.values ?? []).filter((value) => !each.isInteger || Number.isInteger(value)),
      );
      spend(first.root.work, values.length);
      const distinct = new Map(values.toReversed().map((value) => [printCanonicalJson(value), value]));
      return [{ ...first, isInteger: false, values: [...distinct.values()].toReversed() }];
    }),
    ...alternatives.filter((each) => !isPlain(each)),
  ];
}
