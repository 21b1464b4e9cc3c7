import { RE2JS } from 're2js';
import type { Certainty, Effect } from './effect.ts';
import { noEffect, unknownEffect } from './effect.ts';
import type { Alternative } from './expand.ts';
import { hasValue } from './value-index.ts';

/** A changed rule for numbers, strings or sizes. */
export interface RuleChange extends Effect {
  what: 'range' | 'length' | 'size' | 'multiple' | 'pattern' | 'format' | 'uniqueness';
  before: string | null;
  after: string | null;
}

interface Bound {
  value: number;
  isExclusive: boolean;
}

/** The keywords of each type's limits, with the name of the limit. */
const limits = {
  number: { what: 'range', lower: 'minimum', upper: 'maximum' },
  string: { what: 'length', lower: 'minLength', upper: 'maxLength' },
  array: { what: 'size', lower: 'minItems', upper: 'maxItems' },
  object: { what: 'size', lower: 'minProperties', upper: 'maxProperties' },
} as const;

/** Compares the rules of two alternatives of one type for the value itself, not for its parts. */
export function compareScalarRules(before: Alternative, after: Alternative): RuleChange[] {
  const { type } = before;
  if (type === 'null' || type === 'boolean') return [];
  const { what } = limits[type];
  const [from, to] = [readRange(before), readRange(after)];
  const lower = compareBounds(from.lower, to.lower, 1);
  const upper = compareBounds(from.upper, to.upper, -1);
  const narrows: Certainty = lower > 0 || upper > 0 ? 'yes' : 'no';
  const widens: Certainty = lower < 0 || upper < 0 ? 'yes' : 'no';
  const [textBefore, textAfter] = [printRange(from), printRange(to)];
  const range: RuleChange[] =
    narrows === 'no' && widens === 'no' ? [] : [{ what, narrows, widens, before: textBefore, after: textAfter }];
  return [
    ...range,
    ...(type === 'number' ? compareMultiples(before, after) : []),
    ...(type === 'string' ? [...comparePatterns(before, after), ...compareFormats(before, after)] : []),
    ...(type === 'array' ? compareUniqueness(before, after) : []),
  ];
}

interface Range {
  lower: Bound | null;
  upper: Bound | null;
}

function readRange(alternative: Alternative): Range {
  const { type, rules } = alternative;
  if (type === 'null' || type === 'boolean') return { lower: null, upper: null };
  const names = limits[type];
  const read = (keyword: string): Bound | null => {
    const value = rules[keyword];
    return typeof value === 'number' ? { value, isExclusive: false } : null;
  };
  const readExclusive = (keyword: string): Bound | null => {
    const found = type === 'number' ? read(keyword) : null;
    return found === null ? null : { ...found, isExclusive: true };
  };
  const lowest: Bound = { value: 0, isExclusive: false };
  const [lower, upper] = [
    tighter(read(names.lower), readExclusive('exclusiveMinimum'), 1),
    tighter(read(names.upper), readExclusive('exclusiveMaximum'), -1),
  ];
  // A size is never negative.
  if (type !== 'number') return { lower: tighter(lower, lowest, 1), upper };
  return isWhole(alternative) ? { lower: roundBound(lower, 1), upper: roundBound(upper, -1) } : { lower, upper };
}

/** Returns the stricter of two limits; `sign` is 1 for lower and -1 for upper limits. */
function tighter(a: Bound | null, b: Bound | null, sign: 1 | -1): Bound | null {
  if (a === null || b === null) return a ?? b;
  return compareBounds(a, b, sign) >= 0 ? b : a;
}

/** Returns a positive number if `to` refuses more than `from`, a negative one if it refuses less. */
function compareBounds(from: Bound | null, to: Bound | null, sign: 1 | -1): number {
  if (from === null || to === null) return Number(to !== null) - Number(from !== null);
  if (from.value !== to.value) return (to.value - from.value) * sign;
  return Number(to.isExclusive) - Number(from.isExclusive);
}

/** Finds the first or last integer of a range of integers. */
function roundBound(bound: Bound | null, sign: 1 | -1): Bound | null {
  if (bound === null || !Number.isSafeInteger(Math.trunc(bound.value))) return bound;
  const rounded = sign === 1 ? Math.ceil(bound.value) : Math.floor(bound.value);
  const value = bound.isExclusive && rounded === bound.value ? rounded + sign : rounded;
  return { value, isExclusive: false };
}

function printRange({ lower, upper }: Range): string {
  const from = lower === null ? '' : `${lower.isExclusive ? 'above' : 'from'} ${lower.value}`;
  const to = upper === null ? '' : `${upper.isExclusive ? 'below' : 'to'} ${upper.value}`;
  return `${from} ${to}`.trim() || 'any';
}

/** Checks if the alternative allows only integers. */
export function isWhole({ isInteger, rules: { multipleOf } }: Alternative): boolean {
  return isInteger || (typeof multipleOf === 'number' && Number.isInteger(multipleOf));
}

