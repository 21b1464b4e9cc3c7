import { describe, expect, it } from 'vitest';
import type { Suite } from '../../src/cases/suite.ts';
import { readSuite } from '../../src/suite/read.ts';
import { selectCases } from '../../src/suite/select.ts';

const suites = [
  'suite: one\ncases:\n  - { title: Adds, tags: [smoke, math], steps: [{ toolCall: x }] }\n  - { title: Echoes, steps: [{ toolCall: x }] }',
  'suite: two\ncases:\n  - { title: Echoes, tags: [slow], runs: 7, steps: [{ toolCall: x }] }',
]
  .map((text) => readSuite(text, { file: 'a' }).suite)
  .filter((suite): suite is Suite => suite !== null);

const everything = { cases: [], tags: [], runs: null };

function listTitles(selected: Suite[]): string[] {
  return selected.flatMap((suite) => suite.cases.map((item) => `${suite.name}/${item.title}×${item.runs}`));
}

describe('selectCases', () => {
  it('keeps all cases without a selection', () => {
    expect(selectCases(suites, everything)).toEqual({ suites, issues: [], added: [] });
  });

  it('keeps cases by id or exact title, in every suite, and drops empty suites', () => {
    expect(listTitles(selectCases(suites, { ...everything, cases: ['echoes'] }).suites)).toEqual([
      'one/Echoes×1',
      'two/Echoes×7',
    ]);
    expect(listTitles(selectCases(suites, { ...everything, cases: ['Adds'] }).suites)).toEqual(['one/Adds×1']);
  });

  it.each([
    ['*', ['one/Adds×1', 'one/Echoes×1', 'two/Echoes×7']],
    ['ech*', ['one/Echoes×1', 'two/Echoes×7']],
    ['*s', ['one/Adds×1', 'one/Echoes×1', 'two/Echoes×7']],
    ['A*d*s', ['one/Adds×1']],
    ['a**s', ['one/Adds×1']],
  ])('keeps the cases whose id or title fits %j', (pattern, titles) => {
    expect(listTitles(selectCases(suites, { ...everything, cases: [pattern] }).suites)).toEqual(titles);
  });

  it.each(['x*', '*x', 'adds*adds', 'a*a*a*s', 'add', 'addss*'])(
    'reports the pattern %j that fits no case',
    (pattern) => {
      expect(selectCases(suites, { ...everything, cases: [pattern] }).issues).toMatchObject([{ code: 'unknown-case' }]);
    },
  );

  it('keeps cases that carry any of the tags', () => {
    expect(listTitles(selectCases(suites, { ...everything, tags: ['slow', 'math'] }).suites)).toEqual([
      'one/Adds×1',
      'two/Echoes×7',
    ]);
  });

  it('overrides the number of iterations, without touching what it was given', () => {
    expect(listTitles(selectCases(suites, { ...everything, runs: 2 }).suites)).toEqual([
      'one/Adds×2',
      'one/Echoes×2',
      'two/Echoes×2',
    ]);
    expect(listTitles(suites)).toEqual(['one/Adds×1', 'one/Echoes×1', 'two/Echoes×7']);
  });

  it('reports names and tags that no case has', () => {
    expect(selectCases(suites, { cases: ['add', 'Adds'], tags: ['smok'], runs: null })).toEqual({
      suites: [],
      added: [],
      issues: [
        { code: 'unknown-case', message: 'No case is called "add"; did you mean `adds`?', input: 'cases' },
        { code: 'unknown-tag', message: 'No tag is called "smok"; did you mean `smoke`?', input: 'tags' },
      ],
    });
  });

  it('keeps what it takes of the base, and says which cases those are', () => {
    const [one] = suites;
    if (one === undefined) throw new Error('The suites of the test are gone');
    const renamed = { ...one, cases: one.cases.map((item) => ({ ...item, title: `New ${item.title}`, tags: [] })) };
    const findBase = ({ id }: Suite) => suites.find((suite) => suite.id === id) ?? null;
    const { suites: selected, added, issues } = selectCases([renamed], { ...everything, tags: ['math'] }, findBase);
    expect([listTitles(selected), added.map(({ id }) => id), issues]).toEqual([['one/New Adds×1'], ['adds'], []]);
    expect(selectCases([renamed], { ...everything, cases: ['Adds'] }, findBase).suites).toHaveLength(1);
    expect(selectCases([renamed], { ...everything, cases: ['Adds'] }).issues).toMatchObject([{ code: 'unknown-case' }]);
  });

  it('reports a selection that leaves nothing', () => {
    expect(selectCases(suites, { cases: ['adds'], tags: ['slow'], runs: null })).toEqual({
      suites: [],
      added: [],
      issues: [
        { code: 'nothing-selected', message: 'No case has both a name and a tag that were asked for', input: 'cases' },
      ],
    });
  });
});
