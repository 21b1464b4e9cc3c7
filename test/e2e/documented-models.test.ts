import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { testProviderKey } from '../support/models/model-source.ts';
import { openScriptedProvider, type ScriptedProvider } from '../support/models/scripted-provider.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { createPullRequestEvent, createPullRequestTargetEvent } from '../support/runner/events.ts';
import {
  readExampleInputs,
  readExampleJob,
  readExampleScript,
  readWorkflow,
} from '../support/runner/example-workflow.ts';
import { type ActionRun, runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { filesystemServerPath } from '../support/servers/bundled-servers.ts';
import { findUnprinted, listDocumentedSteps } from '../support/text/documented-commands.ts';
import { judgeBlockKind, listYamlBlocks } from '../support/text/yaml-blocks.ts';
import { createWorkspace, plainServer, type Workspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/models.md'), 'utf8');
const [path = '', reference = ''] = page.split(/^(?=## Models and providers$)/m);
const steps = listDocumentedSteps(path);
const commands = steps.filter((step) => step.kind === 'command');
const files = new Map(steps.flatMap((step) => (step.kind === 'file' ? [[step.path, step.text] as const] : [])));
const workflow = files.get('.github/workflows/model-evals.yml') ?? '';

const ignored = 'node_modules\nmcp-eval-report\n';

let provider: ScriptedProvider;

/** A provider that reads the note and repeats it, as each prompt of the page asks. In a host, it takes the host's name of the tool. */
beforeAll(async () => {
  provider = await openScriptedProvider({
    format: 'anthropic',
    answers: ({ body }) => {
      const last = Array.isArray(body['messages']) ? JSON.stringify(body['messages'].at(-1)) : '';
      const names = JSON.stringify(body['tools'] ?? []).matchAll(/"name":"(\w*read_text_file)"/g);
      const [name] = [...names].map((match) => match[1] ?? '');
      const isSearching = name === undefined && last.includes('"role":"user"') && !last.includes('"tool_result"');
      if (isSearching) return { toolCalls: [{ name: 'ToolSearch', arguments: { query: 'read text file' } }] };
      return last.includes('"tool_result"') && !last.includes('inputSchema')
        ? { text: `The note says: ${/Buy [^.]*\./.exec(last)?.[0]}`, usage: { input: 2805, output: 21 } }
        : {
            toolCalls: [{ name: name ?? 'read_text_file', arguments: { path: 'notes/groceries.md' } }],
            usage: { input: 2710, output: 68 },
          };
    },
  });
});

afterAll(() => provider[Symbol.asyncDispose]());

/** Runs without a sandbox, because each start in one takes a dozen more processes. */
const runOpenly = 'case "$1" in run | record) name=$1; shift; set -- "$name" --sandbox off "$@" ;; esac';

/** Creates the programs that `npm install` and `npm ci` would install. */
async function installPrograms({ path }: Pick<Workspace, 'path'>): Promise<void> {
  const programs = {
    'node_modules/.bin/mcp-eval-ci': `${runOpenly}\nexec node ${commandPath} "$@"`,
    'node_modules/.bin/mcp-server-filesystem': `exec node ${filesystemServerPath} "$@"`,
    'node_modules/path/npx': 'exec "node_modules/.bin/$@"',
    'node_modules/path/npm': '[ "$1" = install ]',
  };
  for (const [name, script] of Object.entries(programs)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(path, name), 0o755);
  }
}

/** Types commands into one shell, and returns the output of each. */
async function typeCommands(
  { path }: Pick<Workspace, 'path'>,
  commands: readonly string[],
  env: Record<string, string> = {},
): Promise<string[]> {
  const { PATH = '', ...variables } = listChildVariables();
  const end = '--- end of the command ---';
  const child = spawn('bash', ['-c', ['exec 2>&1', ...commands].join(`\necho "${end}"\n`)], {
    cwd: path,
    env: {
      ...variables,
      PATH: `${path}/node_modules/path:${PATH}`,
      ANTHROPIC_BASE_URL: provider.baseUrl,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Reader',
      GIT_AUTHOR_EMAIL: 'reader@example.com',
      GIT_COMMITTER_NAME: 'Reader',
      GIT_COMMITTER_EMAIL: 'reader@example.com',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await readText(child.stdout)).split(`${end}\n`).slice(1);
}

describe('the five minutes of docs/models.md', () => {
  async function followPage(workspace: Workspace): Promise<string[]> {
    await installPrograms(workspace);
    const typed = commands.map(({ command }) => command.replace('=…', `=${testProviderKey}`));
    const [, ...printed] = await typeCommands(workspace, ['git init --quiet .', ...typed]);
    return printed;
  }

  /** Runs the workflow of the page without a key, as in a pull request of a fork. */
  async function runFork(
    run: typeof runAction,
    origin: Workspace,
    change: (text: string) => string = (text) => text,
  ): Promise<ActionRun> {
    await using fork = await createWorkspace();
    await typeCommands(fork, [`git clone --quiet "${origin.path}" clone`]);
    const clone = join(fork.path, 'clone');
    await installPrograms({ path: clone });
    const evals = join(clone, 'evals/notes.evals.yaml');
    await writeFile(evals, change(await readFile(evals, 'utf8')));
    return await run({
      workspace: clone,
      inputs: { ...plainServer, ...readExampleInputs(readWorkflow(workflow)['evals'] ?? { steps: [] }, {}) },
      event: createPullRequestEvent({ isFork: true }),
      env: { ANTHROPIC_BASE_URL: provider.baseUrl },
    });
  }

  it('print what the page shows, and gate a fork that has no key', async () => {
    await using workspace = await createWorkspace({ '.gitignore': ignored, ...Object.fromEntries(files) });
    const printed = await followPage(workspace);
    const unprinted = commands.flatMap(({ command, output }, index) => {
      const missing = findUnprinted(output, printed[index] ?? '');
      return missing === null ? [] : [{ command, missing, printed: printed[index] }];
    });
    expect(unprinted).toEqual([]);
    // Two live runs of two iterations, and the second call of both iterations after the change.
    expect(provider.requests).toHaveLength(10);
    expect(printed.join('')).not.toContain(testProviderKey);

    const fork = await runFork(runAction, workspace);
    expect(fork).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' }, problems: [], leftovers: [] });
    const changed = await runFork(runActionInTest, workspace, (text) =>
      text.replace('What should I buy?', 'What must I buy?'),
    );
    expect(changed).toMatchObject({ exitCode: 3, outputs: { verdict: 'inconclusive' } });
    expect(changed.log).toContain('The prompt changed');
    expect(provider.requests).toHaveLength(10);
  });

  it('end with the workflow of the examples', () => {
    const { 'server-command': _, ...shown } = readExampleInputs(readWorkflow(workflow)['evals'] ?? { steps: [] }, {});
    expect(readExampleInputs(readExampleJob('model-evals.yml', 'evals'), {})).toMatchObject(shown);
  });
});

describe('the evals in the reference of docs/models.md', () => {
  it('pass with a model that reads the note', async () => {
    const blocks = listYamlBlocks('docs/models.md', reference).filter(({ text }) => judgeBlockKind(text) === 'suite');
    expect(blocks.length).toBeGreaterThan(2);
    await using workspace = await createWorkspace({
      ...Object.fromEntries(blocks.map(({ text }, index) => [`${index}.evals.yaml`, text])),
      'notes/groceries.md': 'Buy oat milk and rye bread.\n',
    });
    const { report } = await runEmbeddedGate(
      workspace,
      {
        'server-command': `node ${filesystemServerPath} ${workspace.path}`,
        'server-cwd': workspace.path,
        recordings: 'live',
      },
      { environment: { ANTHROPIC_API_KEY: testProviderKey, ANTHROPIC_BASE_URL: provider.baseUrl } },
    );
    expect(report.verdict).toMatchObject({ outcome: 'passed' });
    expect(report.suites).toHaveLength(blocks.length);
  });
});

describe('record-nightly.yml', () => {
  const record = readExampleScript(readExampleJob('record-nightly.yml', 'record'), 'mcp-eval-ci record');
  const propose = readExampleScript(readExampleJob('record-nightly.yml', 'propose'), 'gh pr create');
  /** Answers like GitHub's command, and logs its arguments. */
  const gh = '#!/bin/sh\necho "$*" >> ../gh.log\ncase "$*" in "pr list"*) echo "$OPEN" ;; esac\n';

  /** Runs the second job in a checkout of the repository, with the recordings of the first one. */
  async function proposeRecordings(directory: string, { name, open }: { name: string; open: number }) {
    await typeCommands({ path: directory }, [`git clone --quiet origin.git ${name}`]);
    const checkout = join(directory, name);
    await cp(join(directory, 'recorded/evals/recordings'), join(checkout, 'evals/recordings'), { recursive: true });
    await mkdir(join(checkout, 'node_modules/path'), { recursive: true });
    await writeFile(join(checkout, 'node_modules/path/gh'), gh, { mode: 0o755 });
    await writeFile(join(directory, 'gh.log'), '');
    const variables = { OPEN: String(open), BASE: 'main', GH_TOKEN: 'unused' };
    const [printed] = await typeCommands({ path: checkout }, [`(set -e\n${propose})`, 'true'], variables);
    return { printed, asked: await readFile(join(directory, 'gh.log'), 'utf8') };
  }

  it('records what is missing, and opens one pull request with it', async () => {
    await using workspace = await createWorkspace({
      'recorded/.gitignore': ignored,
      'recorded/notes/groceries.md': files.get('notes/groceries.md') ?? '',
      'recorded/evals/notes.evals.yaml': files.get('evals/notes.evals.yaml') ?? '',
      'recorded/evals/record-policy.yaml': 'recordings: { maximumAge: 20d }\n',
      'recorded/build/index.js': `process.argv.push('.');\nimport(${JSON.stringify(filesystemServerPath)});\n`,
    });
    const directory = workspace.path;
    const recorded = { path: join(directory, 'recorded') };
    await installPrograms(recorded);
    await typeCommands(recorded, [
      'git init --quiet --initial-branch main . && git add . && git commit --quiet -m First',
      'git clone --quiet --bare . ../origin.git',
    ]);
    const [log] = await typeCommands(recorded, [record, 'true'], { ANTHROPIC_API_KEY: testProviderKey });
    expect(log).toContain('Wrote 1 recording');

    const first = await proposeRecordings(directory, { name: 'first', open: 0 });
    expect(first.asked.split('\n').map((line) => line.split(' --')[0])).toEqual([
      'auth setup-git',
      'pr list',
      'pr create',
      '',
    ]);
    const second = await proposeRecordings(directory, { name: 'second', open: 1 });
    expect(second.asked).not.toContain('pr create');
    const [listed = ''] = await typeCommands({ path: directory }, [
      'git -C origin.git diff --name-only main eval-recordings',
      'git -C origin.git branch --force main eval-recordings',
    ]);
    expect(listed.trimEnd().split('\n')).toEqual([
      'evals/recordings/notes/reads-the-note-it-is-asked-about.anthropic-claude-haiku-4-5.jsonl',
      'evals/recordings/notes/tools.jsonl',
    ]);

    // After the merge, there is nothing to propose.
    const merged = await proposeRecordings(directory, { name: 'merged', open: 0 });
    expect(merged).toEqual({ printed: 'Every recording fits.\n', asked: '' });
  });
});

describe('record-fork.yml', () => {
  const record = readExampleJob('record-fork.yml', 'record');
  const answer = readExampleScript(readExampleJob('record-fork.yml', 'answer'), 'gh pr comment');
  const question = 'What must I buy?';

  it('records what no longer fits with the key, and then the gate of the fork replays it', async () => {
    const evals = files.get('evals/notes.evals.yaml') ?? '';
    await using workspace = await createWorkspace({
      '.gitignore': ignored,
      'notes/groceries.md': files.get('notes/groceries.md') ?? '',
      'evals/notes.evals.yaml': evals,
      'evals/policy.yaml': 'budgets: { modelCalls: 20 }\n',
      'build/index.js': `process.argv.push('.');\nimport(${JSON.stringify(filesystemServerPath)});\n`,
    });
    const [printed = ''] = await typeCommands(workspace, [
      'git init --quiet --initial-branch main . && git add . && git commit --quiet -m First && git rev-parse HEAD',
      'true',
    ]);
    const baseCommit = printed.trim();
    await workspace.write('evals/notes.evals.yaml', evals.replace('What should I buy?', question));
    const env = { ANTHROPIC_BASE_URL: provider.baseUrl };
    const replay = async () =>
      await runActionInTest({
        workspace: workspace.path,
        inputs: { ...plainServer, ...readExampleInputs(readExampleJob('model-evals.yml', 'evals'), {}) },
        event: createPullRequestEvent({ isFork: true }),
        env,
      });
    expect(await replay()).toMatchObject({ exitCode: 3, outputs: { verdict: 'inconclusive' } });

    // The sandbox and the setting of the machine that it needs are tested with two-jobs.yml.
    const {
      sandbox,
      'enable-sandbox': isEnabled,
      'sandbox-network': network,
      ...inputs
    } = readExampleInputs(record, {});
    expect([sandbox, isEnabled, network]).toEqual(['required', 'true', 'off']);
    const recorded = await runAction({
      workspace: workspace.path,
      inputs: { ...plainServer, ...inputs },
      event: createPullRequestTargetEvent({ isFork: true, baseCommit }),
      env: { ...env, ANTHROPIC_API_KEY: testProviderKey },
      secrets: [testProviderKey],
    });
    expect(recorded).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });

    // Takes the directory of the artifact to where the answer of the workflow says.
    const kept = record.steps.find(({ with: given }) => given?.['name'] === 'eval-recordings')?.with?.['path'] ?? '';
    expect(answer).toContain('--dir evals/recordings');
    await cp(join(workspace.path, kept), join(workspace.path, 'evals/recordings'), { recursive: true });
    expect(await replay()).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
  });

  it.each([
    ['123', 'gh run download 9 --repo o/r --name eval-recordings --dir evals/recordings'],
    ['', 'Every recording fits commit abc'],
  ])('answers with the command, or that nothing was recorded (%j)', async (artifact, expected) => {
    await using workspace = await createWorkspace();
    await mkdir(join(workspace.path, 'node_modules/path'), { recursive: true });
    await writeFile(join(workspace.path, 'node_modules/path/gh'), '#!/bin/sh\necho "gh $*"\n', { mode: 0o755 });
    const variables = {
      NUMBER: '7',
      COMMIT: 'abc',
      RECORDINGS: artifact,
      GITHUB_RUN_ID: '9',
      GITHUB_REPOSITORY: 'o/r',
    };
    const [printed] = await typeCommands(workspace, [`(set -e\n${answer})`, 'true'], variables);
    expect(printed).toContain(expected);
    expect(printed).toContain('gh pr edit 7 --remove-label record models');
  });
});
