import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { addTools, runBash, toolsDirectory } from '../support/runner/example-pipeline.ts';
import { readExampleInputs, readExampleJob, readExampleScript } from '../support/runner/example-workflow.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { startContainerDaemon } from '../support/servers/container-daemon.ts';
import { addingServerPath, createWorkspace, plainServer, type Workspace } from '../support/workspace.ts';

// Jobs of examples/workflows for servers in other languages, in containers, and for several servers. Bash runs the build steps, with
// stand-ins for the build tools. The action runs the gate in this process. For containers, which must be removed, the command also runs the
// gate, with the inputs as flags.

const writeEvals = (message: string, suite = 'Everything') => `suite: ${suite}
cases:
  - title: Echoes a message
    steps:
      - toolCall: echo
        arguments: { message: hello }
      - assert: { toolResultContains: "Echo: ${message}" }
`;
const startServer = `exec '${process.execPath}' '${addingServerPath}'`;

interface Example {
  file: string;
  job?: string;
  values?: Readonly<Record<string, string>>;
}

function readInputs({ file, job = 'evals', values = {} }: Example): Record<string, string> {
  return readExampleInputs(readExampleJob(file, job), values);
}

/** Runs the gate of a job in its own process, with its inputs as flags and its evals files as arguments. */
function runGateCommand(workspace: Workspace, example: Example, env: Record<string, string>, stop?: AbortSignal) {
  const { evals = '', ...inputs } = readInputs(example);
  const flags = Object.entries(inputs).flatMap(([name, value]) => [`--${name}`, value]);
  return runCommand(['run', ...flags, ...evals.trim().split(/\s+/)], {
    cwd: workspace.path,
    env,
    ...(stop !== undefined && { stop }),
  });
}

/** Runs the gate of a job. `server` has inputs of the server that the job does not set. */
function runGate(
  workspace: Workspace,
  example: Example,
  { PATH = process.env['PATH'] ?? '', server = plainServer }: { PATH?: string; server?: Record<string, string> } = {},
) {
  const env = { PATH: `${join(workspace.path, toolsDirectory)}:${PATH}` };
  return runActionInTest({ workspace: workspace.path, inputs: { ...server, ...readInputs(example) }, env });
}

function runStep(workspace: Workspace, { file, job = 'evals' }: Example, command: string, env = {}) {
  const script = readExampleScript(readExampleJob(file, job), command);
  return runBash(script, { flags: ['-e'], cwd: workspace.path, env });
}

describe('a server in another language', () => {
  /** Creates a build tool that writes an executable for these arguments and refuses others. */
  const build = (words: string, target: string) =>
    `[ "$*" = "${words}" ] || exit 64\nmkdir -p "$(dirname ${target})"\nprintf '#!/bin/sh\\n%s\\n' "${startServer}" > ${target}\nchmod +x ${target}`;
  const examples: Array<[file: string, job: string, tools: Record<string, string>, builds: string]> = [
    ['go.yml', 'evals', { go: build('build -o build/server ./cmd/server', 'build/server') }, 'go build'],
    ['rust.yml', 'evals', { cargo: build('build --release --locked', 'target/release/your-server') }, 'cargo build'],
    [
      'python.yml',
      'checkout',
      {
        uv: `case "$*" in "sync --locked") : > synced ;; "run --no-sync your-server") [ -e synced ] && ${startServer} ;; esac\nexit 64`.replace(
          ': > synced ;;',
          ': > synced; exit 0 ;;',
        ),
      },
      'uv sync',
    ],
    [
      'python.yml',
      'released',
      {
        uvx: `case "$*" in *--help) exit 0 ;; "mcp-server-time==2026.10.19 --local-timezone UTC") ${startServer} ;; esac\nexit 64`,
      },
      'uvx',
    ],
  ];

  it.each(examples)('%s, %s: passes and fails by its evals', async (file, job, tools, builds) => {
    await using workspace = await createWorkspace({ 'evals/x.evals.yaml': writeEvals('hello') });
    await addTools(workspace, tools);
    expect(await runStep(workspace, { file, job }, builds)).toMatchObject({ exitCode: 0 });
    expect((await runGate(workspace, { file, job })).exitCode).toBe(0);
    await workspace.write('evals/x.evals.yaml', writeEvals('goodbye'));
    expect((await runGate(workspace, { file, job })).exitCode).toBe(1);
  });
});

