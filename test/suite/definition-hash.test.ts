import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Suite, SuiteCase } from '../../src/cases/suite.ts';
import { hashDefinition, hashStoredDefinition } from '../../src/suite/definition-hash.ts';
import { readSuite } from '../../src/suite/read.ts';

const text = `suite: Math
model: openai/gpt-5
checks: [noToolErrors]
cases:
  - title: Adds
    tags: [smoke]
    runs: 3
    steps:
      - toolCall: add
        arguments: { a: 1, b: { c: 2, d: 3 } }
      - assert: { toolResultContains: "4" }
`;

function hashText(source: string): string {
  const { suite, findings } = readSuite(source, { file: 'x' });
  expect(findings).toEqual([]);
  const [item] = suite?.cases ?? [];
  if (suite === null || item === undefined) throw new Error('The file holds no case.');
  return hashDefinition(item, suite);
}

function readFirst(source: string): [SuiteCase, Suite] {
  const { suite } = readSuite(source, { file: 'x' });
  const [item] = suite?.cases ?? [];
  if (suite === null || item === undefined) throw new Error('The file holds no case.');
  return [item, suite];
}

describe('hashDefinition', () => {
  it('is a short text, the same for the same definition', () => {
    expect(hashText(text)).toMatch(/^[0-9a-f]{16}$/);
    expect(hashText(text)).toBe(hashText(text));
  });

  it.each([
    ['the title', 'title: Adds', 'title: Sums up'],
    ['the tags', 'tags: [smoke]', 'tags: [slow]'],
    ['how often it runs', 'runs: 3', 'runs: 7'],
    ['whether it is required', 'runs: 3', 'runs: 3\n    required: true'],
    ['the suite’s name', 'suite: Math', '# a line more\nsuite: Arithmetic'],
    ['the id of a step', 'assert:', 'id: right\n        assert:'],
    ['the order of keys', '{ c: 2, d: 3 }', '{ d: 3, c: 2 }'],
    ['a default that is written out', 'runs: 3', 'timeout: 60s'],
    ['a pass rate', 'checks:', 'policy: { minimumPassRate: 50% }\nchecks:'],
  ])('does not depend on %s', (_, from, to) => {
    expect(text).toContain(from);
    expect(hashText(text.replace(from, to))).toBe(hashText(text));
  });

  it.each([
    ['an argument', 'a: 1', 'a: 2'],
    ['a nested argument', 'd: 3', 'd: 4'],
    ['the tool', 'toolCall: add', 'toolCall: sum'],
    ['an assertion', 'toolResultContains: "4"', 'toolResultContains: "5"'],
    ['a check of the suite', 'noToolErrors', 'toolCalledAtLeastOnce: add'],
    ['the suite’s model', 'gpt-5', 'gpt-6'],
    ['the case’s model', 'runs: 3', 'model: anthropic/claude'],
    ['the time limit', 'runs: 3', 'timeout: 5s'],
    ['what is made of tool errors', 'runs: 3', 'failOnToolError: false'],
    ['how calls are matched', 'runs: 3', 'match: { arguments: exact }'],
  ])('changes with %s', (_, from, to) => {
    expect(text).toContain(from);
    expect(hashText(text.replace(from, to))).not.toBe(hashText(text));
  });

  it('distinguishes any two arguments, and only those', () => {
    const [item, suite] = readFirst(text);
    const hashArgument = (value: unknown) => {
      const steps = item.steps.map((located) =>
        located.step.kind === 'toolCall' ? { ...located, step: { ...located.step, arguments: { value } } } : located,
      );
      return hashDefinition({ ...item, steps }, suite);
    };
    const value = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const normal = (each: unknown) => JSON.parse(JSON.stringify(each)) as unknown;
        let areEqual = true;
        try {
          expect(normal(a)).toStrictEqual(normal(b));
        } catch {
          areEqual = false;
        }
        expect(hashArgument(a) === hashArgument(b)).toBe(areEqual);
      }),
      { numRuns: 500 },
    );
  });
});

describe('hashStoredDefinition', () => {
  const stored = { id: 'c1', title: 'Adds', steps: [{ id: 's1', kind: 'toolCall', toolName: 'add' }], iterations: 3 };

  it('does not depend on ids, titles, counts and absent fields', () => {
    const other = { ...stored, id: 'c2', title: 'Sums', iterations: 1, scenario: null, createdAt: 7 };
    const steps = stored.steps.map((step) => ({ ...step, id: 's9' }));
    expect(hashStoredDefinition({ ...other, steps })).toBe(hashStoredDefinition(stored));
  });

  it('changes with a step, a check and a model', () => {
    const hashes = [
      stored,
      { ...stored, steps: [{ id: 's1', kind: 'toolCall', toolName: 'sum' }] },
      { ...stored, steps: [] },
      { ...stored, checks: { mode: 'replace', list: [] } },
      { ...stored, models: [{ model: 'a/b' }] },
    ].map(hashStoredDefinition);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
