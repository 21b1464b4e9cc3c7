import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import soak from '../../vitest.soak.config.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Test files that make fewer draws in `npm test`. */
const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
  /import .*countDraws.* from '.*property-runs\.ts'/.test(readFileSync(path.join(root, file), 'utf8')),
);

const listLeftOut = (patterns: readonly string[]) =>
  files.filter((file) => !patterns.some((pattern) => path.matchesGlob(file, pattern)));

describe('npm run test:soak', () => {
  const patterns = soak.test?.include ?? [];

  it('runs each test that makes fewer draws in npm test', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(listLeftOut(patterns)).toEqual([]);
  });

  it('would leave out a file that no pattern names', () => {
    const others = patterns.filter((pattern) => !pattern.startsWith('test/tunnel/'));
    expect(listLeftOut(others)).toEqual(['test/tunnel/frames.test.ts']);
  });
});
