import { describe, expect, it } from 'vitest';
import { forbidsField, listArgumentNames } from '../../src/mutate/tool-schema.ts';

const schema = {
  type: 'object',
  properties: {
    note: { $ref: '#/$defs/note' },
    notes: { type: 'array', items: { $ref: '#/$defs/note' } },
    counts: { type: 'object', additionalProperties: { type: 'object' } },
    either: { anyOf: [{ type: 'null' }, { type: 'object', unevaluatedProperties: false }] },
    free: { type: 'object', additionalProperties: true },
  },
  $defs: { note: { type: 'object', properties: { name: {} }, additionalProperties: false } },
};

describe('a further field', () => {
  it.each([[['note']], [['notes', 3]], [['counts']], [['either']]])('is forbidden at %j', (path) => {
    expect(forbidsField(schema, path)).toBe(true);
  });

  it.each([[[]], [['free']], [['counts', 'a']], [['unknown']], [['note', 'name']]])('is allowed at %j', (path) => {
    expect(forbidsField(schema, path)).toBe(false);
  });
});

describe('the arguments of a tool', () => {
  it('include those within others, and end in a circle', () => {
    expect(listArgumentNames(schema)).toEqual(['note', 'name', 'notes', 'counts', 'either', 'free']);
    const circle = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(listArgumentNames(circle)).toEqual(['next']);
    expect(listArgumentNames({ type: 'object' })).toEqual([]);
  });
});
