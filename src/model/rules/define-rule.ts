import { z } from 'zod';
import { firstOfEach } from '../../base/lists.ts';
import { type Sourced, sourced } from '../source.ts';

/**
 * Who may set a rule. `suites`: evals files, and policy files for one suite or for all suites. `suite`: the same, but not for all suites.
 * `gate`: the top level of policy files, for the gate as a whole.
 */
type RuleScope = 'suites' | 'suite' | 'gate';

/** Formats the location of a part of a rule's value: that of its key, or that of the value itself. */
export type Locate = (this: void, inner: readonly PropertyKey[], part: 'key' | 'value') => string;

/** A requirement of one policy that another policy lowers. */
export interface Lowered {
  kind: 'minima' | 'quarantine';
  /** A noun for the lowered requirement: `the minimum pass rate`. */
  what: string;
  before: string;
  after: string;
  /** The source of the stricter requirement. */
  source: string;
}

/** The same value before and after a change. */
export type Pair<T> = readonly [before: T, after: T];

/** A rule without its type parameters, so that one list can hold all rules. */
export interface Rule {
  /** The key in a file; a dot separates a section from the key in it. */
  path: string;
  /** The key in layers and reports. */
  stored: string;
  scope: RuleScope;
  /** The schema of the key in a file. */
  file: z.ZodType;
  /** The schema of the rule in reports. */
  report: z.ZodType;
  /** The part of a layer that does not set the rule. */
  unset: unknown;
  /** The value of the rule if no layer sets it. */
  fallback: unknown;
  docs: string | undefined;
  build(this: void, written: unknown, locate: Locate): unknown;
  /** Merges the parts of several layers, the strongest first. */
  merge(this: void, parts: readonly unknown[]): unknown;
  listLowered(this: void, parts: Pair<unknown>, layers: Pair<unknown>): Lowered[];
}

/** A rule with the types of its names and values. */
export interface TypedRule<Path, Stored, Scope, Written extends z.ZodType, Part, Complete> extends Rule {
  path: Path & string;
  stored: Stored & string;
  scope: Scope & RuleScope;
  file: z.ZodExactOptional<Written>;
  report: z.ZodType<Complete>;
  unset: Part;
  fallback: Complete;
}

/** The properties of a rule that do not depend on the type of its value. */
interface RuleFacts<Stored, Scope, Written> {
  /** The key in layers and reports, if it is not the one in a file. */
  stored?: Stored;
  /** By default `suites`. */
  scope?: Scope;
  /** The schema of the value in a file. */
  written: Written;
  /** Describes the key in a file, unless `written` does. */
  description?: string;
  examples?: unknown[];
  /** Describes the rule in reports. */
  reported?: string;
  /** What follows the key in the list of all rules in docs/policy.md: an example, and after `#` a comment. */
  docs?: string;
}

/** How two values of a rule compare, and how a message names them. */
interface Strictness<Value> {
  /** The greater value is stricter, or the smaller one, or the one that comes first in a list. */
  stricter: 'greater' | 'smaller' | readonly Value[];
  /** A noun for the rule, if messages do not name it by its key. */
  what?: string;
  kind?: Lowered['kind'];
  format?(this: void, value: Value): string;
}

/** The complete definition of a rule with one value. The first layer that sets it decides. */
interface ValueDefinition<Stored, Scope, Written, Value, Default, Nullable> extends RuleFacts<Stored, Scope, Written> {
  /** The schema of the value in reports, if it is not `written`. */
  value?: z.ZodType<Value>;
  /** The value if no layer sets the rule; null if the rule then does not hold. */
  default: Default;
  /** True if reports may have null for the rule, which then does not hold, although there is a default. */
  isNullable?: Nullable;
  /** True if reports may lack the rule, which then is null. */
  isOptional?: true;
  /** Absent if changes may lower the rule. */
  strictness?: Strictness<Value> & {
    /** The value to compare if a layer does not set the rule and there is no default. */
    whenUnset?: Value;
    /** Checks if the rule has an effect with the other rules of the later layer. By default it has. */
    matters?(this: void, after: unknown): boolean;
  };
}

/** Defines a rule with one value. Every table of rules derives from this definition. */
export function defineRule<
  const Path extends string,
  Written extends z.ZodType,
  const Default extends z.output<Written> | null,
  const Scope extends RuleScope = 'suites',
  const Stored extends string = Path,
  const Nullable extends boolean = false,
