import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { locateSources } from '../../../src/gate/run/locate-source.ts';
import { planAnnotations } from '../../../src/report/annotations.ts';
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
