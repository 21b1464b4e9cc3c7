import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { renderRuleList } from '../../scripts/rule-list.ts';
import { defineListRule, defineRule } from '../../src/model/rules/define-rule.ts';
import { createFileShape, createLayers } from '../../src/model/rules/layers.ts';
import { gateRules, ruleSections, suiteRules } from '../../src/model/rules/registry.ts';
import { named } from '../../src/model/source.ts';

/** Rules of every shape, none of which the product has. */
const rules = [
  defineRule('onSlow', {
    written: z.enum(['fail', 'warn', 'pass']),
    description: 'What a slow case means.',
    default: 'warn',
    strictness: { stricter: ['fail', 'warn', 'pass'] },
    docs: 'warn # the default',
  }),
  defineRule('pauses.wait', {
    stored: 'pauses.waitMs',
    written: z.string().transform((written) => Number(written.replace('s', '')) * 1000),
    value: z.number(),
    description: 'A pause before each case.',
    reported: 'Before each case.',
    default: null,
    strictness: { stricter: 'smaller', what: 'the pause', format: (waitMs) => `${waitMs / 1000}s` },
    docs: '2s',
  }),
  defineRule('pauses.share', {
    stored: 'smallestShare',
    written: z.number(),
    default: null,
    isOptional: true,
    strictness: {
      stricter: 'greater',
      whenUnset: 0.5,
      matters: ({ onSlow }: { onSlow: unknown }) => onSlow !== null,
    },
    docs: '0.5',
  }),
  defineListRule('owners', {
    scope: 'suite',
    written: z.record(z.string(), z.string()),
    item: named(z.string()),
    nameOf: ({ name }) => name,
    build: (written, locate) =>
      Object.entries(written).map(([name, value]) => ({ name, value, source: locate([name], 'key') })),
    listLowered: ([before, after]) =>
      before
        .filter(({ name }) => after.every((each) => each.name !== name))
        .map(({ name, value, source }) => ({
          kind: 'minima',
          what: `the owner of ${name}`,
          before: value,
          after: 'none',
          source,
        })),
    docs: '{ sum: alice }',
  }),
  defineRule('pages', { scope: 'gate', written: z.int(), default: 3, docs: '3 # the default' }),
];
const sections = [
  { name: 'pauses', id: 'pauses', description: 'How long to wait.', reported: 'The pauses; null where there is none.' },
];

const file = z.strictObject(createFileShape(rules, sections));
const layers = createLayers(rules, sections);
const build = (written: z.input<typeof file>) =>
  layers.build(file.parse(written), (path, part) => `${part} ${path.join('.')}`);
const at = <T>(value: T, source: string) => ({ value, source });
const byDefault = <T>(value: T) => at(value, 'default');

const whole = build({ onSlow: 'fail', pauses: { wait: '2s', share: 0.9 }, owners: { sum: 'alice' }, pages: 1 });

