import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { locateSources } from '../../../src/gate/run/locate-source.ts';
import { planAnnotations } from '../../../src/report/annotations.ts';
import { renderSummary } from '../../../src/report/summary.ts';
import { renderTerminal } from '../../../src/report/terminal.ts';
import { createReport } from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

const code = 'one\ntwo\nthree\nfour\nfive\nsix\n';

const reportOf = (...reasons: string[]) =>
  createReport({
    suites: [createSuiteResults({ cases: [createCaseResults({ failed: 1, failures: [createFailure({ reasons })] })] })],
  });

async function openRepository() {
  const workspace = await createWorkspace({
    'repo/src/server.js': code,
    'repo/src/main/java/com/example/Server.java': code,
    'repo/node_modules/x/index.js': code,
    'repo/.secrets/key.js': code,
    'repo/.env': code,
    'outside.js': code,
  });
  const root = join(workspace.path, 'repo');
  await symlink('../outside.js', join(root, 'link.js'));
  await symlink('..', join(root, 'up'));
  await mkdir(join(root, 'folder.js'));
  return Object.assign(workspace, { root });
}

describe('locateSources', () => {
  it('finds the first frame below the directory, with the lines around it', async () => {
    await using repository = await openRepository();
    const { root } = repository;
    const trace = `E: x\n    at a (node:fs:1:1)\n    at b (${root}/node_modules/x/index.js:1:1)\n    at c (file://${root}/src/server.js:4:9)`;
    const report = await locateSources(reportOf(trace), root);
    const source = { file: 'src/server.js', line: 4, first: 2, code: ['two', 'three', 'four', 'five', 'six'] };
    expect(report.cases[0]?.failures[0]?.source).toEqual(source);
    expect(planAnnotations(report).at(-1)).toMatchObject({ file: 'src/server.js', startLine: 4 });
    const java = await locateSources(reportOf('E\n\tat com.example.Server.get(Server.java:1)'), root);
    expect(java.cases[0]?.failures[0]?.source).toMatchObject({
      file: 'src/main/java/com/example/Server.java',
      first: 1,
    });
  });

  it('shows the column that failed of a line that is too long to show', async () => {
    const bundle = `${'a'.repeat(5000)}boom()${'b'.repeat(5000)}`;
    await using workspace = await createWorkspace({ 'server.js': `one\n${bundle}\nthree` });
    const report = await locateSources(
      reportOf(`E: x\n    at c (file://${workspace.path}/server.js:2:5001)`),
      workspace.path,
    );
    const { code: lines = [] } = report.cases[0]?.failures[0]?.source ?? {};
    expect(lines[1]).toMatch(/^…a+boom\(\)b+…$/);
    expect(lines[1]?.length).toBeLessThanOrEqual(200);
    expect([lines[0], lines[2]]).toEqual(['one', 'three']);
  });

  it('finds the line that the end of a server before it was ready names, and annotates it', async () => {
    await using repository = await openRepository();
    const { root } = repository;
    const output = ['Error: DATABASE_URL is not set', `    at start (${root}/src/server.js:3:9)`];
    const reason = { code: 'infrastructure', message: 'The server ended before it was ready.', output } as const;
    const verdict = { outcome: 'inconclusive' as const, reasons: [reason] };
    const built = { ...createReport(), verdict };
    const report = await locateSources(built, root);
    expect(report.verdict.reasons[0]?.source).toMatchObject({ file: 'src/server.js', line: 3 });
    expect(planAnnotations(report)).toMatchObject([{ file: 'src/server.js', startLine: 3 }]);
    expect(planAnnotations(built)[0]).not.toHaveProperty('file');
    for (const text of [renderTerminal(report, { color: false, columns: 80 }), renderSummary(report)])
      expect(text).toMatch(/The server failed at `?src\/server\.js:3/);
  });

  it.each(['external', 'inline'] as const)(
    'maps a line of a build to its source by a source map, %s',
    async (sourcemap) => {
      await using repository = await openRepository();
      const { root } = repository;
      const source =
        'interface Note {\n  text: string;\n}\n\nexport function read(note: Note): string {\n  throw new Error(note.text);\n}\n';
      await mkdir(join(root, 'build'));
      await writeFile(join(root, 'src/index.ts'), source);
      const options = { loader: 'ts', sourcefile: '../src/index.ts', sourcemap, minify: true } as const;
      const { code, map } = await transform(source, options);
      const build = join(root, 'build/index.js');
      await writeFile(build, sourcemap === 'inline' ? code : `${code}//# sourceMappingURL=index.js.map\n`);
      if (sourcemap === 'external') await writeFile(`${build}.map`, map);
      const column = code.indexOf('new Error') + 1;
      const frame = `E: x\n    at read (${build}:1:${column})`;
      const find = async () => (await locateSources(reportOf(frame), root)).cases[0]?.failures[0]?.source;
      expect(await find()).toMatchObject({ file: 'src/index.ts', line: 6, first: 4 });
      // Without its source, the line of the build remains.
      await rm(join(root, 'src/index.ts'));
      expect(await find()).toMatchObject({ file: 'build/index.js', line: 1 });
    },
  );

  it('follows no source map out of the directory, to a hidden file or a link, and survives a broken one', async () => {
    await using repository = await openRepository();
    const { root } = repository;
    const mapTo = (path: string, more: object = {}) =>
      JSON.stringify({ version: 3, sources: [path], names: [], mappings: 'AAAA', ...more });
    const inline = (map: string) =>
      `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
    await writeFile(join(root, 'src/good.js.map'), mapTo('server.js'));
    await writeFile(join(repository.path, 'outside.map'), mapTo('repo/src/server.js'));
    await symlink('good.js.map', join(root, 'src/link.map'));
    const find = async (comment: string) => {
      await writeFile(join(root, 'src/built.js'), `x();\n${comment}\n`);
      const report = await locateSources(reportOf(`E: x\n    at f (${root}/src/built.js:1:1)`), root);
      return report.cases[0]?.failures[0]?.source?.file;
    };
    expect(await find('//# sourceMappingURL=good.js.map')).toBe('src/server.js');
    expect(await find(inline(mapTo('server.js', { sourceRoot: '.' })))).toBe('src/server.js');
    const comments = [
      ...[
        '../../outside.js',
        '/etc/passwd',
        'file:///etc/passwd',
        '../link.js',
        '../.env',
        '../.secrets/key.js',
        '%',
        'a\0b.js',
      ].map((path) => inline(mapTo(path))),
      ...['../../outside.map', '/etc/passwd', 'link.map', 'https://example.test/x.map', 'missing.map', '.'].map(
        (path) => `//# sourceMappingURL=${path}`,
      ),
      ...['{', '[]', '{"version":3}', mapTo('server.js', { mappings: 7 }), mapTo('server.js', { sources: 1 })].map(
        inline,
      ),
      inline(mapTo('server.js', { sourceRoot: '../..' })),
    ];
    for (const comment of comments) expect([comment, await find(comment)]).toEqual([comment, 'src/built.js']);
  });

  it('reads nothing that a server forges: links, paths out of the directory, hidden files, lines that are not there', async () => {
    await using repository = await openRepository();
    const { root } = repository;
    const forged = [
      `${root}/../outside.js`,
      `${repository.path}/outside.js`,
      `${root}/link.js`,
      `${root}/up/outside.js`,
      `${root}/.secrets/key.js`,
      `${root}/.env`,
      `${root}/folder.js`,
      `${root}/src/../../outside.js`,
      '/etc/passwd',
      '/proc/self/environ.js',
      `${root}/src/server.js\0.js`,
    ];
    const frames = [...forged.map((path) => `    at f (${path}:1:1)`), `    at f (${root}/src/server.js:999:1)`];
    const others = ['  File "../outside.py", line 1, in f', "thread 'main' panicked at ../../outside.rs:1:1:"];
    for (const frame of [...frames, ...others]) {
      const report = await locateSources(reportOf(`E: x\n${frame}`), root);
      expect([frame, report.cases[0]?.failures[0]?.source]).toEqual([frame, undefined]);
    }
  });
});
