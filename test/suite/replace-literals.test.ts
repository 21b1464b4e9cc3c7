import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { replaceLiterals } from '../../src/suite/replace-literals.ts';

const head = 'suite: notes # the suite\ncases:\n  - title: Sum\n    steps:\n      - toolCall: add\n';
/** The step of every file here is in its sixth line. */
const at = { line: 6, column: 9, key: 'toolResultEquals' };
const replace = (step: string, value: unknown) => {
  const { text, replaced } = replaceLiterals(`${head}${step}`, [{ ...at, value }]);
  expect(text.startsWith(head)).toBe(true);
  return { step: text.slice(head.length), replaced };
};

describe('replaceLiterals', () => {
  it.each<[string, string, unknown, string]>([
    [
      'a number in a flow',
      '{ toolResultEquals: 5, path: /sum } # why\n',
      6,
      '{ toolResultEquals: 6, path: /sum } # why\n',
    ],
    [
      'a plain text',
      '\n          toolResultEquals: old text # why\n',
      'new text',
      '\n          toolResultEquals: new text # why\n',
    ],
    ['a plain text that needs quotes', '{ toolResultEquals: old }\n', 'a: b', '{ toolResultEquals: "a: b" }\n'],
    ['a text that looks like a number', '{ toolResultEquals: old }\n', '5', '{ toolResultEquals: "5" }\n'],
    ['single quotes', "{ toolResultEquals: 'it''s' }\n", "it's new", "{ toolResultEquals: 'it''s new' }\n"],
    ['double quotes', '{ "toolResultEquals": "old" }\n', 'new', '{ "toolResultEquals": "new" }\n'],
    [
      'a text in lines',
      '\n          toolResultEquals: |\n            one\n            two\n          path: /t\n',
      'x\ny',
      '\n          toolResultEquals: "x\\ny"\n          path: /t\n',
    ],
    [
      'one member of a mapping, with its comments',
      '\n          toolResultEquals:\n            # first\n            a: 1 # one\n            b: [1, 2] # two\n',
      { a: 1, b: [1, 3] },
      '\n          toolResultEquals:\n            # first\n            a: 1 # one\n            b: [1, 3] # two\n',
    ],
    [
      'a mapping with other members',
      '\n          toolResultEquals:\n            a: 1\n          path: /t\n',
      { b: 2 },
      '\n          toolResultEquals: {"b":2}\n          path: /t\n',
    ],
    [
      'a list that has grown',
      '\n          toolResultEquals:\n          - 1\n          path: /t\n',
      [1, 2],
      '\n          toolResultEquals: [1,2]\n          path: /t\n',
    ],
    [
      'text that is no placeholder',
      '{ toolResultEquals: old }\n',
      '{{x}}',
      String.raw`{ toolResultEquals: "\\{{x}}" }` + '\n',
    ],
  ])('replaces %s, and nothing else', (_what, before, value, after) => {
    const { step, replaced } = replace(`      - assert: ${before}`, value);
    expect(step).toBe(`      - assert: ${after}`);
    expect(replaced).toMatchObject([{ kind: 'replaced', before: expect.any(Array), after: expect.any(Array) }]);
    expect(replace(step, value)).toEqual({ step, replaced: [] });
  });

  it.each<[string, string, RegExp]>([
    ['a placeholder', '{ toolResultEquals: "{{noteId}}" }\n', /placeholder/],
    ['a placeholder deep within', '{ toolResultEquals: { a: ["x {{noteId}}"] } }\n', /placeholder/],
    ['an anchor', '{ toolResultEquals: &x 5 }\n', /anchor/],
    ['comments that would be lost', '\n          toolResultEquals:\n            a: 1 # one\n', /comments/],
    ['another assertion', '{ toolResultContains: old }\n', /does not have/],
    ['an assertion within another one', '{ not: { toolResultEquals: 5 } }\n', /does not have/],
  ])('keeps %s', (_what, assertion, reason) => {
    const before = `      - assert: ${assertion}`;
    expect(replace(before, { b: 1 })).toEqual({
      step: before,
      replaced: [{ kind: 'kept', line: 6, reason: expect.stringMatching(reason) }],
    });
  });

  it('replaces in JSON, which stays JSON', () => {
    const file = JSON.stringify({ cases: [{ steps: [{ assert: { toolResultEquals: 'old' } }] }] });
    const column = file.indexOf('{"assert"') + 1;
    const { text } = replaceLiterals(file, [{ line: 1, column, key: 'toolResultEquals', value: { a: ['new'] } }]);
    expect(JSON.parse(text)).toEqual({ cases: [{ steps: [{ assert: { toolResultEquals: { a: ['new'] } } }] }] });
  });

  it('changes the values that it is given alone, of any values in any style, and nothing the second time', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('true', 'null', '5', 'a: b', '# x', "it's", 'a\nb', '- x', '*a'),
    );
    const key = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    const style = fc.constantFrom('json', 'PLAIN', 'QUOTE_SINGLE', 'BLOCK_LITERAL');
    const literal = fc.record({ before: json, after: json, isChosen: fc.boolean(), style });
    fc.assert(
      fc.property(fc.array(literal, { minLength: 1, maxLength: 4 }), (literals) => {
        fc.pre(!JSON.stringify(literals).includes('{{'));
        const before = `cases:\n${literals.map(printCase).join('')}`;
        const choose = (file: string) =>
          literals.flatMap(({ after, isChosen }, index) =>
            isChosen ? [{ ...locateStep(file, index), value: after }] : [],
          );
        const { text: after, replaced } = replaceLiterals(before, choose(before));
        const kept = new Set(replaced.filter(({ kind }) => kind === 'kept').map(({ line }) => line));
        const isChanged = (index: number) =>
          literals[index]?.isChosen === true && !kept.has(locateStep(before, index).line);
        const found: { cases: Array<{ steps: Array<{ assert: unknown }> }> } = parse(after);
        expect(found.cases.map(({ steps }) => steps[0]?.assert)).toEqual(
          literals.map((each, index) => ({
            toolResultEquals: isChanged(index) ? each.after : each.before,
            path: '/x',
          })),
        );
        const keptLines = (file: string) => file.split('\n').filter((line) => line.endsWith('# stays'));
        expect(keptLines(after)).toEqual(keptLines(before));
        if (literals.every(({ isChosen }) => !isChosen)) expect(after).toBe(before);
        const again = replaceLiterals(after, choose(after));
        expect(again.text).toBe(after);
        expect(again.replaced.filter(({ kind }) => kind === 'replaced')).toEqual([]);
        // A value of JSON on one line can always be replaced.
        const isKeptJson = literals.some((each, index) => {
          return (
            each.isChosen &&
            each.style === 'json' &&
            !isChanged(index) &&
            !/(?:^|\s)#/.test(JSON.stringify(each.before))
          );
        });
        expect(isKeptJson).toBe(false);
      }),
    );
  });
});

function printCase({ before, style }: { before: unknown; style: string }, index: number): string {
  const type = style === 'QUOTE_SINGLE' || style === 'BLOCK_LITERAL' || style === 'PLAIN' ? style : 'PLAIN';
  const written =
    style === 'json'
      ? `toolResultEquals: ${JSON.stringify(before)}\n`
      : stringify(
          { toolResultEquals: before },
          { defaultStringType: type, aliasDuplicateObjects: false, lineWidth: 0 },
        );
  const indented = written.replaceAll(/^(?=.)/gm, '          ');
  return `  - title: Case ${index} # stays\n    steps: # stays\n      - assert:\n${indented}          path: /x # stays\n`;
}

/** Where the step of a case begins. */
function locateStep(file: string, index: number): { line: number; column: number; key: string } {
  const lines = file.split('\n').flatMap((line, at) => (line === '      - assert:' ? [at + 1] : []));
  return { line: lines[index] ?? 0, column: 9, key: 'toolResultEquals' };
}
