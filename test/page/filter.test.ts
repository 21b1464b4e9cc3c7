import { describe, expect, it } from 'vitest';
import { type CaseFilter, listCases, matchesFilter } from '../../page/filter.ts';
import { createPageReport } from '../support/factories/page-factory.ts';

const items = listCases(createPageReport());

function find(filter: Partial<CaseFilter>): string[] {
  const whole = { group: null, tag: null, suiteId: null, text: '', ...filter };
  return items.filter((item) => matchesFilter(item, whole)).map(({ member }) => member.title);
}

describe('listCases', () => {
  it('sorts required failures first, then other failures, cases that do not count, and passed cases', () => {
    expect(items.map(({ group, member }) => `${group} ${member.title}`)).toEqual([
      'failed Asks for the weather in Paris',
      'failed Converts degrees',
      'set-aside Follows a redirect',
      'passed Lists cities',
      'passed Gets the forecast',
      'passed Reads the units',
      'passed Refuses an unknown city',
    ]);
  });
});

describe('the group of a case', () => {
  it.each([
    ['passed', 'passed'],
    ['failed', 'failed'],
    ['tolerated', 'tolerated'],
    ['excluded', 'set-aside'],
    ['unscored', 'inconclusive'],
  ] as const)('of disposition %s is %s', (disposition, group) => {
    const { suites, cases } = createPageReport();
    const listed = listCases({ suites, cases: cases.map((testCase) => ({ ...testCase, disposition })) });
    expect(new Set(listed.map((item) => item.group))).toEqual(new Set([group]));
  });
});

describe('matchesFilter', () => {
  it.each([
    [{}, 7],
    [{ group: 'failed' }, 2],
    [{ group: 'inconclusive' }, 0],
    [{ group: 'set-aside' }, 1],
    [{ tag: 'smoke' }, 3],
    [{ tag: 'smok' }, 0],
    [{ suiteId: 'weather' }, 7],
    [{ suiteId: 'math' }, 0],
    [{ group: 'failed', tag: 'smoke' }, 1],
  ] as const)('finds with %j %i cases', (filter, count) => {
    expect(find(filter)).toHaveLength(count);
  });

  it.each([
    ['PARIS', ['Asks for the weather in Paris']],
    ['weather.evals.yaml:44', ['Converts degrees']],
    ['get_forecast', ['Asks for the weather in Paris']],
    ['degrees 211.99', ['Converts degrees']],
    ['degrees paris', []],
    ['@alice', ['Follows a redirect']],
  ])('looks for every word of %j', (text, titles) => {
    expect(find({ text })).toEqual(titles);
  });
});
