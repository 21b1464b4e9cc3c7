import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { baseTreePrefix } from '../../src/gate/plan/plan-base.ts';
import { openCheckout } from '../../src/gate/run/base-checkout.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { describePullRequest } from '../support/github/pull-request.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { plainServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, encoding: 'utf8' });

const writeCase = (says: string, isNamed = true) => `${isNamed ? 'suite: Words\ncases:\n' : ''}  - title: Says ${says}
    steps:
      - toolCall: argv
      - assert: { toolResultContains: ${says} }
`;

/** Starts the test server with the words of a file that differs between commits. */
const launcher = `import { readFileSync } from 'node:fs';
process.argv.push(...readFileSync('words.txt', 'utf8').trim().split(' '));
await import(${JSON.stringify(plainServerPath)});
`;

/** Creates a repository in which `main` has the words `one two` and the change has others. */
async function createRepository(
  words: string,
  { evals = writeCase('one') + writeCase('two', false), baseWords = 'one two' } = {},
) {
  const workspace = await createWorkspace({
    'x.evals.yaml': writeCase('one') + writeCase('two', false),
    'server.mjs': launcher,
    'words.txt': baseWords,
    'setup.mjs': "import { appendFileSync } from 'node:fs';\nappendFileSync('words.txt', ' two');\n",
  });
  const { path } = workspace;
  git(path, 'init', '-q', '--template=', '-b', 'main');
  git(path, 'add', '.');
  git(path, 'commit', '-q', '-m', 'One');
  git(path, 'switch', '-q', '-c', 'change');
  await writeFile(join(path, 'words.txt'), words);
  await writeFile(join(path, 'x.evals.yaml'), evals);
  git(path, 'commit', '-q', '-a', '--allow-empty', '-m', 'Two');
  return workspace;
}

