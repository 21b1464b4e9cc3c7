import { isRecord } from '../../base/json.ts';
import {
  addChange,
  type Certainty,
  type CompareParts,
  type Comparing,
  type Effect,
  joinEffects,
  type SchemaChange,
} from './effect.ts';
import { type Alternative, expandSchema, jsonTypes } from './expand.ts';
import type { Located, Schema } from './keywords.ts';
import { spend } from './work.ts';

interface Objects {
  before: Alternative;
  after: Alternative;
  path: string;
  comparing: Comparing;
}

/** The rules of one side for the properties of an object. */
interface Shape {
  properties: Record<string, Schema>;
  required: ReadonlySet<string>;
  /** The schema for undeclared properties. */
  additional: Located;
  /** True if there are rules for names by pattern, which may add rules to any property. */
  hasPatterns: boolean;
  locate(name: string): Located;
}

/**
 * Compares the rules of two alternatives for the properties of objects. The number of properties, and rules for all of them, are compared
 * elsewhere.
 */
export function compareObjects({ before, after, path, comparing }: Objects, compareParts: CompareParts): void {
  const [from, to] = [readShape(before), readShape(after)];
  const names = [from, to].flatMap(({ properties, required }) => [...Object.keys(properties), ...required]);
  spend(before.root.work, names.length);
  for (const name of [...new Set(names)].toSorted()) {
    const inner = joinPath(path, name);
    const [isIn, stays] = [from, to].map(({ properties }) => Object.hasOwn(properties, name));
    const [own, other] = [from.locate(name), to.locate(name)];
    if (isIn === stays) {
      compareRequired(name, { from, to, inner, comparing });
      if (isIn === true) compareParts(own, other, inner, comparing);
      continue;
    }
    const trial: Comparing = { ...comparing, changes: [] };
    compareParts(own, other, inner, trial);
    const parts = { from, to, sub: joinEffects(trial.changes) };
    const text = describeTypes(isIn === true ? own : other);
    const shown = isIn === true ? { before: text, after: null } : { before: null, after: text };
    const change = isIn === true ? judgeRemoval(name, parts) : judgeAddition(name, parts);
    addChange(comparing, { path: inner, ...change, ...shown });
  }
  compareAdditional({ from, to, path, comparing }, compareParts);
}

function readShape({ rules, root }: Alternative): Shape {
  const properties = isRecord(rules['properties']) ? rules['properties'] : {};
  const required: unknown[] = Array.isArray(rules['required']) ? rules['required'] : [];
  const patterns = rules['patternProperties'];
  const additional = { schema: rules['additionalProperties'] ?? true, root };
  return {
    properties,
    required: new Set(required.filter((name) => typeof name === 'string')),
    additional,
    hasPatterns: isRecord(patterns) && Object.keys(patterns).length > 0,
    locate: (name) => (Object.hasOwn(properties, name) ? { schema: properties[name], root } : additional),
  };
}

/** Appends a name to a path; quotes the name if it could be read as several. */
export function joinPath(path: string, name: string): string {
  const part = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  return path === '' ? part : `${path}.${part}`;
}

function compareRequired(
  name: string,
  { from, to, inner, comparing }: { from: Shape; to: Shape; inner: string; comparing: Comparing },
): void {
  const [wasRequired, isRequired] = [from.required.has(name), to.required.has(name)];
  if (wasRequired === isRequired) return;
  const effect: Effect = isRequired ? { narrows: 'yes', widens: 'no' } : { narrows: 'no', widens: 'yes' };
  const [textBefore, textAfter] = isRequired ? ['optional', 'required'] : ['required', 'optional'];
  const kind = isRequired ? 'becameRequired' : 'becameOptional';
  addChange(comparing, { path: inner, kind, ...effect, before: textBefore ?? null, after: textAfter ?? null });
}

/** Both sides, with the effect that the two schemas of one property have on its values. */
interface Sides {
  from: Shape;
  to: Shape;
  sub: Effect;
}

/** Judges a property that only the later schema declares. */
function judgeAddition(name: string, { from, to, sub }: Sides): Effect & Pick<SchemaChange, 'kind'> {
  const becomesRequired = to.required.has(name) && !from.required.has(name);
  const kind = becomesRequired ? 'addedRequired' : 'added';
  if (from.hasPatterns || to.hasPatterns) return { kind, narrows: becomesRequired ? 'yes' : 'maybe', widens: 'maybe' };
  const becomesOptional = from.required.has(name) && !to.required.has(name);
  // The earlier schema accepted any value for this name, but gave it no meaning, so it is unknown if callers sent one.
  const narrows: Certainty = sub.narrows === 'yes' && allowsAll(from.additional) ? 'maybe' : sub.narrows;
  return { kind, narrows: becomesRequired ? 'yes' : narrows, widens: becomesOptional ? 'yes' : sub.widens };
}

/** Judges a property that only the earlier schema declares. If it is still accepted, nothing says what it does. */
function judgeRemoval(name: string, { from, to, sub }: Sides): Effect & Pick<SchemaChange, 'kind'> {
  const kind = 'removed';
  const becomesOptional = from.required.has(name) && !to.required.has(name);
  const becomesRequired = to.required.has(name) && !from.required.has(name);
  const hasPatterns = from.hasPatterns || to.hasPatterns;
  const narrows: Certainty = becomesRequired || (sub.narrows === 'yes' && !hasPatterns) ? 'yes' : 'maybe';
  const widens: Certainty = becomesOptional || (sub.widens === 'yes' && !allowsAll(to.additional)) ? 'yes' : 'maybe';
  return { kind, narrows, widens: hasPatterns && !becomesOptional ? 'maybe' : widens };
}

function compareAdditional(
  { from, to, path, comparing }: { from: Shape; to: Shape; path: string; comparing: Comparing },
  compareParts: CompareParts,
): void {
  const [wasClosed, isClosed] = [allowsNothing(from.additional), allowsNothing(to.additional)];
  if (wasClosed && isClosed) return;
  if (wasClosed === isClosed) {
    compareParts(from.additional, to.additional, path === '' ? '*' : `${path}.*`, comparing);
    return;
  }
  const effect: Effect = isClosed ? { narrows: 'yes', widens: 'no' } : { narrows: 'no', widens: 'yes' };
  const [textBefore = null, textAfter = null] = [wasClosed, isClosed].map((closed) =>
    closed ? 'no further properties' : 'further properties',
  );
  addChange(comparing, { path, kind: isClosed ? 'closed' : 'opened', ...effect, before: textBefore, after: textAfter });
}

function allowsNothing(located: Located): boolean {
  return expandSchema(located)?.length === 0;
}

/** The number of values of types with few values. */
const allValues: ReadonlyMap<string, number> = new Map([
  ['null', 1],
  ['boolean', 2],
]);

function allowsAll(located: Located): boolean {
  const alternatives = expandSchema(located) ?? [];
  const isFree = ({ type, values, rules, isInteger }: Alternative) =>
    Object.keys(rules).length === 0 && !isInteger && (values === null || values.length === allValues.get(type));
  return new Set(alternatives.filter(isFree).map(({ type }) => type)).size === jsonTypes.length;
}

function describeTypes(located: Located): string {
  const types = [
    ...new Set((expandSchema(located) ?? []).map(({ type, isInteger }) => (isInteger ? 'integer' : type))),
  ];
  return types.length === 0 || types.length >= jsonTypes.length ? 'any type' : types.join(' or ');
}
