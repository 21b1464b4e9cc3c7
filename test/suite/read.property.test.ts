import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readInlineTests, readSuite } from '../../src/suite/read.ts';

const fragments = fc.constantFrom(
  'suite: a',
  'cases:',
  '- title: b',
  '  steps:',
  'toolCall: c',
  '{',
  '}',
  '[',
  ']',
  ': ',
  ', ',
  '\n',
  '\n  ',
  '- ',
  '&a ',
  '*a',
  '!x ',
  '"',
  "'",
  '|',
  '>',
  '#',
  '? ',
  '---\n',
  '%YAML 1.1\n',
  '__proto__',
  'assert: ',
  'type: ',
  'null',
  'noToolErrors',
  'checks: ',
  'schemaVersion: "1"',
  '5',
  '.inf',
  '\t',
  '\r\n',
  '\u0000',
  '\uFEFF',
  '\uD800',
  '<<: *a',
);

/** Arbitrary text, and text of the format's own words in an arbitrary order. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fragments, { maxLength: 40 }).map((parts) => parts.join('')),
);

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/);
const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => /\S/.test(text));
const runs = fc.integer({ min: 1, max: 100 });
/** What YAML and JSON both carry unchanged; `-0` is excluded, because neither distinguishes it from 0. */
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown);

const step = fc.oneof(
  fc.record({ prompt: title }),
  fc.record({ toolCall: word, arguments: fc.dictionary(word, json, { maxKeys: 3 }) }),
  fc.record({ assert: fc.record({ toolResultEquals: json, path: fc.constant('/a') }) }),
  fc.record({ assert: fc.record({ toolCalledAtLeastOnce: word }) }),
);

const suite = fc.record({
  suite: title,
  runs,
  checks: fc.array(fc.constant('noToolErrors'), { maxLength: 2 }),
  cases: fc.uniqueArray(
    fc.record({
      id: word,
      title,
      tags: fc.array(word, { maxLength: 2 }),
      required: fc.boolean(),
      steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4, selector: (item) => item.id },
  ),
});

/** The short form of a step, from the API's shape that it was read into. */
function writeStep(read: unknown): unknown {
  const { kind, ...step } = read as { kind: string; [key: string]: unknown };
  if (kind === 'prompt') return { prompt: step['prompt'] };
  if (kind === 'toolCall') return { toolCall: step['toolName'], arguments: step['arguments'] };
  const { type, toolName, value, path } = step['assertion'] as Record<string, unknown>;
  return {
    assert: type === 'toolResultEquals' ? { toolResultEquals: value, path } : { toolCalledAtLeastOnce: toolName },
  };
}

describe('readSuite', () => {
  it('answers any text with either a suite or findings that have a place in it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { suite, findings } of [
          readSuite(text, { file: 'f' }),
          readInlineTests(text, { file: 'f', name: 'inline' }),
        ]) {
          expect(suite === null).toBe(findings.length > 0);
          const lineCount = text.split('\n').length;
          for (const { line, column, file } of findings) {
            expect({ file, line: line >= 1 && line <= lineCount, column: column >= 1 }).toEqual({
              file: 'f',
              line: true,
              column: true,
            });
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reads a valid suite back to what was written, as YAML and as JSON', () => {
    fc.assert(
      fc.property(suite, fc.boolean(), (written, isYaml) => {
        const reading = readSuite(isYaml ? stringify(written) : JSON.stringify(written), { file: 'f' });
        expect(reading.findings).toEqual([]);
        expect({
          suite: reading.suite?.name,
          runs: reading.suite?.cases[0]?.runs,
          checks: reading.suite?.checks.map(({ type }) => type),
          cases: reading.suite?.cases.map((item) => ({
            id: item.id,
            title: item.title,
            tags: item.tags,
            required: item.isRequired,
            steps: item.steps.map(({ step }) => writeStep(step)),
          })),
        }).toEqual(written);
      }),
      { numRuns: 200 },
    );
  });

  it('points at an unknown key itself, wherever it stands', () => {
    const unknownKey = word.map((name) => `zz-${name}`);
    const places = ['top', 'case', 'toolCall', 'assertion', 'match', 'policy'] as const;
    fc.assert(
      fc.property(unknownKey, fc.constantFrom(...places), fc.nat({ max: 5 }), (key, place, blankLines) => {
        const at = (here: string, line: string) => (place === here ? [line] : []);
        const lines = [
          ...Array.from({ length: blankLines }, () => '# comment'),
          'suite: a',
          ...at('top', `${key}: 1`),
          'match:',
          ...at('match', `  ${key}: 1`),
          '  arguments: exact',
          'policy:',
          '  minimumPassRate: 90%',
          ...at('policy', `  ${key}: [1]`),
          'cases:',
          '  - title: b',
          ...at('case', `    ${key}: { a: 1 }`),
          '    steps:',
          '      - toolCall: x',
          ...at('toolCall', `        ${key}:`),
          '      - assert:',
          '          toolResultContains: y',
          ...at('assertion', `          "${key}": 1`),
        ];
        const line = lines.findIndex((text) => text.includes(key)) + 1;
        const column = (lines[line - 1] ?? '').search(/\S/) + 1;
        expect(
          readSuite(lines.join('\n'), { file: 'f' }).findings.map(({ message, ...finding }) => ({
            ...finding,
            named: message.includes(`\`${key}\``),
          })),
        ).toEqual([{ file: 'f', line, column, code: 'unknown-key', named: true }]);
      }),
      { numRuns: 100 },
    );
  });
});
