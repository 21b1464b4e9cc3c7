import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { listFlags, listInputs, listOptions } from '../../src/gate/options/list.ts';

const root = path.resolve(import.meta.dirname, '../..');
const metadata = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string() })),
  runs: z.looseObject({ main: z.string() }),
});

function readAction(folder: string) {
  const file = path.join(root, folder, 'action.yml');
  return metadata.parse(parse(readFileSync(file, 'utf8')));
}

describe('the inputs of the action', () => {
  const names = Object.keys(readAction('').inputs);

  it('hold none that is a flag alone', () => {
    expect(names).toEqual(listInputs('run').map(({ name }) => name));
  });

  it.each(['branch', 'commit', 'base-ref', 'concurrency', 'protocol'])('leave %s to the command', (name) => {
    expect(names).not.toContain(name);
    expect(listFlags('run').map((option) => option.name)).toContain(name);
  });
});

describe('the actions merge and publish', () => {
  it.each([
    ['merge', 'reports'],
    ['publish', 'report'],
  ])('%s starts from the same dist and needs %s', (folder, input) => {
    const { inputs, runs } = readAction(folder);
    expect(path.join(folder, runs.main)).toBe(`dist/${folder}.js`);
    expect(Object.keys(inputs)[0]).toBe(input);
    expect(Object.keys(inputs)).not.toContain('evals');
    expect(Object.keys(inputs)).not.toContain('server-command');
  });
});

describe('descriptions', () => {
  const actions = ['', 'merge', 'publish'].flatMap((folder) => Object.entries(readAction(folder).inputs));
  const all = [...actions.map(([name, { description }]) => ({ name, description })), ...listOptions()];

  it.each(all.map(({ name, description }) => [name, description]))('of %s are sentences', (_, description) => {
    expect(description).toMatch(/\.$/);
    expect(description).not.toMatch(/(?:^|[.;] )(?:default:|one per line)/i);
  });

  it.each(listOptions().map(({ name, brief }) => [name, brief]))('of %s begin with a short sentence', (_, brief) => {
    expect(brief.length).toBeLessThanOrEqual(110);
  });
});

describe('README.md', () => {
  const text = readFileSync(path.join(root, 'README.md'), 'utf8');

  it('has the ten inputs that people use', () => {
    const table = /<!-- inputs:start -->(.*)<!-- inputs:end -->/s.exec(text)?.[1] ?? '';
    expect(table.match(/^\| `/gm)).toHaveLength(10);
  });
});