async function compare(
  workspace: Workspace,
  inputs: GateInputs = {},
  {
    signal = new AbortController().signal,
    environment: variables = {},
  }: { signal?: AbortSignal; environment?: Record<string, string> } = {},
) {
  const environment = { TMPDIR: workspace.path, ...variables };
  const result = await runEmbeddedGate(
    workspace,
    {
      'server-command': `${process.execPath} server.mjs`,
      base: 'git',
      'base-ref': 'main',
      'min-pass-rate': '30%',
      ...inputs,
    },
    { environment, signal },
  );
  expect(git(workspace.path, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  const directory = result.plan.base?.checkout?.directory ?? null;
  expect(directory !== null && existsSync(directory)).toBe(false);
  return result;
}

// Several gates in one test take long on a busy machine.
describe('base: git', () => {
  it('checks the merge base out, sets it up, compares with it, and leaves nothing', async () => {
    await using workspace = await createRepository('one', {
      evals: writeCase('one') + writeCase('two', false) + writeCase('new', false),
      baseWords: 'one',
    });
    const setup = `${process.execPath} setup.mjs`;
    const { report, exitCode } = await compare(workspace, { 'base-setup': setup });
    const { baseComparison } = report;
    expect(baseComparison?.problem).toBeNull();
    expect(baseComparison?.commit).toBe(git(workspace.path, 'rev-parse', 'main').trim());
    expect(baseComparison?.cases.filter(({ isWorse }) => isWorse).map(({ title }) => title)).toEqual(['Says two']);
    expect(baseComparison?.newCases).toBe(1);
    expect(exitCode).toBe(1);
  });

  it('takes results of the same commit from its cache, and starts no server of the base then', async () => {
    await using workspace = await createRepository('one two');
    const inputs = { base: 'git\ncache=kept', 'base-setup': `${process.execPath} -e 0` };
    const first = await compare(workspace, inputs);
    expect(first.report.results[0]?.base?.cases.map(({ cached }) => cached)).toEqual([0, 0]);
    const second = await compare(workspace, { ...inputs });
    expect(second.report.results[0]?.base?.cases.map(({ base, cached }) => [base, cached])).toEqual([
      ['p', 1],
      ['p', 1],
    ]);
    expect(first.infos.join('\n')).toContain('The server of the base is ready');
    expect(second.infos.join('\n')).not.toContain('The server of the base is ready');
    const [name = ''] = readdirSync(join(workspace.path, 'kept'));
    await writeFile(join(workspace.path, 'kept', name), '{"kind": "something else"}');
    const third = await compare(workspace, inputs);
    expect(third.warnings.join('\n')).toContain('holds no results of this base');
    expect(third.report.results[0]?.base?.cases.map(({ cached }) => cached)).toEqual([0, 0]);
    expect(await readFile(join(workspace.path, 'kept', name), 'utf8')).toContain('mcp-eval-ci base results');
    expect([first, second, third].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });

  it('takes no results from a file that the change brings along', async () => {
    await using workspace = await createRepository('one two');
    const inputs = { base: 'git\ncache=kept', 'base-setup': `${process.execPath} -e 0` };
    await compare(workspace, inputs);
    git(workspace.path, 'switch', '-q', '--detach');
    git(workspace.path, 'add', 'kept');
    git(workspace.path, 'commit', '-q', '-m', 'Three');
    await symlink('kept', join(workspace.path, 'link'));
    for (const directory of ['kept', 'link']) {
      const { report, warnings } = await compare(workspace, { ...inputs, base: `git\ncache=${directory}` });
      expect(warnings.join('\n')).toContain('is a file of the repository and no cache');
      expect(report.results[0]?.base?.cases.map(({ cached }) => cached)).toEqual([0, 0]);
    }
  });

  it('uses its cache in a pull request only where it is signed', async () => {
    await using workspace = await createRepository('one');
    const environment = await describePullRequest(workspace, git(workspace.path, 'rev-parse', 'main').trim());
    const inputs = { base: 'git\ncache=kept', 'base-ref': '', 'base-setup': `${process.execPath} -e 0` };
    const list = ({ report }: Awaited<ReturnType<typeof compare>>) =>
      report.results[0]?.base?.cases.map(({ base, cached }) => [base.charAt(0), cached]);
    const unsigned = await compare(workspace, inputs, { environment });
    expect(unsigned.infos.join('\n')).toContain('set `base-cache-key`');
    expect(existsSync(join(workspace.path, 'kept'))).toBe(false);
    const signed = await compare(workspace, { ...inputs, 'base-cache-key': 'a key' }, { environment });
    const again = await compare(workspace, { ...inputs, 'base-cache-key': 'a key' }, { environment });
    expect([signed, again].map(list)).toEqual([
      [
        ['p', 0],
        ['p', 0],
      ],
      [
        ['p', 1],
        ['p', 1],
      ],
    ]);
    // Makes the kept results of the base worse, so that the change seems as good.
    const [name = ''] = readdirSync(join(workspace.path, 'kept'));
    const file = join(workspace.path, 'kept', name);
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"marks":"p"', '"marks":"f"'));
    const forged = await compare(workspace, { ...inputs, 'base-cache-key': 'a key' }, { environment });
    expect(forged.warnings.join('\n')).toContain('is not signed with `base-cache-key`');
    expect(list(forged)).toEqual([
      ['p', 0],
      ['p', 0],
    ]);
    expect([unsigned, signed, again, forged].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ['auto', 'EROFS', 1],
    ['off', 'written', 0],
  ])('with sandbox %s, a change that spoils the base finds it %s', async (sandbox, outcome, exitCode) => {
    if (sandbox === 'auto' && !hasSandbox) return;
    await using workspace = await createRepository('one');
    // Removes a word of the base before it starts, so that it seems no better than the change.
    const spoil = `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
const found = [];
const temporary = ${JSON.stringify(tmpdir())};
const base = temporary + '/' + readdirSync(temporary).find((name) => name.startsWith('${baseTreePrefix}${process.pid}-'));
mkdirSync('kept', { recursive: true });
for (const path of [base + '/words.txt', 'kept/forged.json']) {
  try { writeFileSync(path, 'one'); found.push('written'); } catch (error) { found.push(error.code); }
}
writeFileSync('found.json', JSON.stringify(found));
`;
    await workspace.write('server.mjs', spoil + launcher.replace("import { readFileSync } from 'node:fs';\n", ''));
    const result = await compare(workspace, { base: 'git\ncache=kept', sandbox });
    expect(JSON.parse(await workspace.read('found.json'))).toEqual([outcome, outcome]);
    expect(result.report.baseComparison?.problem).toBeNull();
    expect(result.exitCode).toBe(exitCode);
  });

  it('leaves the comparison out when the setup fails, with the command and the exit code', async () => {
    await using workspace = await createRepository('one');
    const { report, exitCode } = await compare(workspace, {
      'base-setup': `${process.execPath} -e process.exit(7)`,
    });
    expect(report.baseComparison?.problem).toContain('process.exit(7)` failed: exit code 7.');
    expect(exitCode).toBe(3);
  });

  it('leaves nothing when it is cancelled while the base is set up', async () => {
    await using workspace = await createRepository('one two');
    const started = join(workspace.path, 'started');
    const setup = join(workspace.path, 'wait.mjs');
    await writeFile(
      setup,
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(started)}, '');\nsetInterval(() => {}, 1000);\n`,
    );
    const cancel = new AbortController();
    const comparing = compare(workspace, { 'base-setup': `${process.execPath} ${setup}` }, cancel);
    await expect.poll(() => existsSync(started)).toBe(true);
    cancel.abort();
    const { report } = await comparing;
    expect(report.verdict.outcome).toBe('inconclusive');
  });

  it('leaves the comparison out where git does not know the branch', async () => {
    await using workspace = await createRepository('one two');
    const { report, exitCode } = await compare(workspace, { 'base-ref': 'elsewhere' });
    expect(report.baseComparison?.problem).toContain('The commit of elsewhere is not here.');
    expect(exitCode).toBe(3);
  });

  it('refuses a command that names the checkout of the change by an absolute path', async () => {
    await using workspace = await createRepository('one two');
    const command = `${process.execPath} ${join(workspace.path, 'server.mjs')}`;
    await expect(compare(workspace, { 'server-command': command })).rejects.toThrow('absolute path');
  });
});

describe('openCheckout', () => {
  it('removes the directories of gates that were killed, and no other one', async () => {
    await using workspace = await createRepository('one two');
    const { path: repository } = workspace;
    const temporary = join(repository, 'elsewhere');
    // No process has such a high id.
    const names = { abandoned: `${baseTreePrefix}4194999-a`, used: `${baseTreePrefix}${process.pid}-b`, other: 'own' };
    for (const name of Object.values(names)) await mkdir(join(temporary, name), { recursive: true });
    const commit = git(repository, 'rev-parse', 'main').trim();
    const directory = join(temporary, `${baseTreePrefix}${process.pid}-c`);
    const { signal } = new AbortController();
    {
      await using _checkout = await openCheckout({ commit, repository, directory }, { logger: silentLogger, signal });
      expect(await readFile(join(directory, 'words.txt'), 'utf8')).toBe('one two');
      expect(existsSync(join(directory, '.git'))).toBe(false);
    }
    expect(readdirSync(temporary).toSorted()).toEqual([names.used, names.other].toSorted());
  });

  it('leaves nothing when it is cancelled', async () => {
    await using workspace = await createRepository('one two');
    const { path: repository } = workspace;
    const directory = join(repository, `${baseTreePrefix}${process.pid}-d`);
    const commit = git(repository, 'rev-parse', 'main').trim();
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(openCheckout({ commit, repository, directory }, { logger: silentLogger, signal })).rejects.toThrow(
      'stopped',
    );
    expect(existsSync(directory)).toBe(false);
  });
});
