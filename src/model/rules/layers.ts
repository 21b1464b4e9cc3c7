import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import type { Locate, Lowered, Rule } from './define-rule.ts';

/** A key of a file that holds several rules. */
export interface RuleSection {
  name: string;
  /** The id of the section in the JSON Schema, if it is defined once for several places. */
  id?: string;
  description: string;
  /** Describes the section in reports. */
  reported?: string;
  /** What follows the key in the list of all rules in docs/policy.md, if its rules have no lines of their own there. */
  docs?: string;
}

type Head<Name> = Name extends `${infer Section}.${string}` ? Section : Name extends string ? Name : never;
type Tail<Name> = Name extends `${string}.${infer Key}` ? Key : never;

/** The shape of the keys in a file that set rules, for `z.strictObject`. */
type FileShape<R extends Rule> = {
  [E in R as Head<E['path']>]: E['path'] extends `${infer Section}.${string}`
    ? z.ZodExactOptional<
        z.ZodObject<
          { [M in Extract<R, { path: `${Section}.${string}` }> as Tail<M['path']>]: M['file'] },
          z.core.$strict
        >
      >
    : E['file'];
};

type Stored<R extends Rule, Value extends 'unset' | 'fallback'> = {
  [E in R as Head<E['stored']>]: E['stored'] extends `${infer Section}.${string}`
    ? { [M in Extract<R, { stored: `${Section}.${string}` }> as Tail<M['stored']>]: M[Value] }
    : E[Value];
};

/** The rules that one source sets: a file, or the inputs. */
export type Layer<R extends Rule> = Stored<R, 'unset'>;

/** All rules, with the defaults filled in. */
export type CompleteRules<R extends Rule> = Stored<R, 'fallback'>;

/** Derives the schema of a file's keys from the rules that these keys set. */
export function createFileShape<R extends Rule>(
  rules: readonly R[],
  sections: readonly RuleSection[] = [],
): FileShape<R> {
  const shape = nest(
    rules.map(({ path, file }) => [path, file]),
    (name, keys) => {
      const { id, description } = findSection(sections, name);
      return z
        .strictObject(keys)
        .meta({ ...(id !== undefined && { id }), description })
        .exactOptional();
    },
  );
  return z.custom<FileShape<R>>().parse(shape);
}

/** The functions on layers of these rules. */
export interface Layers<R extends Rule> {
  /** The layer that sets no rule. */
  empty: Layer<R>;
  /** The schema of the complete rules in reports. */
  reportShape: { [Key in keyof CompleteRules<R>]: z.ZodType<CompleteRules<R>[Key]> };
  /** Builds the layer that a file sets. Each rule of it names its location. */
  build(this: void, written: object, locate: Locate): Layer<R>;
  /** Merges layers, the strongest first. */
  merge(this: void, layers: ReadonlyArray<Layer<R>>): Layer<R>;
  /** Fills in the rules that a layer does not set: from an earlier policy, else from the defaults. */
  complete(this: void, layer: Layer<R>, earlier?: Partial<CompleteRules<R>>): CompleteRules<R>;
  /** Lists the rules of a layer that a later version of it lowers. */
  listLowered(this: void, before: Layer<R>, after: Layer<R>): Lowered[];
}

/** Derives the functions on layers from the rules. */
export function createLayers<R extends Rule>(rules: readonly R[], sections: readonly RuleSection[] = []): Layers<R> {
  const collect = (read: (rule: R) => unknown) => nest(rules.map((rule) => [rule.stored, read(rule)]));
  const toLayer = (parts: unknown): Layer<R> => z.custom<Layer<R>>().parse(parts);
  const schemas = nest(
    rules.map(({ stored, report }) => [stored, report]),
    (name, keys) => {
      const { reported } = findSection(sections, name);
      return reported === undefined ? z.object(keys) : z.object(keys).describe(reported);
    },
  );
  return {
    empty: toLayer(collect(({ unset }) => unset)),
    reportShape: z.custom<Layers<R>['reportShape']>().parse(schemas),
    build: (written, locate) =>
      toLayer(
        collect(({ path, unset, build }) => {
          const value = readKey(written, path);
          const keys = path.split('.');
          return value === undefined ? unset : build(value, (inner, part) => locate([...keys, ...inner], part));
        }),
      ),
    merge: (layers) => toLayer(collect(({ stored, merge }) => merge(layers.map((layer) => readKey(layer, stored))))),
    complete: (layer, earlier) =>
      z.custom<CompleteRules<R>>().parse(
        collect(({ stored, fallback }) => {
          const part = readKey(layer, stored);
          const isUnset = part === null || (Array.isArray(part) && part.length === 0);
          return isUnset ? (readKey(earlier, stored) ?? fallback) : part;
        }),
      ),
    listLowered: (before, after) =>
      rules.flatMap(({ stored, listLowered }) =>
        listLowered([readKey(before, stored), readKey(after, stored)], [before, after]),
      ),
  };
}

function findSection(sections: readonly RuleSection[], name: string): RuleSection {
  const section = sections.find((each) => each.name === name);
  if (section === undefined) throw new TypeError(`No section of rules is called ${name}.`);
  return section;
}

function readKey(holder: unknown, name: string): unknown {
  return name.split('.').reduce((part, key) => (isRecord(part) ? part[key] : undefined), holder);
}

/** Turns names with dots into nested objects. */
function nest<Value>(
  entries: ReadonlyArray<readonly [name: string, value: Value]>,
  close: (section: string, keys: Record<string, Value>) => unknown = (_, keys) => keys,
): Record<string, unknown> {
  const bySection = Map.groupBy(entries, ([name]) => name.split('.')[0] ?? '');
  return Object.fromEntries(
    [...bySection].map(([section, members]) => {
      const keys = members.map(([name, value]) => [name.slice(section.length + 1), value] as const);
      const [first] = keys;
      return [section, first?.[0] === '' ? first[1] : close(section, Object.fromEntries(keys))];
    }),
  );
}
