import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWorkspace } from '../support/workspace.ts';
import { judgeBlockKind, listYamlBlocks, wrapSteps } from '../support/text/yaml-blocks.ts';

const root = path.resolve(import.meta.dirname, '../..');
const hasActionlint = spawnSync('actionlint', ['-version']).status === 0;
const hasZizmor = spawnSync('zizmor', ['--version']).status === 0;
const readOnly = 'permissions:\n  contents: read\n';

/** Lists every workflow of the repository and its documents, with a name that shows its origin. */
function listWorkflows(): Map<string, string> {
  const workflows = new Map<string, string>();
  for (const directory of ['.github/workflows', 'examples/workflows']) {
    for (const name of readdirSync(path.join(root, directory)).filter((file) => file.endsWith('.yml'))) {
      workflows.set(name, readFileSync(path.join(root, directory, name), 'utf8'));
    }
  }
  const documents = ['README.md', ...readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`)];
  for (const file of documents.filter((name) => name.endsWith('.md'))) {
    for (const { line, text } of listYamlBlocks(file, readFileSync(path.join(root, file), 'utf8'))) {
      const kind = judgeBlockKind(text);
      const name = `${file.replaceAll(/[^a-z]+/gi, '-')}-line-${line}.yml`;
      if (kind === 'workflow') workflows.set(name, text);
      // The snippet does not include the job around its steps.
      if (kind === 'steps') workflows.set(name, `${wrapSteps(text).trimEnd()}\n${readOnly}`);
    }
  }
  return workflows;
}

/** Runs a linter over these workflows in a separate repository, with this repository's configuration. */
async function lint(workflows: ReadonlyMap<string, string>, [command = '', ...args]: readonly string[]) {
  await using workspace = await createWorkspace();
  const directory = path.join(workspace.path, '.github/workflows');
  await mkdir(directory, { recursive: true });
  // Both linters read the target of `uses: ./`.
  for (const file of ['action.yml', '.github/zizmor.yml']) {
    cpSync(path.join(root, file), path.join(workspace.path, file));
  }
  for (const [name, text] of workflows) await writeFile(path.join(directory, name), text);
  const files = [...workflows.keys()].map((name) => `.github/workflows/${name}`);
  const { status, stdout } = spawnSync(command, [...args, ...files], { cwd: workspace.path, encoding: 'utf8' });
  return { status, stdout };
}

const actionlint = ['actionlint', '-no-color', '-shellcheck=', '-pyflakes='];
const zizmor = [
  'zizmor',
  '--offline',
  '--no-progress',
  '--color=never',
  '--format=plain',
  '--config=.github/zizmor.yml',
];
const careless = new Map([
  ['careless.yml', wrapSteps('- uses: actions/checkout@v7\n- run: echo ${{ github.event.pull_request.title }}\n')],
]);

interface Workflow {
  permissions?: unknown;
  jobs: Record<string, { permissions?: unknown; steps: Array<{ uses?: string; with?: Record<string, unknown> }> }>;
}

/**
 * Lists settings that make a job dangerous if it runs code of a pull request: a token with write permission, or credentials that stay in
 * the checkout.
 */
function listDangers(text: string): string[] {
  const { permissions, jobs } = parse(text) as Workflow;
  return Object.entries(jobs).flatMap(([name, job]) => {
    const starts = job.steps.some((step) => step.with?.['server-command'] !== undefined);
    const granted = JSON.stringify(job.permissions ?? permissions ?? 'write-all');
    const keeps = job.steps.some(
      ({ uses = '', with: inputs = {} }) =>
        uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false,
    );
    return [
      ...(starts && granted.includes('write') ? [`${name} may write: ${granted}`] : []),
      ...(keeps ? [`${name} keeps the credentials of its checkout`] : []),
    ];
  });
}

describe('jobs that start the server', () => {
  it.each([...listWorkflows()])('have no token that may write, and keep no credentials, in %s', (_, text) => {
    expect(listDangers(text)).toEqual([]);
  });

  it('are found where they do', () => {
    const steps = '- uses: actions/checkout@v7\n- uses: your-org/mcp-eval-ci@v1\n  with: { server-command: x }\n';
    expect(listDangers(wrapSteps(steps))).toEqual([
      'evals may write: "write-all"',
      'evals keeps the credentials of its checkout',
    ]);
  });
});

/** Lists secrets that the repository would have to store. Every job has its own token. */
function listSecrets(text: string): string[] {
  return [...text.matchAll(/\bsecrets\b(?!\.GITHUB_TOKEN\b)[\w.[\]'-]*/g)].map(([name]) => name);
}

describe('the workflows of this repository', () => {
  const directory = path.join(root, '.github/workflows');
  it.each(readdirSync(directory))('need no secret in %s', (name) => {
    expect(listSecrets(readFileSync(path.join(directory, name), 'utf8'))).toEqual([]);
  });

  it('would be found to need one', () => {
    expect(listSecrets('a: ${{ secrets.NPM_TOKEN }}\nb: ${{ secrets.GITHUB_TOKEN }}\nsecrets: inherit')).toEqual([
      'secrets.NPM_TOKEN',
      'secrets',
    ]);
  });
});

const note = (isInstalled: boolean) => (isInstalled ? '' : ' (skipped: it is not installed)');

// The linters are separate programs. If one is not installed, its tests are skipped.
describe.skipIf(!hasActionlint)(`actionlint${note(hasActionlint)}`, () => {
  it('finds nothing in the workflows and snippets', async () => {
    expect(await lint(listWorkflows(), actionlint)).toEqual({ status: 0, stdout: '' });
  });

  it('finds a script that a title could write', async () => {
    const { status, stdout } = await lint(careless, actionlint);
    expect([status, stdout]).toEqual([1, expect.stringContaining('is potentially untrusted')]);
  });
});

describe.skipIf(!hasZizmor)(`zizmor${note(hasZizmor)}`, () => {
  it('finds only exceptions of its configuration in the workflows and snippets', async () => {
    const { status, stdout } = await lint(listWorkflows(), zizmor);
    expect({ status, stdout: stdout.replace(/^No findings to report.*/s, '') }).toEqual({ status: 0, stdout: '' });
  });

  it('finds credentials that a checkout keeps, and a token that may write', async () => {
    const { status, stdout } = await lint(careless, zizmor);
    expect(status).not.toBe(0);
    expect(stdout).toContain('artipacked');
    expect(stdout).toContain('excessive-permissions');
  });
});
