import { describe, expect, it } from 'vitest';
import { compareValues } from '../../src/behaviour/compare-values.ts';
import { readCorpus, writeCorpus, type Corpus } from '../../src/behaviour/corpus.ts';
import { rejectByHolm } from '../../src/verdict/statistics/holm.ts';

const describeAll = (bases: unknown[], head: unknown) =>
  compareValues(bases, head).map(({ pointer, what, before, after }) => [pointer, what, before, after]);

describe('compareValues', () => {
  it('finds a value that no run of the base has', () => {
    expect(describeAll([{ a: [1, 2] }, { a: [1, 2] }], { a: [1, 3] })).toEqual([['/a/*', 'another value', '2', '3']]);
  });

  it('ignores what varies on the base', () => {
    expect(
      describeAll(
        [
          { a: 1, b: 2 },
          { a: 3, b: 2 },
        ],
        { a: 9, b: 2 },
      ),
    ).toEqual([]);
    expect(describeAll([[1], [1, 2]], [7, 8, 9])).toEqual([]);
    expect(describeAll(['took 1.5 s for 12 files', 'took 2 s for 13 files'], 'took 4 s for 11 files')).toEqual([]);
    expect(
      describeAll(
        [
          ['a', 'b'],
          ['b', 'a'],
        ],
        ['b', 'a'],
      ),
    ).toEqual([]);
  });

  it('finds stable words that are missing in a text that varies', () => {
    expect(describeAll(['made 3 notes', 'made 4 notes'], 'made 5 entries')).toHaveLength(1);
  });

  it('says that a list or lines are in another order', () => {
    expect(
      describeAll(
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
        ['b', 'a'],
      )[0]?.[1],
    ).toBe('the same 2 items in another order');
    expect(describeAll(['a\nb', 'a\nb'], 'b\na')[0]?.[1]).toBe('the same lines in another order');
  });

  it('names members that are new or missing, and items that are gone', () => {
    expect(describeAll([{ a: 1 }], { b: 1 })).toEqual([
      ['/a', 'it is missing', '1', ''],
      ['/b', 'it is new', '', '1'],
    ]);
    expect(describeAll([['x', 'y']], ['y'])).toEqual([['', '1 item instead of 2', '["x"]', '[]']]);
  });

  it('compares texts that are JSON by their members', () => {
    expect(describeAll(['{"a":1}'], '{"a":2}')).toEqual([['/a', 'another value', '1', '2']]);
  });

  it('shows long texts where they differ', () => {
    const [found] = compareValues(
      [`${'a'.repeat(300)}old${'b'.repeat(300)}`],
      `${'a'.repeat(300)}new${'b'.repeat(300)}`,
    );
    expect(found?.before).toBe(`…${'a'.repeat(40)}old${'b'.repeat(40)}…`);
    expect(found?.after).toContain('new');
  });
});

describe('readCorpus', () => {
  const corpus: Corpus = {
    version: 11,
    identity: 'abc',
    server: { name: 's', version: '1' },
    seed: 1,
    isCutByTime: false,
    requests: { sent: 1, budget: 2 },
    coverage: {
      tools: { reached: 1, of: 1 },
      parameters: { reached: 0, of: 0 },
      errorPaths: { reached: 0, of: 0 },
    },
    sessions: [{ phase: 'examples', requests: [{ kind: 'tool', tool: 'echo', arguments: {} }] }],
    harmless: ['echo'],
    unexplored: [],
  };

  it('reads what was written for the same base and seed', () => {
    expect(readCorpus(writeCorpus(corpus), { identity: 'abc', seed: 1 })).toEqual({ corpus, note: null });
  });

  it.each([
    ['{', 'abc', 1, 'damaged'],
    ['{"version":2}', 'abc', 1, 'another format'],
    [writeCorpus({ ...corpus, identity: 'x' }), 'abc', 1, 'another base'],
    [writeCorpus(corpus), 'abc', 2, 'seed 1'],
    [writeCorpus({ ...corpus, isCutByTime: true }), 'abc', 1, 'time limit'],
  ])('ignores %s, and says why', (text, identity, seed, why) => {
    const { corpus: read, note } = readCorpus(text, { identity, seed });
    expect(read).toBeNull();
    expect(note).toContain(why);
  });
});

describe('rejectByHolm', () => {
  it('rejects in the order of the probabilities, and stops at the first that is too large', () => {
    expect(rejectByHolm([0.01, 0.04, 0.03], { error: 0.05, total: 3 })).toEqual([true, false, false]);
    expect(rejectByHolm([0.01, 0.04, 0.02], { error: 0.05, total: 3 })).toEqual([true, true, true]);
    expect(rejectByHolm([0.01], { error: 0.05, total: 10 })).toEqual([false]);
  });
});
