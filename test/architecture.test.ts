import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findViolations, packageRooms } from './support/architecture.ts';
import { buildImportGraph, findImportCycles, parseModule, type SourceFile } from './support/module-graph.ts';
import { findWalkProblems, readWalks } from './support/walks.ts';

const root = path.resolve(import.meta.dirname, '..');

function readSources(): SourceFile[] {
  const src = path.join(root, 'src');
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { path: path.relative(src, file).split(path.sep).join('/'), text: readFileSync(file, 'utf8') };
    });
}

describe('the architecture', () => {
  const sources = readSources();

  it('is checked in every room', () => {
    const rooms = new Set(sources.map((file) => file.path.split('/')[0]));
    expect([...rooms]).toEqual(expect.arrayContaining(['base', 'model', 'gate', 'action', 'cli']));
  });

  it('holds in every source file', () => {
    const violations = sources
      .flatMap(findViolations)
      .map(({ path, rule, message }) => `${path}: ${message} (${rule})`);
    expect(violations).toEqual([]);
  });

  it('has no import cycles between files, type-only imports included', () => {
    expect(findImportCycles(buildImportGraph(sources)).map((cycle) => cycle.join(' -> '))).toEqual([]);
  });

  it('leads a value along each walk of docs/architecture.md in at most eight files, and never back', () => {
    const walks = readWalks(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'));
    expect(walks.map(({ title }) => title)).toEqual([
      'The minimum pass rate',
      'An API key',
      'The result of an iteration',
      'Cancellation',
    ]);
    const graph = buildImportGraph(sources);
    expect(walks.map((walk) => [walk.title, findWalkProblems(walk, graph, sources)])).toEqual(
      walks.map(({ title }) => [title, []]),
    );
  });

  it('has few files of at most 30 lines, since each is one more place to look', () => {
    const small = sources.filter(({ text }) => text.split('\n').length - 1 <= 30).map((file) => file.path);
    expect(small.length <= 45 ? [] : small).toEqual([]);
  });

  it('has a room for every runtime dependency, and docs/architecture.md says why it is there', () => {
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
    expect(Object.keys(dependencies).filter((name) => !packageRooms.has(name))).toEqual([]);
    const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
    expect(Object.keys(dependencies).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the checker', () => {
  const listRules = (file: string, text: string) => findViolations({ path: file, text }).map(({ rule }) => rule);

  it.each([
    ['report/a.ts', `import { a } from '../model/a.ts';`, `import { a } from '../engine/a.ts';`],
    ['report/a.ts', `import type { A } from '../base/a.ts';`, `import type { A } from '../suite/a.ts';`],
    ['gate/a.ts', `const a = await import('../embedded/a.ts');`, `const a = await import('../cli/a.ts');`],
    ['model/a.ts', `type A = import('../base/a.ts').A;`, `type A = import('../suite/a.ts').A;`],
    ['cli/a.ts', `import '../gate/a.ts';`, `import '../action/a.ts';`],
    [
      'cli/a.ts',
      `import {\n  a,\n  type B,\n} from '../gate/a.ts';`,
      `import {\n  a,\n  type B,\n} from '../index.ts';`,
    ],
    ['engine/a.ts', `import { a } from './deep/a.ts';`, `import { a } from '../embedded/a.ts';`],
    ['base/a.ts', `import { a } from './b.ts';`, `import { a } from '../model/a.ts';`],
    ['gate/plan/a.ts', `import { a } from '../options/a.ts';`, `import { a } from '../run/a.ts';`],
    ['gate/run/a.ts', `import { a } from '../plan/a.ts';`, `import { a } from '../gate.ts';`],
    ['gate/publish/a.ts', `import type { A } from '../gate.ts';`, `import type { A } from '../elsewhere/a.ts';`],
  ])('lets %s look to its left only', (file, allowed, refused) => {
    expect(listRules(file, allowed)).toEqual([]);
    expect(listRules(file, refused)).toEqual(['order']);
  });

  it.each([
    ['http/a.ts', 'embedded/a.ts', `import { Agent } from 'undici';`],
    ['embedded/a.ts', 'service/a.ts', `import { Hono } from 'hono/tiny';`],
    ['action/a.ts', 'gate/a.ts', `import * as core from '@actions/core';`],
    ['engine/a.ts', 'suite/a.ts', `import { Ajv2020 } from 'ajv/dist/2020.js';`],
  ])('lets a package into %s but not into %s', (allowed, refused, text) => {
    expect(listRules(allowed, text)).toEqual([]);
    expect(listRules(refused, text)).toEqual(['package']);
  });

  it('refuses packages of the development tools and built-in modules without their prefix', () => {
    expect(listRules('base/a.ts', `import { it } from 'vitest';`)).toEqual(['package']);
    expect(listRules('base/a.ts', `import { readFile } from 'fs/promises';`)).toEqual(['package']);
    expect(listRules('base/a.ts', `import { readFile } from 'node:fs/promises';`)).toEqual([]);
  });

  it.each([
    `process.env['A'];`,
    `const { env } = process;`,
    `const p = process['argv'];`,
    `import { env } from 'node:process';`,
  ])('keeps %j out of every room but those that own the process', (text) => {
    expect(listRules('server/a.ts', text)).toEqual([]);
    expect(listRules('gate/a.ts', text)).toEqual(['process']);
  });

  it('takes no word, property, comment or string for the process', () => {
    const text = `const a = { process: 1 }; child.process.pid; // process.env\n/* process.argv */ const b = 'process.env';`;
    expect(listRules('gate/a.ts', text)).toEqual([]);
  });

  it.each(['types.ts', 'utils.ts', 'helpers.ts', 'constants.ts', 'index.ts'])('refuses a drawer called %s', (name) => {
    expect(listRules(`base/${name}`, '')).toEqual(['name']);
    expect(listRules(`base/a-${name}`, '')).toEqual([]);
  });

  it('refuses files outside the rooms, the public surface apart', () => {
    expect(listRules('index.ts', `export { a } from './base/a.ts';`)).toEqual([]);
    expect(listRules('main.ts', '')).toEqual(['room']);
    expect(listRules('misc/a.ts', '')).toEqual(['room']);
  });

  it.each([`export default function a() {}`, `const a = 1;\nexport { a as default };`])('refuses %j', (text) => {
    expect(listRules('base/a.ts', text)).toEqual(['default-export']);
  });

  it('lets a default of others be imported', () => {
    expect(listRules('suite/a.ts', `import { default as leven } from 'leven';`)).toEqual([]);
  });

  it('refuses re-exports, and everything at once even on the public surface', () => {
    expect(listRules('base/a.ts', `export { a } from './b.ts';`)).toEqual(['barrel']);
    expect(listRules('base/a.ts', `export type { A } from './b.ts';`)).toEqual(['barrel']);
    expect(listRules('index.ts', `export * from './base/a.ts';`)).toEqual(['barrel']);
    expect(listRules('base/a.ts', `export const a = 1;\nexport { a as b };`)).toEqual([]);
  });

  it('refuses imports without extension and from outside', () => {
    expect(listRules('base/a.ts', `import { a } from './b';`)).toEqual(['import']);
    expect(listRules('base/a.ts', `import { a } from '../../scripts/b.ts';`)).toEqual(['import']);
  });

  it('counts lines to 300', () => {
    expect(listRules('base/a.ts', '//\n'.repeat(300))).toEqual([]);
    expect(listRules('base/a.ts', '//\n'.repeat(301))).toEqual(['length']);
  });

  it.each([
    [`// import { a } from '../cli/a.ts';`],
    [`/* import '../cli/a.ts'; */`],
    ["const text = `import { a } from '../cli/a.ts'`;"],
    [`const pattern = /['"\`]/; // import '../cli/a.ts'`],
    [`const half = a / 2; const from = 'cli';`],
  ])('finds no import in %j', (text) => {
    expect(listRules('base/a.ts', text)).toEqual([]);
  });

  it('finds an import inside a template expression and after a pattern with quotes', () => {
    expect(listRules('base/a.ts', "const a = `${await import('../cli/a.ts')}`;")).toEqual(['order']);
    expect(listRules('base/a.ts', `const p = /[/'"]/g;\nimport '../cli/a.ts';`)).toEqual(['order']);
  });

  it('sees that a file is no TypeScript', () => {
    expect(() => parseModule({ path: 'base/a.ts', text: `import { a from './b.ts';` })).toThrow(/base\/a\.ts/);
  });
});

describe('the import graph', () => {
  const findCycles = (files: Record<string, string>) =>
    findImportCycles(buildImportGraph(Object.entries(files).map(([path, text]) => ({ path, text }))));

  it.each([
    ['a value', `import { b } from './b.ts';`],
    ['a type', `import type { B } from './b.ts';`],
    ['a type among values', `import { type B } from './b.ts';`],
    ['a side effect', `import './b.ts';`],
    ['a lazy part', `const b = await import('./b.ts');`],
    ['a type in place', `type B = import('./b.ts').B;`],
    ['a re-exported value', `export { b } from './b.ts';`],
    ['a re-exported type', `export type { B } from './b.ts';`],
    ['everything', `export * from './b.ts';`],
    ['nothing by name', `export {} from './b.ts';`],
  ])('refuses a cycle through %s and allows the import one way', (_what, text) => {
    expect(findCycles({ 'gate/a.ts': text, 'gate/b.ts': `export const b = 1;` })).toEqual([]);
    const back = `import type { A } from './a.ts';`;
    expect(findCycles({ 'gate/a.ts': text, 'gate/b.ts': back })).toEqual([['gate/a.ts', 'gate/b.ts']]);
  });

  it('allows two ways to one file and refuses the way back', () => {
    const diamond = {
      'gate/a.ts': `import { b } from './run/b.ts';\nimport { c } from './run/c.ts';`,
      'gate/run/b.ts': `import { d } from '../../base/d.ts';`,
      'gate/run/c.ts': `import { d } from '../../base/d.ts';`,
      'base/d.ts': `import { x } from 'zod';`,
    };
    expect(findCycles(diamond)).toEqual([]);
    const back = `import type { A } from '../gate/a.ts';`;
    expect(findCycles({ ...diamond, 'base/d.ts': back })).toEqual([
      ['base/d.ts', 'gate/a.ts', 'gate/run/b.ts'],
      ['base/d.ts', 'gate/a.ts', 'gate/run/c.ts'],
    ]);
  });

  it('refuses a file that imports itself, and lists each cycle once', () => {
    expect(findCycles({ 'a.ts': `import type { A } from './a.ts';` })).toEqual([['a.ts']]);
    expect(
      findCycles({
        'c.ts': `import './a.ts';`,
        'a.ts': `import './b.ts';`,
        'b.ts': `import './c.ts';`,
        'x.ts': `import './a.ts';`,
      }),
    ).toEqual([['a.ts', 'b.ts', 'c.ts']]);
  });
});

describe('a walk', () => {
  const files = Object.entries({
    'a.ts': `export const value = 1;`,
    'b.ts': `import { value } from './a.ts';\nimport { use } from './c.ts';\nuse(value);`,
    'c.ts': `export const use = (value: number) => value;`,
    'd.ts': `import { value } from './a.ts';\nimport { use } from './c.ts';\nuse(value);`,
  }).map(([file, text]) => ({ path: file, text }));
  const list = (...items: string[]) => {
    const lines = items.map((item, index) => `${index + 1}. ${item}`);
    const walks = readWalks(
      `# Sources\n\n## Walks\n\n### One\n\n${lines.join('\n')}\n\n## Rooms\n\n### Two\n\n1. no walk\n`,
    );
    return walks.flatMap((walk) => findWalkProblems(walk, buildImportGraph(files), files));
  };

  it('goes from files to their importers and then from importers to what they import', () => {
    expect(list('`src/a.ts` (`value`)', '← `src/b.ts` (`value`), which uses it', '→ `src/c.ts` (`use`)')).toEqual([]);
  });

  it.each([
    [['`src/a.ts` (`value`)', '→ `src/b.ts` (`value`)'], ['a.ts does not import b.ts']],
    [['`src/c.ts` (`use`)', '→ `src/a.ts` (`value`)'], ['c.ts does not import a.ts']],
    [['`src/a.ts` (`other`)', '← `src/b.ts` (`value`)'], ['a.ts has no other']],
    [
      ['`src/a.ts` (`value`)', '← `src/e.ts` (`value`)'],
      ['e.ts is no file', 'e.ts does not import a.ts'],
    ],
    [['`src/b.ts` (`value`)', '→ `src/c.ts` (`use`)', '← `src/d.ts` (`value`)'], ['goes back at d.ts']],
    [['`src/a.ts` (`value`)', '← `src/b.ts` (`value`)', '→ `src/a.ts` (`value`)'], ['comes to a file twice']],
    [['`src/a.ts` (`value`)', '`src/b.ts` (`value`)'], ['b.ts has a wrong or no arrow']],
    [['`src/a.ts` (`value`)'], ['has 1 files; 2 to 8 are allowed']],
  ])('is refused where it is not the way through the sources: %j', (items, problems) => {
    expect(list(...items)).toEqual(problems);
  });

  it('is refused beyond eight files', () => {
    const chain = Array.from({ length: 9 }, (_, index) => ({
      path: `f${index}.ts`,
      text: index === 0 ? 'export const v = 1;' : `import { v } from './f${index - 1}.ts';`,
    }));
    const steps = chain.map(
      ({ path: file }, index) => ({ path: file, arrow: index === 0 ? null : '←', name: 'v' }) as const,
    );
    const graph = buildImportGraph(chain);
    expect(findWalkProblems({ title: 'Long', steps }, graph, chain)).toEqual(['has 9 files; 2 to 8 are allowed']);
    expect(findWalkProblems({ title: 'Short', steps: steps.slice(0, 8) }, graph, chain)).toEqual([]);
  });

  it('is refused in another form, of which a step could be missed', () => {
    expect(() => list('src/a.ts')).toThrow('A step of a walk has another form: 1. src/a.ts');
  });
});
