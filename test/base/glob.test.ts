import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { createMatcher, listMatches } from '../../src/base/glob.ts';
import { createWorkspace } from '../support/workspace.ts';

async function list(pattern: string, cwd: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of listMatches(pattern, { cwd, exclude: () => false })) found.push(path);
  return found.toSorted();
}

const refuse = async (pattern: string) => {
  await using workspace = await createWorkspace({ 'a.yaml': '' });
  const error = await list(pattern, workspace.path).catch((found: unknown) => found);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(() => createMatcher(pattern)).toThrow(ConfigurationError);
  return error instanceof ConfigurationError ? (error.issues[0]?.message ?? '') : '';
};

describe('a glob pattern', () => {
  it.each([
    ['*.yaml', ['a.yaml', 'b.yaml']],
    ['{a,b,c}.yaml', ['a.yaml', 'b.yaml']],
    ['**/*.evals.{yaml,yml}', ['x/1.evals.yml', 'x/y/2.evals.yaml']],
    ['x/{1..9}.*.yml', ['x/1.evals.yml']],
    ['?????.??{,?}', []],
    [`{${Array.from({ length: 200 }, (_, index) => `*.${index}`).join()},a.*}`.replace('*.0,', ''), ['a.yaml']],
  ])('%s matches files', async (pattern, expected) => {
    const files = { 'a.yaml': '', 'b.yaml': '', 'x/1.evals.yml': '', 'x/y/2.evals.yaml': '' };
    await using workspace = await createWorkspace(files);
    expect(await list(pattern, workspace.path)).toEqual(expected);
    expect(Object.keys(files).filter(createMatcher(pattern))).toEqual(expected);
  });

  it.each([
    ['{a,b}'.repeat(25)],
    ['{1..100000000}'],
    ['{-5..500}.yaml'],
    ['{'.repeat(8) + 'a,b'.repeat(3) + '{1..300}' + '}'.repeat(4)],
    ['{a,{b,c}}'.repeat(5)],
  ])('%s stands for too many patterns', async (pattern) => {
    expect(await refuse(pattern)).toMatch(/stands for more than 200 patterns because of its braces/);
  });

  it.each(['*a*a*a*a*', '{*a*,x}*a*a*', '+(a)+(a)+(a)+(a)+(a)'])('%s has too many wildcards', async (pattern) => {
    expect(await refuse(`x/${pattern}/y`)).toMatch(/has more than 4 wildcards in one name/);
  });

  it('is compared with as many files as its alternatives allow', () => {
    const matches = createMatcher(`{${'a,'.repeat(199)}b}`);
    const compare = () => {
      for (let count = 0; count <= 10_000; count += 1) matches('x');
    };
    expect(compare).toThrow('is compared with too many files');
  });
});
