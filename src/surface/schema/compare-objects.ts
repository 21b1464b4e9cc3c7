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

/** What one side says about the properties of an object. */
interface Shape {
  properties: Record<string, Schema>;
  required: ReadonlySet<string>;
  /** For properties that are not declared. */
  additional: Located;
  /** Whether there are rules for names by pattern, so that a property may have other rules, too. */
  hasPatterns: boolean;
  locate(name: string): Located;
}

/** Compares what two alternatives say about the properties of objects; their number and the rules for all of them apart. */
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

/** A path with one more name, which is quoted where it could be taken for several. */
export function joinPath(path: string, name: string): string {
  const part = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  return path === '' ? part : `${path}.${part}`;
}

function compareRequired(
  name: string,
  { from, to, inner, comparing }: { from: Shape; to: Shape; inner: string; comparing: Comparing },
): void {
  const [was, is] = [from.required.has(name), to.required.has(name)];
  if (was === is) return;
  const effect: Effect = is ? { narrows: 'yes', widens: 'no' } : { narrows: 'no', widens: 'yes' };
  const [textBefore, textAfter] = is ? ['optional', 'required'] : ['required', 'optional'];
  const kind = is ? 'becameRequired' : 'becameOptional';
  addChange(comparing, { path: inner, kind, ...effect, before: textBefore ?? null, after: textAfter ?? null });
}

/** What both sides are, and what it does to the values of one property that the other side has another schema for it. */
interface Sides {
  from: Shape;
  to: Shape;
  sub: Effect;
}

/** A property that only the later schema declares. */
function judgeAddition(name: string, { from, to, sub }: Sides): Effect & Pick<SchemaChange, 'kind'> {
  const becomesRequired = to.required.has(name) && !from.required.has(name);
  const kind = becomesRequired ? 'addedRequired' : 'added';
  if (from.hasPatterns || to.hasPatterns) return { kind, narrows: becomesRequired ? 'yes' : 'maybe', widens: 'maybe' };
  const becomesOptional = from.required.has(name) && !to.required.has(name);
  // Who sent it to a schema without it meant something that the schema does not know.
  const narrows: Certainty = sub.narrows === 'yes' && allowsAll(from.additional) ? 'maybe' : sub.narrows;
  return { kind, narrows: becomesRequired ? 'yes' : narrows, widens: becomesOptional ? 'yes' : sub.widens };
}

/** A property that only the earlier schema declares. Even where it is still accepted, nothing says what it does. */
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

/** Of types with few values, how many there are. */
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
