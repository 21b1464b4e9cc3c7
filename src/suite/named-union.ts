import { z } from 'zod';
import { isRecord } from '../base/json.ts';
import { readSignature, unwrap } from './zod-unions.ts';

type Alternatives = readonly z.ZodType[];

/** Finds the alternative that an object names: by a literal such as its `type`, or by its first key; undefined if it names none. */
type FindNamed = (value: Record<string, unknown>) => z.ZodType | undefined;

/**
 * Parses like a union, but tries the alternative first that the value names. A union of zod tries one after the other, and an assertion has
 * more than a hundred. A value that this alternative refuses is tried with each, so that its issues are those of a union.
 */
const NamedUnion = z.core.$constructor<z.ZodUnion<Alternatives>>('NamedUnion', (union, definition) => {
  z.ZodUnion.init(union, definition);
  const parseInOrder = union._zod.parse.bind(union._zod);
  let findNamed: FindNamed | null = null;
  union._zod.parse = (payload, context) => {
    // Waits for the first value, because an alternative may refer to a schema that is defined later.
    findNamed ??= indexAlternatives(union.options);
    const named = isRecord(payload.value) ? findNamed(payload.value) : undefined;
    const result = named?._zod.run({ value: payload.value, issues: [] }, context);
    if (result === undefined || result instanceof Promise || result.issues.length > 0) {
      return parseInOrder(payload, context);
    }
    return result;
  };
});

/** Creates a union whose alternatives for objects each have a name of their own: the literal or the name of their first key. */
export function namedUnion<const T extends Alternatives>(alternatives: T): z.ZodUnion<T> {
  return z.custom<z.ZodUnion<T>>().parse(new NamedUnion({ type: 'union', options: alternatives }));
}

function indexAlternatives(alternatives: Alternatives): FindNamed {
  const byLiteral = new Map<string, Map<unknown, z.ZodType>>();
  const byKey = new Map<string, z.ZodType>();
  for (const alternative of alternatives.toReversed()) {
    for (const { key, literals } of readSignature(unwrap(alternative))) {
      if (literals === undefined) {
        byKey.set(key, alternative);
        continue;
      }
      const words = byLiteral.get(key) ?? new Map<unknown, z.ZodType>();
      byLiteral.set(key, words);
      for (const literal of literals) words.set(literal, alternative);
    }
  }
  return (value) => {
    for (const [key, words] of byLiteral) {
      if (Object.hasOwn(value, key)) return words.get(value[key]);
    }
    const key = Object.keys(value).find((name) => byKey.has(name));
    return key === undefined ? undefined : byKey.get(key);
  };
}
