import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/engine/schema-check.ts';
import { listFormats } from '../../src/engine/schema-validator.ts';
import { checkedFormats, findSchemaProblems } from '../../src/suite/schema-problems.ts';

function list(schema: unknown): string[] {
  return findSchemaProblems(schema).map(({ path, message }) => `/${path.join('/')}: ${message}`);
}

const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#' };

describe('findSchemaProblems', () => {
  it.each([
    [true],
    [{}],
    [{ type: ['string', 'null'], minLength: 1, pattern: '^a', format: 'date-time', title: 't', 'x-note': 1 }],
    [
      {
        $defs: { a: { $anchor: 'b' } },
        anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#b' }],
        properties: { c: { $ref: '#' } },
      },
    ],
    [{ properties: { type: { const: null }, requried: false }, required: ['type'], default: { odd: 1 } }],
    [{ $defs: { 'a/b': {} }, $ref: '#/$defs/a~1b' }],
    [{ ...draft07, definitions: { a: {} }, items: [{ $ref: '#/definitions/a' }], additionalItems: false }],
    [{ $id: 'https://example.com/a', $defs: { b: { $id: 'b' } }, $ref: 'b' }],
  ])('finds nothing wrong with %j', async (schema) => {
    expect(list(schema)).toEqual([]);
    expect((await checkSchema(schema, 'x')).kind).not.toBe('unusable');
  });

  it.each([
    [{ requried: ['a'] }, '/requried: Unknown keyword `requried` of JSON Schema 2020-12; did you mean `required`?'],
    [{ zzzzzzzzzzzz: 1 }, '/zzzzzzzzzzzz: Unknown keyword `zzzzzzzzzzzz` of JSON Schema 2020-12'],
    [{ type: 'objekt' }, '/type: `type` cannot be "objekt"; did you mean `object`?'],
    [
      { type: ['string', 5] },
      '/type/1: `type` cannot be 5; write string, number, integer, boolean, object, array, null',
    ],
    [{ type: [] }, '/type: `type` must name at least one type, and each once'],
    [{ format: 'date-tme' }, '/format: The format "date-tme" is not checked; did you mean `date-time`?'],
    [{ format: 'zip code of Oslo' }, '/format: The format "zip code of Oslo" is not checked; write it as a `pattern`'],
    [
      { properties: { a: { pattern: '(?=x)' } } },
      '/properties/a/pattern: The pattern "(?=x)" is no RE2 regular expression: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    [{ required: 'a' }, '/required: `required` must be a list of names, each once, not "a"'],
    [{ required: ['a', 'a'] }, '/required: `required` must be a list of names, each once, not a list'],
    [{ minimum: '5' }, '/minimum: `minimum` must be a number, not "5"'],
    [{ minLength: -1 }, '/minLength: `minLength` must be a whole number from 0, not -1'],
    [{ items: [{}] }, '/items: `items` must be a schema: a mapping, or true or false, not a list'],
    [{ enum: [] }, '/enum: `enum` must be a list of at least one value, not a list'],
    [{ allOf: {} }, '/allOf: `allOf` must be a list of at least one schema, not a mapping'],
    [{ properties: [] }, '/properties: `properties` must be a mapping, not a list'],
    [
      { $ref: 'https://example.com/other' },
      '/$ref: The reference "https://example.com/other" leads nowhere in this schema; other documents are never fetched',
    ],
    [
      { $ref: '#/$defs/a', $defs: { b: {} } },
      '/$ref: The reference "#/$defs/a" leads nowhere in this schema; other documents are never fetched',
    ],
    [
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      '/$schema: `$schema` must be https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#, at the root alone, not "http://json-schema.org/draft-04/schema#"',
    ],
    [{ ...draft07, prefixItems: [{}] }, '/prefixItems: Unknown keyword `prefixItems` of JSON Schema draft-07'],
    [5, '/: The schema must be a schema: a mapping, or true or false, not 5'],
  ])('explains what is wrong with %j', (schema, problem) => {
    expect(list(schema)).toEqual([problem]);
  });

  it('finds all mistakes, up to a bound, and survives any depth', () => {
    expect(list({ type: 'objekt', properties: { a: { requried: [] }, b: { format: 'e-mail' } } })).toHaveLength(3);
    expect(list(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`word${index}`, 1])))).toHaveLength(50);
    const deep: unknown = JSON.parse(`${'{"not":'.repeat(20_000)}true${'}'.repeat(20_000)}`);
    expect(list(deep)).toEqual([expect.stringMatching(/: The schema is nested more than 64 levels deep$/)]);
  });

  it('lets nothing pass that the validator cannot compile or the meta-schema refuses', async () => {
    const words = fc.constantFrom('a', '#a', '#/$defs/a', 'string', 'object', 'objekt', 'email', '^x', '(?=x)');
    const { schema } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        words,
        fc.constantFrom(-1, 0, 1, 1.5, true, false, null),
        fc.array(tie('value'), { maxLength: 2 }),
        tie('schema'),
      ),
      schema: fc.dictionary(
        fc.constantFrom(
          ...'type enum required properties items prefixItems allOf not minimum maxLength pattern format $ref $defs'.split(
            ' ',
          ),
          ...'multipleOf uniqueItems dependentRequired patternProperties title $anchor const a'.split(' '),
        ),
        tie('value'),
        { maxKeys: 3 },
      ),
    }));
    const metaSchema = new Ajv2020({ strict: false, logger: false });
    let usable = 0;
    await fc.assert(
      fc.asyncProperty(schema, async (candidate) => {
        if (findSchemaProblems(candidate).length > 0) return;
        usable += 1;
        expect(metaSchema.validateSchema(candidate)).toBe(true);
        const check = await checkSchema(candidate, 'x', { checksFormats: true });
        expect(check.kind).not.toBe('unusable');
      }),
      { numRuns: 400 },
    );
    expect(usable).toBeGreaterThan(20);
  });
});

describe('the formats that are checked', () => {
  it('are all known to the validator', () => {
    expect(Object.keys(listFormats())).toEqual([...checkedFormats]);
  });

  it.each([
    ['date-time', '2026-01-31T10:00:00Z', '2026-13-31T10:00:00Z'],
    ['email', 'ada@example.com', 'ada'],
    ['hostname', 'example.com', '-example'],
    ['ipv4', '127.0.0.1', '256.0.0.1'],
    ['uri', 'https://example.com/', 'example'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
    ['duration', 'P1D', 'P'],
  ])('tell a good %s from a bad one', async (format, good, bad) => {
    const checks = [good, bad].map((value) => checkSchema({ format }, value, { checksFormats: true }));
    expect((await Promise.all(checks)).map(({ kind }) => kind)).toEqual(['valid', 'invalid']);
  });

  it.each(['email', 'uri', 'uri-reference', 'uri-template', 'hostname', 'url', 'ipv6', 'json-pointer'])(
    'end on a hostile text for %s',
    async (format) => {
      for (const text of [`a@${'a'.repeat(50_000)}!`, `${'a-'.repeat(50_000)}!`, `http://${'a@:'.repeat(30_000)} `]) {
        expect((await checkSchema({ format }, text, { checksFormats: true })).kind).not.toBe('unusable');
      }
    },
  );

  it('are annotations for a schema of the server', async () => {
    expect(await checkSchema({ format: 'date' }, 'no date')).toEqual({ kind: 'valid' });
  });
});
