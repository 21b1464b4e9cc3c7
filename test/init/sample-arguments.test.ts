import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/engine/schema-check.ts';
import { sampleArguments } from '../../src/init/sample-arguments.ts';
import type { JsonObject } from '../../src/base/json.ts';

/** Samples one required property. */
function sample(schema: unknown, rest: JsonObject = {}) {
  return sampleArguments({ type: 'object', properties: { value: schema }, required: ['value'], ...rest });
}

describe('sampled arguments', () => {
  it.each([
    ['its constant', { const: 7, type: 'integer' }, 7],
    ['its default', { type: 'string', default: 'main', enum: ['dev', 'main'] }, 'main'],
    ['its first example', { type: 'string', examples: ['a/b', 'c/d'], pattern: '^\\w/\\w$' }, 'a/b'],
    ['the first member of an enum', { enum: ['asc', 'desc'] }, 'asc'],
    ['no null of an enum that has more', { enum: [null, 'asc'] }, 'asc'],
    ['a text', { type: 'string' }, 'example'],
    [
      'what the description quotes as an example',
      { type: 'string', description: "IANA name (e.g., 'Asia/Tokyo', 'UTC')" },
      'Asia/Tokyo',
    ],
    ['no example that is too long', { type: 'string', maxLength: 7, description: 'Such as "Asia/Tokyo"' }, 'example'],
    ['a text of a format', { type: 'string', format: 'date' }, '2024-01-01'],
    ['a text that is long enough', { type: 'string', minLength: 9 }, 'exampleex'],
    ['a text that is short enough', { type: 'string', maxLength: 2 }, 'ex'],
    ['an integer from a minimum', { type: 'integer', minimum: 10 }, 10],
    ['an integer above a minimum', { type: 'integer', exclusiveMinimum: 10 }, 11],
    ['an integer below zero', { type: 'integer', maximum: -3 }, -3],
    ['a multiple', { type: 'integer', multipleOf: 5, minimum: 7 }, 10],
    ['a number between limits', { type: 'number', minimum: 0.1, maximum: 0.3 }, 0.1],
    ['false', { type: 'boolean' }, false],
    ['a type that is not null', { type: ['null', 'string'] }, 'example'],
    ['an alternative that is not null', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 1],
    ['one item of a list', { type: 'array', items: { type: 'integer' } }, [1]],
    ['an empty list of items without a sample', { type: 'array', items: { type: 'string', pattern: 'x' } }, []],
    ['both items of a pair', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }, ['example', 1]],
    ['only required members', { type: 'object', properties: { a: {}, b: {} }, required: ['b'] }, { b: 'example' }],
  ])('take %s', (_what, schema, value) => {
    expect(sample(schema)).toEqual({ arguments: { value } });
  });

  it('follow references and join the parts of a schema', () => {
    const $defs = { Name: { type: 'string', default: 'Ada' }, Person: { $ref: '#/$defs/Named' }, Named: {} };
    expect(sample({ $ref: '#/$defs/Name' }, { $defs })).toEqual({ arguments: { value: 'Ada' } });
    const parts = [
      { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
      { properties: { b: { const: 2 } }, required: ['b'] },
    ];
    expect(sample({ allOf: parts })).toEqual({ arguments: { value: { a: 1, b: 2 } } });
  });

  it('are none where no property is required', () => {
    expect(sampleArguments({ type: 'object', properties: { a: { type: 'string' } } })).toEqual({ arguments: {} });
  });

  it.each([
    ['a pattern', { type: 'string', pattern: '^[a-f]{40}$' }, '`value` has a `pattern` and no example'],
    ['limits that exclude each other', { type: 'integer', minimum: 3, maximum: 2 }, 'no number for `value`'],
    ['a reference to nowhere', { $ref: '#/$defs/Gone' }, 'a `$ref` of the schema of `value` leads nowhere'],
    ['a reference outside', { $ref: 'https://example.com/a.json' }, 'leads nowhere'],
    ['different items', { type: 'array', minItems: 2, uniqueItems: true, items: {} }, '2 different items in `value`'],
    [
      'a part of a member',
      { type: 'object', required: ['key'], properties: { key: { type: 'string', pattern: 'x' } } },
      '`key` of `value`',
    ],
    ['no value', false, 'allows no value'],
  ])('are refused with the reason for %s', (_what, schema, reason) => {
    expect(sample(schema)).toEqual({ reason: expect.stringContaining(reason) });
  });

  it('end for a schema that contains itself', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['next'] };
    expect(sample({ $ref: '#/$defs/Node' }, { $defs: { Node: node } })).toEqual({
      reason: expect.stringContaining('nested too deeply'),
    });
  });

  it('match the schema that they are made of, and are the same every time', async () => {
    const limits = fc.record({ minimum: fc.integer({ min: -9, max: 9 }), maximum: fc.integer({ min: 10, max: 20 }) });
    const leaf = fc.oneof(
      fc.constantFrom({ type: 'string' }, { type: 'boolean' }, { type: 'null' }, { type: 'string', format: 'uri' }),
      fc.constantFrom({ type: 'string', format: 'uuid' }, { type: 'string', format: 'date-time' }, { enum: ['a', 1] }),
      limits.map((range) => ({ type: 'integer', ...range })),
      limits.map((range) => ({ type: 'number', exclusiveMinimum: range.minimum, maximum: range.maximum })),
      fc.integer({ min: 0, max: 20 }).map((minLength) => ({ type: 'string', minLength, maxLength: minLength + 1 })),
    );
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        leaf,
        fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.integer({ min: 0, max: 3 }) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), tie('schema'), { maxKeys: 3 }).map((properties) => ({
          type: 'object',
          properties,
          required: Object.keys(properties).slice(1),
          additionalProperties: false,
        })),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(schema, async (value) => {
        const root = { type: 'object', properties: { value }, required: ['value'] };
        const sampled = sampleArguments(root);
        expect(sampleArguments(root)).toEqual(sampled);
        if ('reason' in sampled) throw new Error(sampled.reason);
        expect(await checkSchema(root, sampled.arguments, { checksFormats: true })).toEqual({ kind: 'valid' });
      }),
      { numRuns: 150 },
    );
  });
});
