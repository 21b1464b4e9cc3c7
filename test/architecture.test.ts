import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { placeSpecifiers } from '../scripts/place-specifiers.ts';
import { findViolations, packageRooms } from './support/architecture.ts';
import { buildImportGraph, findImportCycles, parseModule, type SourceFile } from './support/module-graph.ts';

const root = path.resolve(import.meta.dirname, '..');

function readManifest(): { dependencies: Record<string, string>; peerDependencies: Record<string, string> } {
  const packages = z.record(z.string(), z.string());
  const schema = z.object({ dependencies: packages, peerDependencies: packages });
  return schema.parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
}

/** The sources of the gate, and those of the eval service as the folder `eval-service`, which they are once they are built. */
function readSources(): SourceFile[] {
  return [...readFolder('src', ''), ...readFolder('packages/eval-service/src', 'eval-service/')];
}

function readFolder(folder: string, prefix: string): SourceFile[] {
  const src = path.join(root, folder);
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const name = `${prefix}${path.relative(src, file).split(path.sep).join('/')}`;
      return { path: name, text: placeSpecifiers(name, readFileSync(file, 'utf8')) };
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

  it('lets one file of the gate know the eval service', () => {
    const knowing = sources.filter(
      (file) =>
        !file.path.startsWith('eval-service/') &&
        parseModule(file).imports.some((each) => each.includes('/eval-service/')),
    );
    expect(knowing.map((file) => file.path)).toEqual(['cli/eval-service.ts']);
    const [wrong] = findViolations({ path: 'cli/a.ts', text: `import { a } from '../eval-service/a.ts';` });
    expect(wrong).toMatchObject({ rule: 'order' });
  });

  it('has one file that starts processes', () => {
    const starters = sources.filter(({ text }) => {
      const uses = text.match(/node:child_process/g)?.length ?? 0;
      const imports = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from 'node:child_process';$/gm)];
      const names = imports.flatMap(([, list = '']) => list.split(',').map((name) => name.replace('type ', '').trim()));
      // The class is no way to start one.
      return uses !== imports.length || names.some((name) => !['ChildProcess', 'SpawnOptions'].includes(name));
    });
    expect(starters.map((file) => file.path)).toEqual(['server/spawn.ts']);
    expect(starters[0]?.text.match(/\bspawn\(/g)).toHaveLength(1);
  });

  it('has a room for every runtime dependency, and docs/architecture.md says why it is there', () => {
    const { dependencies } = readManifest();
    expect(Object.keys(dependencies).filter((name) => !packageRooms.has(name))).toEqual([]);
    const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
    expect([...packageRooms.keys()].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('installs every package that the published files import, except the test runner of a project', () => {
    const { dependencies, peerDependencies } = readManifest();
    const installed = Object.keys({ ...dependencies, ...peerDependencies });
    // The package does not contain the action, and contains the client of GitHub as a bundle.
    const published = sources.filter(({ path }) => !path.startsWith('action/') && path !== 'github/octokit.ts');
    const missing = published.flatMap((file) =>
      parseModule(file)
        .imports.filter((each) => !/^(?:\.|node:)/.test(each))
        .filter((each) => !installed.some((name) => each === name || each.startsWith(`${name}/`)))
        .map((each) => `${file.path} imports ${each}`),
    );
    expect(missing).toEqual([]);
    expect(published.flatMap((file) => parseModule(file).imports).filter((each) => each.includes('/action/'))).toEqual(
      [],
    );
  });
});

describe('the checker', () => {
  const listRules = (file: string, text: string) => findViolations({ path: file, text }).map(({ rule }) => rule);

  it.each([
    ['report/a.ts', `import { a } from '../model/a.ts';`, `import { a } from '../engine/a.ts';`],
    ['report/a.ts', `import type { A } from '../base/a.ts';`, `import type { A } from '../suite/a.ts';`],
    ['gate/a.ts', `const a = await import('../runner/a.ts');`, `const a = await import('../cli/a.ts');`],
    ['model/a.ts', `type A = import('../base/a.ts').A;`, `type A = import('../suite/a.ts').A;`],
    ['cli/a.ts', `import '../gate/a.ts';`, `import '../action/a.ts';`],
    [
      'cli/a.ts',
      `import {\n  a,\n  type B,\n} from '../gate/a.ts';`,
      `import {\n  a,\n  type B,\n} from '../index.ts';`,
    ],
    ['engine/a.ts', `import { a } from './deep/a.ts';`, `import { a } from '../runner/a.ts';`],
    ['base/a.ts', `import { a } from './b.ts';`, `import { a } from '../model/a.ts';`],
    ['gate/plan/a.ts', `import { a } from '../options/a.ts';`, `import { a } from '../run/a.ts';`],
    ['gate/run/a.ts', `import { a } from '../plan/a.ts';`, `import { a } from '../gate.ts';`],
    ['model/rules/a.ts', `import { a } from '../source.ts';`, `import { a } from '../policy.ts';`],
    ['model/a.ts', `import { a } from './b.ts';`, `import { a } from './rules/a.ts';`],
    ['gate/publish/a.ts', `import type { A } from '../gate.ts';`, `import type { A } from '../elsewhere/a.ts';`],
  ])('lets %s look to its left only', (file, allowed, refused) => {
    expect(listRules(file, allowed)).toEqual([]);
    expect(listRules(file, refused)).toEqual(['order']);
  });

  it.each([
    ['http/a.ts', 'runner/a.ts', `import { Agent } from 'undici';`],
    ['eval-service/a.ts', 'service/a.ts', `import { Hono } from 'hono/tiny';`],
    ['action/a.ts', 'gate/a.ts', `import * as core from '@actions/core';`],
    ['engine/a.ts', 'suite/a.ts', `import { Ajv2020 } from 'ajv/dist/2020.js';`],
  ])('lets a package into %s but not into %s', (allowed, refused, text) => {
    expect(listRules(allowed, text)).toEqual([]);
    expect(listRules(refused, text)).toEqual(['package']);
  });

  it('refuses packages of the development tools and built-in modules without their prefix', () => {
    expect(listRules('base/a.ts', `import { it } from 'vitest';`)).toEqual(['package']);
    expect(listRules('base/a.ts', `import { readFile } from 'fs/promises';`)).toEqual(['package']);
    expect(listRules('base/a.ts', `import { stat } from 'node:fs/promises';`)).toEqual([]);
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

  it('keeps the functions that read whole files out of all files but those that read no input', () => {
    const text = `import { type FileHandle, readFile as read, stat } from 'node:fs/promises';`;
    expect(listRules('base/files.ts', text)).toEqual([]);
    expect(listRules('gate/a.ts', text)).toEqual(['reader']);
    expect(listRules('gate/a.ts', `import { stat } from 'node:fs/promises';`)).toEqual([]);
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
