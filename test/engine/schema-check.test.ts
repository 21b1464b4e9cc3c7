import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/engine/schema-check.ts';

const total = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };

describe('checkSchema', () => {
  it('accepts a value that fits', async () => {
    expect(await checkSchema(total, { total: 5 })).toEqual({ kind: 'valid' });
  });

  it.each([
    [total, { total: '5' }, '/total must be number'],
    [total, {}, "it must have required property 'total'"],
    [
      { ...total, additionalProperties: false },
      { total: 5, extra: 1 },
      'it must NOT have additional properties: "extra"',
    ],
    [false, 1, 'it boolean schema is false'],
    [{ prefixItems: [{ type: 'string' }] }, [1], '/0 must be string'],
    [{ unevaluatedProperties: false }, { a: 1 }, 'it must NOT have unevaluated properties'],
  ])('names what of %j does not fit', async (schema, value, mismatch) => {
    expect(await checkSchema(schema, value)).toEqual({ kind: 'invalid', mismatches: [mismatch] });
  });

  it('reads a schema that declares draft-07 as such', async () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect(await checkSchema(schema, [1])).toEqual({ kind: 'invalid', mismatches: ['/0 must be string'] });
  });

  it.each([
    ['an unknown dialect', { $schema: 'http://json-schema.org/draft-03/schema#' }],
    ['a schema that is none', { type: 'number?' }],
    ['a reference out of the document', { $ref: 'http://127.0.0.1:1/schema.json' }],
    ['a pattern that needs backtracking', { type: 'string', pattern: '(?=a)b' }],
  ])('cannot use %s', async (_, schema) => {
    expect(await checkSchema(schema, 'x')).toMatchObject({ kind: 'unusable' });
  });

  it('names everything that does not fit, each once', async () => {
    const schema = { type: 'object', required: ['a', 'b'], properties: { c: { type: 'number', minimum: 1 } } };
    expect(await checkSchema(schema, { c: 0 })).toEqual({
      kind: 'invalid',
      mismatches: ["it must have required property 'a'", "it must have required property 'b'", '/c must be >= 1'],
    });
  });

  it('names the first thing alone of a value that is large', async () => {
    const value = Array.from({ length: 100_000 }, () => 'x');
    expect(await checkSchema({ items: { type: 'number' } }, value)).toEqual({
      kind: 'invalid',
      mismatches: ['/0 must be number'],
    });
  });

  it('follows references within the schema', async () => {
    const tree = { properties: { child: { $ref: '#' } }, additionalProperties: false };
    expect(await checkSchema(tree, { child: { child: { leaf: 1 } } })).toMatchObject({ kind: 'invalid' });
    const schema = { $defs: { positive: { exclusiveMinimum: 0 } }, $ref: '#/$defs/positive' };
    expect(await checkSchema(schema, 1)).toEqual({ kind: 'valid' });
    expect(await checkSchema(schema, 0)).toEqual({ kind: 'invalid', mismatches: ['it must be > 0'] });
  });

  it('ignores keywords and formats that it does not know', async () => {
    expect(await checkSchema({ type: 'string', format: 'postcode', 'x-note': 1 }, 'x')).toEqual({ kind: 'valid' });
  });

  it('keeps two schemas apart that claim the same $id', async () => {
    const schemas = ['string', 'number'].map((type) => ({ $id: 'https://example.com/same', type }));
    const checks = await Promise.all(schemas.map((schema) => checkSchema(schema, 'x')));
    expect(checks.map(({ kind }) => kind)).toEqual(['valid', 'invalid']);
  });

  it('still judges by a schema after many others', async () => {
    for (let minimum = 0; minimum < 250; minimum += 1) await checkSchema({ minimum }, 1);
    expect(await checkSchema({ minimum: 0 }, 1)).toEqual({ kind: 'valid' });
    expect(await checkSchema({ minimum: 249 }, 1)).toEqual({ kind: 'invalid', mismatches: ['it must be >= 249'] });
  });

  it('keeps the patterns of one schema apart', async () => {
    const schema = {
      items: [{ pattern: '^a$' }, { pattern: '^b$' }],
      $schema: 'http://json-schema.org/draft-07/schema#',
    };
    expect(await checkSchema(schema, ['a', 'b'])).toEqual({ kind: 'valid' });
    expect(await checkSchema(schema, ['a', 'a'])).toEqual({
      kind: 'invalid',
      mismatches: ['/1 must match pattern "^b$"'],
    });
  });

  it('searches a pattern in linear time', async () => {
    const schema = { pattern: '(a+)+$' };
    expect(await checkSchema(schema, `${'a'.repeat(10_000)}!`)).toEqual({
      kind: 'invalid',
      mismatches: ['it must match pattern "(a+)+$"'],
    });
  });
});