/** Ignores 1: multiples of 1 are integers, which the type already expresses. */
function readMultiple({ rules: { multipleOf } }: Alternative): number | null {
  return typeof multipleOf === 'number' && multipleOf > 0 && multipleOf !== 1 ? multipleOf : null;
}

function compareMultiples(before: Alternative, after: Alternative): RuleChange[] {
  const [from, to] = [readMultiple(before), readMultiple(after)];
  if (from === to) return [];
  const shared = {
    what: 'multiple' as const,
    before: from === null ? null : String(from),
    after: to === null ? null : String(to),
  };
  // Multiples of fractions depend on rounding.
  const areWhole = [from, to].every((each) => each === null || Number.isSafeInteger(each));
  if (!areWhole) {
    if (from === null) return [{ ...shared, narrows: 'maybe', widens: 'no' }];
    return [{ ...shared, narrows: to === null ? 'no' : 'maybe', widens: 'maybe' }];
  }
  if (from === null) return [{ ...shared, narrows: 'yes', widens: 'no' }];
  if (to === null) return [{ ...shared, narrows: 'no', widens: 'yes' }];
  return [{ ...shared, narrows: from % to === 0 ? 'no' : 'yes', widens: to % from === 0 ? 'no' : 'yes' }];
}

/** Short texts of several kinds; nearly every pattern refuses one of them. */
const probes = ['', 'a', '0', ' ', 'A', '-', 'é', 'aa', '00'];

function comparePatterns(before: Alternative, after: Alternative): RuleChange[] {
  const [from, to] = [before.rules['pattern'] ?? null, after.rules['pattern'] ?? null];
  if (from === to) return [];
  const shared = { what: 'pattern' as const, before: printText(from), after: printText(to) };
  if (from === null) return [{ ...shared, narrows: refusesProbe(to, before), widens: 'no' }];
  if (to === null) return [{ ...shared, narrows: 'no', widens: refusesProbe(from, after) }];
  return [{ ...shared, ...unknownEffect }];
}

/**
 * Checks if the pattern refuses a text that an alternative without a pattern allows. Runs in linear time, because a server wrote the
 * pattern.
 */
function refusesProbe(pattern: unknown, open: Alternative): Certainty {
  if (typeof pattern !== 'string' || open.rules['format'] !== undefined) return 'maybe';
  try {
    const compiled = RE2JS.compile(pattern);
    const refused = probes.filter((text) => !compiled.matcher(text).find());
    return refused.some((text) => acceptsValue(open, text) === 'yes') ? 'yes' : 'maybe';
  } catch {
    return 'maybe';
  }
}

/** The schema does not say if a server checks formats (JSON Schema 2020-12, Validation, section 7), so that the effect is `maybe`. */
function compareFormats(before: Alternative, after: Alternative): RuleChange[] {
  const [from, to] = [before.rules['format'] ?? null, after.rules['format'] ?? null];
  if (from === to) return [];
  const shared = { what: 'format' as const, before: printText(from), after: printText(to) };
  return [{ ...shared, narrows: to === null ? 'no' : 'maybe', widens: from === null ? 'no' : 'maybe' }];
}

function compareUniqueness(before: Alternative, after: Alternative): RuleChange[] {
  const [from, to] = [before, after].map(({ rules }) => rules['uniqueItems'] === true);
  if (from === to) return [];
  const effect: Effect = { ...noEffect, [to === true ? 'narrows' : 'widens']: 'yes' };
  return [{ what: 'uniqueness', ...effect, before: String(from), after: String(to) }];
}

function printText(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const sizeRules: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
]);

/** Checks if an alternative allows a value of its type. */
export function acceptsValue(alternative: Alternative, value: unknown): Certainty {
  const { values, rules, isInteger } = alternative;
  if (values !== null && !hasValue(values, value)) return 'no';
  if (isInteger && !Number.isInteger(value)) return 'no';
  const { lower, upper } = readRange(alternative);
  const size = measure(value);
  if (size !== null) {
    if (lower !== null && (size < lower.value || (lower.isExclusive && size === lower.value))) return 'no';
    if (upper !== null && (size > upper.value || (upper.isExclusive && size === upper.value))) return 'no';
  }
  const { multipleOf } = rules;
  if (typeof multipleOf === 'number' && typeof value === 'number') {
    // Multiples of fractions and of large numbers depend on rounding.
    if (!Number.isSafeInteger(multipleOf) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'maybe';
    if (value % multipleOf !== 0) return 'no';
  }
  return Object.keys(rules).every((rule) => sizeRules.has(rule)) ? 'yes' : 'maybe';
}

/** Measures the size that the limits of the value's type count; null if only other rules apply. */
function measure(value: unknown): number | null {
  if (typeof value === 'number') return value;
  // JSON Schema counts code points.
  return typeof value === 'string' ? Array.from(value).length : null;
}
