import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { describeGitError, probeGit, runGit } from '../../src/gate/plan/git-checkout.ts';
import { listCommitFiles } from '../../src/gate/plan/base-tree.ts';
import { openCheckout } from '../../src/gate/run/base-checkout.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { commitFiles, createPullRequest, describePullRequest, runGitIn } from '../support/github/pull-request.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import {
  forgeObject,
  listDocumentedKeys,
  plantKey,
  programKeys,
  promiseObject,
  readObject,
  writeLfsPointer,
  writeMarker,
} from './repository-attacks.ts';

const silent = { logger: silentLogger, signal: new AbortController().signal };

async function createRepository(): Promise<{ workspace: Workspace; commit: string }> {
  const workspace = await createWorkspace();
  runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
  const commit = await commitFiles(workspace, { 'a.txt': 'one\n', 'deep/b.txt': 'two\n', link: { link: 'a.txt' } });
  await commitFiles(workspace, { 'a.txt': 'three\n' });
  return { workspace, commit };
}

/** Runs every operation of the gate on a repository. */
async function readAll({ path }: Workspace, commit: string): Promise<{ files: string[]; text: string }> {
  const directory = join(path, '.git', 'base-of-test');
  await probeGit(path);
  await runGit(['ls-files', '--others', '-z', '--', ':(literal)deep'], path);
  const files = await listCommitFiles(commit, path);
  await using _checkout = await openCheckout({ commit, repository: path, directory }, silent);
  expect(await readFile(join(directory, 'deep/b.txt'), 'utf8')).toBe('two\n');
  return { files: [...files.modes.keys()], text: await files.read('a.txt') };
}

describe('the configuration of a change', { timeout: 300_000 }, () => {
  // Also checks that git works, so that no key of a group hides the effect of another one.
  const groups = Object.values(Object.groupBy(programKeys, (key) => programKeys.indexOf(key) % 8));
  it.each(groups.map((keys = []) => [keys.join(', '), keys] as const))('runs no program by %s', async (_, keys) => {
    const { workspace, commit } = await createRepository();
    await using _workspace = workspace;
    const { program, marker } = writeMarker(workspace);
    for (const key of keys) plantKey(workspace, key, program);
    const read = await readAll(workspace, commit).catch(describeGitError);
    expect(existsSync(marker)).toBe(false);
    expect(read).toEqual({ files: expect.arrayContaining(['a.txt', 'deep/b.txt', 'link']), text: 'one\n' });
  });

  it('runs no program by any key that git documents, and changes nothing that the gate reads', async () => {
    const { workspace, commit } = await createRepository();
    await using _workspace = workspace;
    const { program, marker } = writeMarker(workspace);
    const keys = listDocumentedKeys(workspace);
    expect(keys.length).toBeGreaterThan(400);
    for (const key of keys) plantKey(workspace, key, program);
    expect(await readAll(workspace, commit)).toMatchObject({ text: 'one\n' });
    expect(existsSync(marker)).toBe(false);
  });

  it('fetches no object that a remote promises, and says what is missing and what to do', async () => {
    const { workspace, commit } = await createRepository();
    await using _workspace = workspace;
    const { program, marker } = writeMarker(workspace);
    promiseObject(workspace, runGitIn(workspace, 'rev-parse', `${commit}:a.txt`), program);
    const directory = join(workspace.path, 'base');
    const opening = openCheckout({ commit, repository: workspace.path, directory }, silent);
    await expect(opening).rejects.toThrow(/a\.txt of the commit .* is not here\. A partial clone .* remove `filter`/);
    expect([existsSync(marker), existsSync(directory)]).toEqual([false, false]);
  });
});

