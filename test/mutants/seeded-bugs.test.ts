import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seededBugs } from './seeded-bugs.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// That each is caught is shown by `npm run test:mutants`, which takes minutes.
describe('seeded bugs', () => {
  it('are thirty or more', () => {
    expect(seededBugs.length).toBeGreaterThanOrEqual(30);
  });

  it.each(seededBugs)('can be seeded: $what', ({ file, from, to, tests }) => {
    expect(read(`src/${file}`).split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
    for (const test of tests) expect(read(`test/${test}`)).not.toBe('');
  });
});