describe('a rule that is defined', () => {
  it('has a key in files, alone or in a section', () => {
    expect(file.safeParse({ pauses: { wait: '1s' }, onSlow: 'pass' }).error).toBeUndefined();
    for (const written of [{ onSlow: 'never' }, { slow: 'fail' }, { pauses: { waitMs: 1 } }, { waitMs: 1 }]) {
      expect(file.safeParse(written).success).toBe(false);
    }
  });

  it('is in the JSON Schema for editors, with its description', () => {
    const { properties, $defs } = z.toJSONSchema(file, { io: 'input' });
    expect(properties).toMatchObject({
      onSlow: { description: 'What a slow case means.' },
      pauses: { $ref: '#/$defs/pauses' },
    });
    expect($defs).toMatchObject({
      pauses: { description: 'How long to wait.', properties: { wait: { description: 'A pause before each case.' } } },
    });
  });

  it('is part of a layer, with its location', () => {
    expect(whole).toEqual({
      onSlow: at('fail', 'key onSlow'),
      pauses: { waitMs: at(2000, 'key pauses.wait') },
      smallestShare: at(0.9, 'key pauses.share'),
      owners: [{ name: 'sum', ...at('alice', 'key owners.sum') }],
      pages: at(1, 'key pages'),
    });
  });

  it('is empty in a layer that does not set it', () => {
    expect(build({})).toEqual(layers.empty);
    expect(layers.empty).toEqual({
      onSlow: null,
      pauses: { waitMs: null },
      smallestShare: null,
      owners: [],
      pages: null,
    });
  });

  it('comes from the first layer that sets it, and adds up if it is a list', () => {
    const weaker = build({ onSlow: 'pass', pauses: { wait: '5s' }, owners: { sum: 'bob', echo: 'carol' } });
    const merged = layers.merge([build({ onSlow: 'warn', owners: { sum: 'alice' } }), weaker]);
    expect(merged).toMatchObject({ onSlow: { value: 'warn' }, pauses: { waitMs: { value: 5000 } }, pages: null });
    expect(merged.owners.map(({ name, value }) => [name, value])).toEqual([
      ['sum', 'alice'],
      ['echo', 'carol'],
    ]);
  });

  it('has its default, unless an earlier policy sets it', () => {
    const defaults = layers.complete(layers.empty);
    expect(defaults).toEqual({
      onSlow: byDefault('warn'),
      pauses: { waitMs: null },
      smallestShare: null,
      owners: [],
      pages: byDefault(3),
    });
    const earlier = { ...defaults, onSlow: at('pass' as const, 'a'), owners: [{ name: 'echo', ...at('dave', 'a') }] };
    expect(layers.complete(build({ onSlow: 'fail' }), earlier)).toMatchObject({
      onSlow: { value: 'fail' },
      owners: [{ name: 'echo' }],
    });
    expect(layers.complete(layers.empty, earlier)).toMatchObject({ onSlow: { value: 'pass' } });
  });

  it('is part of reports', () => {
    const report = z.object(layers.reportShape);
    const complete = layers.complete(whole);
    expect(report.parse(complete)).toEqual(complete);
    const { smallestShare: _share, ...older } = layers.complete(layers.empty);
    expect(report.parse(older)).toMatchObject({ smallestShare: null });
    expect(report.safeParse({ ...complete, onSlow: null }).success).toBe(false);
    expect(z.toJSONSchema(report, { io: 'input' }).properties).toMatchObject({
      pauses: {
        description: 'The pauses; null where there is none.',
        properties: { waitMs: { description: 'Before each case.' } },
      },
    });
  });

  it.each([
    [{ onSlow: 'fail' }, {}, '`onSlow`: fail -> warn, key onSlow'],
    [{}, { onSlow: 'pass' }, '`onSlow`: warn -> pass, default'],
    [{ pauses: { wait: '2s' } }, { pauses: { wait: '3s' } }, 'the pause: 2s -> 3s, key pauses.wait'],
    [{ pauses: { wait: '2s' } }, {}, 'the pause: 2s -> none, key pauses.wait'],
    [{}, { onSlow: 'warn', pauses: { share: 0.4 } }, '`pauses.share`: 0.5 -> 0.4, default'],
    [{ owners: { sum: 'alice' } }, {}, 'the owner of sum: alice -> none, key owners.sum'],
  ] as const)('is found where a change from %j to %j lowers it', (before, after, found) => {
    const lowered = layers.listLowered(build(before), build(after));
    expect(lowered.map(({ what, before, after, source }) => `${what}: ${before} -> ${after}, ${source}`)).toEqual([
      found,
    ]);
  });

  it.each([
    [{}, { onSlow: 'fail' }],
    [{ onSlow: 'pass' }, {}],
    [{}, { pauses: { wait: '9s' } }],
    [{}, { pauses: { share: 0.4 } }],
    [{ pages: 9 }, { pages: 1 }],
  ] as const)('is nothing where a change from %j to %j does not lower it', (before, after) => {
    expect(layers.listLowered(build(before), build(after))).toEqual([]);
  });

  it('has its line in the list of all rules', () => {
    const list = renderRuleList(rules, sections);
    expect(list).toContain('\nonSlow: warn # the default\npauses:\n  wait: 2s\n  share: 0.5\npages: 3 # the default\n');
    expect(list).toContain('\n    minimumPassRate: 95%\n    owners: { sum: alice }\n');
    const unnamed = defineRule('unnamed', { written: z.boolean(), default: false });
    expect(() => renderRuleList([...rules, unnamed], sections)).toThrow('unnamed');
  });

  it('needs a section that is described', () => {
    expect(() => createLayers(rules)).toThrow('pauses');
    expect(() => createFileShape(rules)).toThrow('pauses');
  });
});

describe('the rules of the product', () => {
  it('have one name each, in files and in reports', () => {
    for (const list of [suiteRules, gateRules, [...suiteRules, ...gateRules]]) {
      const paths = list.map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      expect(new Set(list.map(({ stored }) => stored)).size).toBe(paths.length);
    }
  });

  it('use every section', () => {
    const heads = new Set([...suiteRules, ...gateRules].map(({ path }) => path.split('.')[0]));
    expect(ruleSections.filter(({ name }) => !heads.has(name))).toEqual([]);
  });
});
