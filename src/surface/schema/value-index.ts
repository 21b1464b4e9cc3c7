import { printCanonicalJson } from '../../base/json.ts';

const indexes = new WeakMap<readonly unknown[], ReadonlySet<string>>();

/** Indexes the values of a list by their canonical texts. Each list is read once, since an enum can have a hundred thousand values. */
export function indexValues(values: readonly unknown[]): ReadonlySet<string> {
  const index = indexes.get(values) ?? new Set(values.map(printCanonicalJson));
  indexes.set(values, index);
  return index;
}

/** Checks if a list has a value. */
export function hasValue(values: readonly unknown[], value: unknown): boolean {
  return indexValues(values).has(printCanonicalJson(value));
}