>(path: Path, definition: ValueDefinition<Stored, Scope, Written, NoInfer<z.output<Written>>, Default, Nullable>) {
  type Value = z.output<Written>;
  type Complete = [Default, Nullable] extends [{}, false] ? Sourced<Value> : Sourced<Value> | null;
  const { written, value = written, default: byDefault, isNullable, isOptional, strictness } = definition;
  const fallback: Sourced<Value> | null = byDefault === null ? null : { value: byDefault, source: 'default' };
  const compared = strictness?.whenUnset === undefined ? fallback : { value: strictness.whenUnset, source: 'default' };
  const report = sourced<z.ZodType>(value);
  const optional = isOptional === true ? report.nullable().default(null) : report.nullable();
  return createRule<Path, Stored, Scope, Written, Sourced<Value> | null, Complete>(path, definition, {
    report: z.custom<z.ZodType<Complete>>().parse(byDefault === null || isNullable === true ? optional : report),
    unset: null,
    fallback: z.custom<Complete>().parse(fallback),
    build: (value: Value, locate) => ({ value, source: locate([], 'key') }),
    merge: (parts) => parts.find((part) => part !== null) ?? null,
    listLowered: ([before, after]: Pair<Sourced<Value> | null>, [, layer]) =>
      strictness === undefined || strictness.matters?.(layer) === false
        ? []
        : compareValues({ what: `\`${path}\``, ...strictness }, [before ?? compared, after ?? compared]),
  });
}

/** The complete definition of a rule that is a list. The layers add up; of several items with one name, the first counts. */
interface ListDefinition<Stored, Scope, Written extends z.ZodType, Item> extends RuleFacts<Stored, Scope, Written> {
  /** The schema of an item in layers and reports. */
  item: z.ZodType<Item>;
  nameOf(this: void, item: NoInfer<Item>): string;
  build(this: void, written: z.output<Written>, locate: Locate): Array<NoInfer<Item>>;
  /** Absent if changes may lower the rule. */
  listLowered?(this: void, parts: Pair<ReadonlyArray<NoInfer<Item>>>, layers: Pair<unknown>): Lowered[];
}

/** Defines a rule that is a list. */
export function defineListRule<
  const Path extends string,
  Written extends z.ZodType,
  Item,
  const Scope extends RuleScope = 'suites',
  const Stored extends string = Path,
>(path: Path, definition: ListDefinition<Stored, Scope, Written, Item>) {
  const { item, nameOf, build, listLowered = () => [] } = definition;
  return createRule<Path, Stored, Scope, Written, Item[], Item[]>(path, definition, {
    report: z.array(item),
    unset: [],
    fallback: [],
    build,
    merge: (parts: ReadonlyArray<readonly Item[]>) => firstOfEach(parts.flat(), nameOf),
    listLowered,
  });
}

function createRule<Path extends string, Stored, Scope, Written extends z.ZodType, Part, Complete>(
  path: Path,
  { stored, scope, written, description, examples, reported, docs }: RuleFacts<Stored, Scope, Written>,
  {
    report,
    ...rule
  }: Omit<TypedRule<Path, Stored, Scope, Written, Part, Complete>, 'path' | 'stored' | 'scope' | 'file' | 'docs'>,
): TypedRule<Path, Stored, Scope, Written, Part, Complete> {
  const meta = { ...(description !== undefined && { description }), ...(examples !== undefined && { examples }) };
  return {
    ...rule,
    report: reported === undefined ? report : report.describe(reported),
    path,
    stored: z.custom<Stored & string>().parse(stored ?? path),
    scope: z.custom<Scope & RuleScope>().parse(scope ?? 'suites'),
    file: Object.keys(meta).length === 0 ? written.exactOptional() : written.exactOptional().meta(meta),
    docs,
  };
}

/** Compares two values of a rule; null stands for none, which no change can lower. */
export function compareValues<Value>(
  { what, stricter, kind = 'minima', format = String }: Strictness<Value> & { what: string },
  [before, after]: Pair<Sourced<Value> | null>,
): Lowered[] {
  const rank = (value: Value): number => {
    if (typeof stricter !== 'string') return stricter.indexOf(value);
    return stricter === 'smaller' ? Number(value) : -Number(value);
  };
  if (before === null || (after !== null && rank(after.value) <= rank(before.value))) return [];
  const { value, source } = before;
  return [{ kind, what, before: format(value), after: after === null ? 'none' : format(after.value), source }];
}