describe('docker.yml', () => {
  async function openRepository() {
    const daemon = await startContainerDaemon({ entrypoint: [process.execPath, addingServerPath] });
    const workspace = await createWorkspace({ 'evals/x.evals.yaml': writeEvals('hello') });
    return { daemon, workspace, env: { PATH: `${daemon.directory}:${process.env['PATH']}` } };
  }
  const listFiles = async ({ path }: Workspace) => (await readdir(path)).filter((name) => name.includes('.cid'));

  it('passes and fails by its evals, and leaves no container', async () => {
    const { daemon, workspace, env } = await openRepository();
    await using _daemon = daemon;
    await using _workspace = workspace;
    expect((await runGateCommand(workspace, { file: 'docker.yml' }, env)).exitCode).toBe(0);
    await workspace.write('evals/x.evals.yaml', writeEvals('goodbye'));
    expect((await runGate(workspace, { file: 'docker.yml' }, { ...env, server: {} })).exitCode).toBe(1);
    expect([daemon.started() > 2, daemon.list(), await listFiles(workspace)]).toEqual([true, [], []]);
  });

  it('removes the container of a job that was cancelled while the server ignores the end of its input', async () => {
    const { daemon, workspace, env } = await openRepository();
    await using _daemon = daemon;
    await using _workspace = workspace;
    const call = 'toolCall: trigger-long-running-operation\n        arguments: { duration: 60, steps: 60 }';
    await workspace.write('evals/x.evals.yaml', writeEvals('hello').replace(/toolCall: echo\n.*/, call));
    const abort = new AbortController();
    const gate = runGateCommand(workspace, { file: 'docker.yml' }, env, abort.signal);
    // The first container answers the handshake.
    await daemon.waitForStart(2);
    daemon.holdInputs();
    abort.abort('SIGINT');
    expect((await gate).exitCode).toBe(130);
    expect([daemon.list(), await listFiles(workspace)]).toEqual([[], []]);
  });

  it('removes what a killed gate has left in its last step', async () => {
    const { daemon, workspace } = await openRepository();
    await using _daemon = daemon;
    await using _workspace = workspace;
    daemon.holdInputs();
    const words = ['run', '--rm', '--interactive', '--cidfile', 'server.cid.1a2b3c4d', 'image'];
    const client = spawn(join(daemon.directory, 'docker'), words, {
      cwd: workspace.path,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    client.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await once(client.stdout, 'data');
    client.kill('SIGKILL');
    await once(client, 'close');
    expect(daemon.list()).toHaveLength(1);
    await addTools(workspace, { docker: `exec '${daemon.directory}/docker' "$@"` });
    expect(await runStep(workspace, { file: 'docker.yml' }, 'docker rm')).toMatchObject({ exitCode: 0 });
    expect(daemon.list()).toEqual([]);
  });
});

const write = (value: unknown) => JSON.stringify(value, null, 2);

describe('configurations.yml', () => {
  it('tests each configuration with its own evals and its own surface', async () => {
    const node = { command: process.execPath };
    const script = `import(${write(addingServerPath)});\n`;
    await using workspace = await createWorkspace({
      'build/index.js': script,
      '.mcp.json': write({
        mcpServers: {
          'read-only': { ...node, args: ['build/index.js'] },
          full: { ...node, args: ['build/index.js', '--full'] },
        },
      }),
      'evals/common/x.evals.yaml': writeEvals('hello', 'Common'),
      'evals/full/y.evals.yaml': writeEvals('goodbye', 'Full'),
    });
    const update = ['surface', '--mcp-config', '.mcp.json', '--file', 'surface.json', '--update'];
    expect((await runCommand(update, { cwd: workspace.path })).exitCode).toBe(0);
    const matrix = readExampleJob('configurations.yml', 'evals').strategy?.matrix['configuration'];
    expect(matrix).toEqual(['read-only', 'full']);
    const run = async (configuration: string) => {
      const values = { 'matrix.configuration': configuration };
      const { exitCode } = await runGate(workspace, { file: 'configurations.yml', values });
      const { surface, suites } = JSON.parse(await workspace.read('mcp-eval-report/report.json'));
      return [exitCode, surface.configurations[0].name, surface.configurations[0].changes.length, suites.length];
    };
    await mkdir(join(workspace.path, 'evals/read-only'));
    await workspace.write('evals/read-only/z.evals.yaml', writeEvals('hello', 'Read only'));
    expect(await run('read-only')).toEqual([0, 'read-only', 0, 2]);
    expect(await run('full')).toEqual([1, 'full', 0, 2]);
  });
});

describe('monorepo.yml', () => {
  it('tests each package, and fails the whole for a package that failed or has no report', async () => {
    const files = (name: string, message: string) => ({
      [`packages/${name}/build/index.js`]: `import(${write(addingServerPath)});\n`,
      [`packages/${name}/evals/x.evals.yaml`]: writeEvals(message, name),
      [`packages/${name}/evals/policy.yaml`]: 'minimumPassRate: 100%\n',
    });
    await using workspace = await createWorkspace({ ...files('notes', 'hello'), ...files('search', 'goodbye') });
    await addTools(workspace);
    await mkdir(join(workspace.path, 'reports'));
    const matrix = readExampleJob('monorepo.yml', 'evals').strategy?.matrix['package'] ?? [];
    const runPackage = async (name: string) => {
      const { exitCode } = await runGate(workspace, { file: 'monorepo.yml', values: { 'matrix.package': name } });
      await rename(join(workspace.path, 'mcp-eval-report'), join(workspace.path, 'reports', `eval-report-${name}`));
      return exitCode;
    };
    const writeVerdict = async (result: string) => {
      await workspace.write('summary.md', '');
      const env = { PACKAGES: matrix.join(' '), RESULT: result, GITHUB_STEP_SUMMARY: 'summary.md' };
      const { exitCode } = await runStep(workspace, { file: 'monorepo.yml', job: 'verdict' }, 'render', env);
      const titles = (await workspace.read('summary.md')).split('\n').filter((line) => line.startsWith('###'));
      return [exitCode, titles];
    };
    expect(matrix).toEqual(['notes', 'search']);
    expect(await runPackage('notes')).toBe(0);
    expect((await writeVerdict('success'))[0]).toBe(2);
    expect(await runPackage('search')).toBe(1);
    const titles = ['### ✅ Eval gate passed: `notes`', '### ❌ Eval gate failed: `search`'];
    expect(await writeVerdict('failure')).toEqual([1, titles]);
    expect(await writeVerdict('success')).toEqual([0, titles]);
  });
});
