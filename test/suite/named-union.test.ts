import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { namedUnion } from '../../src/suite/named-union.ts';

describe('namedUnion', () => {
  it.each([
    ['the literal of its type', { type: 'b', size: 1 }, ['b']],
    ['its first key', { short: 'x' }, ['short']],
    ['its first key, after another one', { note: 'n', short: 'x' }, ['short']],
  ])('tries only the alternative that a value names by %s', (_, value, tried) => {
    const { union, parsed } = createUnion();
    expect(union.parse(value)).toEqual(value);
    expect(parsed).toEqual(tried);
  });

  it.each([
    ['a text', 'bare'],
    ['an unknown text', 'bear'],
    ['an object that names nothing', { size: 1 }],
    ['a wrong field', { type: 'b', size: 'large' }],
    ['an unknown type', { type: 'c', size: 1 }],
    ['a name and a literal of another alternative', { short: 'x', type: 'a' }],
    ['nothing', null],
  ])('gives the result of a plain union for %s', (_, value) => {
    const { union } = createUnion();
    const plain = z.union(union.options).safeParse(value);
    const { success, data, error } = union.safeParse(value);
    expect({ success, data, issues: error?.issues }).toEqual({
      success: plain.success,
      data: plain.data,
      issues: plain.error?.issues,
    });
  });

  it('keeps its order of trying with a description and a check of its own', () => {
    const { union, parsed } = createUnion();
    const refined = union.meta({ title: 'thing' }).refine((value) => typeof value === 'object');
    expect(refined.safeParse({ type: 'b', size: 1 }).success).toBe(true);
    expect(parsed).toEqual(['b']);
    expect(refined.safeParse('bare').success).toBe(false);
  });
});

/** Creates a union whose alternatives for objects write down when they are tried. */
function createUnion() {
  const parsed: string[] = [];
  const traced = (name: string, schema: z.ZodType) =>
    z.preprocess((value) => {
      parsed.push(name);
      return value;
    }, schema);
  const union = namedUnion([
    z.enum(['bare']),
    z.strictObject({ type: z.literal('a'), size: traced('a', z.number()) }),
    z.strictObject({ type: z.literal('b'), size: traced('b', z.number()) }),
    z.strictObject({ short: traced('short', z.string()), note: z.string().optional() }),
  ]);
  return { union, parsed };
}
