import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { exploredServerPath } from '../support/explore.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { readExampleInputs, readWorkflow } from '../support/runner/example-workflow.ts';
import { runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { listDocumentedSteps } from '../support/text/documented-commands.ts';
import { createWorkspace } from '../support/workspace.ts';

// Runs the commands of the README in order, as a newcomer would in a repository with a built server. `npx` finds the command in the
// directory of `npm install`, and git pushes to a local repository.

const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
const firstUse = readme.slice(readme.indexOf('## First use'), readme.indexOf('## Results'));
const commands = listDocumentedSteps(firstUse).flatMap((step) => (step.kind === 'command' ? [step.command] : []));

const environment = {
  ...listChildVariables(),
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** Writes a server in which this tool has another name. */
function renameTool(tool: string): string {
  return `process.stdin.pipe(require('node:child_process').spawn(process.execPath, [${JSON.stringify(exploredServerPath)}, 'words'], {
  stdio: ['pipe', 'pipe', 'inherit'],
}).on('spawn', function () {
  this.stdout.on('data', (data) => process.stdout.write(String(data).replaceAll('"${tool}"', '"renamed"')));
  this.on('exit', () => process.exit());
}).stdin);\n`;
}

describe('the first use of the README', () => {
  it('has four commands, which lead to a workflow that passes the server and fails one that lost a tool', async () => {
    expect(commands).toHaveLength(4);
    await using remote = await createWorkspace();
    await using workspace = await createWorkspace({
      'package.json': '{"name": "server", "private": true}',
      // A server that starts fast: test/cli/init.test.ts has one of another author.
      'build/index.js': `process.argv.push('words');\nimport(${JSON.stringify(exploredServerPath)});\n`,
      '.gitignore': 'node_modules\nmcp-eval-report\n',
    });
    const { path: cwd } = workspace;
    const bin = join(cwd, 'node_modules/.bin');
    await mkdir(bin, { recursive: true });
    await workspace.write(
      'node_modules/.bin/mcp-eval-ci',
      `#!/bin/sh\n[ "$1" = run ] && set -- "$@" --sandbox off\nexec "${process.execPath}" "${commandPath}" "$@"\n`,
    );
    await chmod(join(bin, 'mcp-eval-ci'), 0o755);
    const shell = async (command: string) =>
      await promisify(execFile)('sh', ['-ec', command], { cwd, env: environment });
    await shell(`git init --quiet --bare ${remote.path} && git init --quiet && git remote add origin ${remote.path}`);
    await shell('git add . && git commit --quiet --message Server');

    // Each command rejects unless it exits with 0.
    const outputs: string[] = [];
    for (const command of commands) outputs.push((await shell(command)).stdout);
    for (const file of ['evals/surface.json', '.github/workflows/evals.yml']) {
      expect(outputs[0]).toContain(`${file} (created`);
      expect(firstUse).toContain(file);
    }
    expect(outputs[1]).toMatch(/^✓ Passed: /);

    const { stdout } = await shell(`git -C ${remote.path} show evals:.github/workflows/evals.yml`);
    const job = readWorkflow(stdout)['evals'];
    if (job === undefined) throw new Error('The workflow has no job `evals`.');
    const inputs = readExampleInputs(job, {});
    const green = await runActionInTest({ workspace: cwd, inputs });
    expect(green).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
    await workspace.write('build/index.js', renameTool('shout'));
    const red = await runAction({ workspace: cwd, inputs });
    expect(red).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' } });
    expect(red.log).toContain('shout');
  });
});