describe('an object of the store that is not what its id says', { timeout: 300_000 }, () => {
  it.each(['blob', 'tree', 'commit'] as const)('is refused: a %s', async (type) => {
    const { workspace, commit } = await createRepository();
    await using _workspace = workspace;
    const other = runGitIn(workspace, 'rev-parse', 'HEAD');
    const at = (revision: string) =>
      ({ blob: `${revision}:a.txt`, tree: `${revision}^{tree}`, commit: revision })[type];
    const id = runGitIn(workspace, 'rev-parse', at(commit));
    forgeObject(workspace, id, type, readObject(workspace, at(other), type));
    const directory = join(workspace.path, 'base');
    await expect(openCheckout({ commit, repository: workspace.path, directory }, silent)).rejects.toThrow(
      'is not what its id says',
    );
    await expect(listCommitFiles(commit, workspace.path).then((files) => files.read('a.txt'))).rejects.toThrow(
      'is not what its id says',
    );
    expect(existsSync(directory)).toBe(false);
  });
});

describe('a pointer of Git LFS in the base', { timeout: 300_000 }, () => {
  it('stands for the file that was fetched, and for no other one', async () => {
    const { workspace } = await createRepository();
    await using _workspace = workspace;
    const id = writeLfsPointer(workspace, 'model.bin', 'a large file');
    const commit = await commitFiles(workspace, {});
    const target = { commit, repository: workspace.path, directory: join(workspace.path, 'base') };
    await expect(openCheckout(target, silent)).rejects.toThrow(/model\.bin .* pointer of Git LFS.* `git lfs fetch/);
    const stored = join(workspace.path, '.git/lfs/objects', id.slice(0, 2), id.slice(2, 4), id);
    mkdirSync(dirname(stored), { recursive: true });
    writeFileSync(stored, 'another file');
    await expect(openCheckout(target, silent)).rejects.toThrow('pointer of Git LFS');
    writeFileSync(stored, 'a large file');
    await using _checkout = await openCheckout(target, silent);
    expect(await readFile(join(target.directory, 'model.bin'), 'utf8')).toBe('a large file');
  });
});

const suite = writeSayingCases('Says', ['red', 'blue']);
const required = suite.replace('- id: red', '- id: red\n    required: true');

describe('policy-ref: base', { timeout: 300_000 }, () => {
  const judge = async (attack: (workspace: Workspace, base: string) => void | Promise<void>) => {
    // The answer of the server is only `blue`, so that the case required by the base fails.
    const { workspace, environment } = await createPullRequest(
      { 'a.yaml': required, 'p.yaml': 'minimumPassRate: 100%\n' },
      { 'a.yaml': suite, 'p.yaml': 'minimumPassRate: 10%\n' },
    );
    await using _workspace = workspace;
    await attack(workspace, runGitIn(workspace, 'rev-parse', 'HEAD'));
    const inputs = { evals: 'a.yaml', policy: 'p.yaml', 'policy-ref': 'base', sandbox: 'off' };
    const exitCode = await runEmbeddedGate(workspace, inputs, { says: 'blue', environment }).then(
      (result) => result.exitCode,
      (error: unknown) => (error instanceof Error && 'exitCode' in error ? error.exitCode : String(error)),
    );
    return existsSync(join(workspace.path, '.git/marker')) ? `a program ran, then ${String(exitCode)}` : exitCode;
  };

  it('fails the change that nothing hides', async () => {
    expect(await judge(() => {})).toBe(1);
  });

  it('does not pass a change that forges the policy of the base in the store', async () => {
    const found = await judge((workspace) => {
      for (const [file, text] of [
        ['p.yaml', 'minimumPassRate: 10%\n'],
        ['a.yaml', suite],
      ] as const)
        forgeObject(workspace, runGitIn(workspace, 'rev-parse', `HEAD:${file}`), 'blob', Buffer.from(text));
    });
    expect(found).toBe(2);
  });

  it('runs no program for an object that a remote promises', async () => {
    const found = await judge((workspace) => {
      const { program } = writeMarker(workspace);
      promiseObject(workspace, runGitIn(workspace, 'rev-parse', 'HEAD:p.yaml'), program);
    });
    expect(found).toBe(2);
  });

  it('takes no other commit for the base where that of the event is gone', async () => {
    const found = await judge((workspace, base) => {
      runGitIn(workspace, 'add', '-A');
      runGitIn(workspace, 'commit', '-q', '-m', 'change');
      runGitIn(workspace, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
      rmSync(join(workspace.path, '.git/objects', base.slice(0, 2), base.slice(2)));
    });
    expect(found).toBe(2);
  });

  it('forgives nothing that a moved HEAD shows as older than the change', async () => {
    const workspace = await createWorkspace();
    await using _workspace = workspace;
    runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
    const onlyBlue = writeSayingCases('Says', ['blue']);
    const ancient = await commitFiles(workspace, { 'a.yaml': onlyBlue });
    const base = await commitFiles(workspace, { 'a.yaml': required });
    runGitIn(workspace, 'switch', '-q', '-c', 'change');
    const head = await commitFiles(workspace, { 'a.yaml': onlyBlue });
    const environment = await describePullRequest(workspace, base);
    const event = { pull_request: { number: 1, base: { sha: base }, head: { sha: head } } };
    writeFileSync(environment['GITHUB_EVENT_PATH'] ?? '', JSON.stringify(event));
    writeFileSync(join(workspace.path, '.git/HEAD'), `${ancient}\n`);
    const inputs = { evals: 'a.yaml', 'policy-ref': 'base', sandbox: 'off', 'min-pass-rate': '10%' };
    expect((await runEmbeddedGate(workspace, inputs, { says: 'blue', environment })).exitCode).toBe(1);
  });
});

describe('base: git', { timeout: 300_000 }, () => {
  /** Creates a change with a base that is better than their common ancestor, one commit earlier. */
  const openHistory = async () => {
    const workspace = await createWorkspace();
    runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
    const ids = [];
    for (const text of ['0', '1', '2']) ids.push(await commitFiles(workspace, { 'a.txt': text }));
    runGitIn(workspace, 'switch', '-q', '-c', 'change');
    ids.push(await commitFiles(workspace, { 'b.txt': '3' }));
    return { workspace, ids };
  };

  it.each([
    [
      'grafts',
      ({ path }: Workspace, [first = '', , , last = '']: string[]) => {
        mkdirSync(join(path, '.git/info'), { recursive: true });
        writeFileSync(join(path, '.git/info/grafts'), `${last} ${first}\n`);
      },
    ],
    [
      'a shallow file',
      ({ path }: Workspace, [, , , last = '']: string[]) => writeFileSync(join(path, '.git/shallow'), `${last}\n`),
    ],
    [
      'a replaced commit',
      (workspace: Workspace, [first = '', , , last = '']: string[]) =>
        void runGitIn(workspace, 'replace', '--graft', last, first),
    ],
    [
      'an alias of the configuration',
      ({ path }: Workspace) => appendFileSync(join(path, '.git/config'), '[alias]\n\tcat-file = !false\n'),
    ],
  ])('finds the merge base through %s', async (_, attack) => {
    const { findForkPoint } = await import('../../src/gate/plan/base-tree.ts');
    const { workspace, ids } = await openHistory();
    await using _workspace = workspace;
    attack(workspace, ids);
    expect(await findForkPoint(ids[2] ?? '', { tested: [] }, workspace.path)).toBe(ids[2]);
  });

  it('finds none in a history that is cut, and says that something is missing', async () => {
    const { findForkPoint } = await import('../../src/gate/plan/base-tree.ts');
    const { workspace, ids } = await openHistory();
    await using _workspace = workspace;
    runGitIn(workspace, 'switch', '-q', '-c', 'other', ids[1] ?? '');
    const other = await commitFiles(workspace, { 'c.txt': '4' });
    expect(await findForkPoint(other, { tested: [ids[3] ?? ''] }, workspace.path)).toBe(ids[1]);
    const [, , cut = ''] = ids;
    rmSync(join(workspace.path, '.git/objects', cut.slice(0, 2), cut.slice(2)));
    await expect(findForkPoint(other, { tested: [ids[3] ?? ''] }, workspace.path)).rejects.toThrow('is not here');
  });
});
