import { glob, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { appendAll, findGreatest, findSmallest } from '../../src/base/lists.ts';

const many = Array.from({ length: 500_000 }, (_, index) => index);

describe('lists', () => {
  it('append, and compare, more items than a call takes arguments', () => {
    const list = [-1];
    expect(() => list.push(...many)).toThrow(RangeError);
    const appended = [-1];
    appendAll(appended, many);
    expect([appended.length, appended.at(-1)]).toEqual([500_001, 499_999]);
    expect([findSmallest(many), findGreatest(many)]).toEqual([0, 499_999]);
  });

  it('are never passed as arguments of a call that keeps them all', async () => {
    const found: string[] = [];
    for await (const path of glob('src/**/*.ts')) {
      // Generated.
      if (/(?:page-assets|(?:schema|check)-worker-source)\.ts$/.test(path)) continue;
      const lines = (await readFile(path, 'utf8')).split('\n');
      // A list that was cut to a length is none of unknown length.
      const isUnbounded = (line: string) => /\.(?:push|unshift)\(\.\.\./.test(line) && !/\.slice\(0, \w+/.test(line);
      appendAll(
        found,
        lines.filter(isUnbounded).map((line) => `${path}: ${line.trim()}`),
      );
    }
    expect(found).toEqual([]);
  });
});
