import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createJobOutput } from '../../../src/action/logger.ts';
import { runMain } from '../../../src/action/main.ts';
import { joinSupervisor } from '../../../src/supervisor/supervised.ts';
import { runBorrowed, type Surroundings } from '../process/borrowed-process.ts';
import { actionPath } from '../process/bundled-command.ts';
import { listChildVariables } from '../process/child-environment.ts';
import { addingServerPath, plainServer, type Workspace } from '../workspace.ts';
import { createCommandReader, type RunnerCommand } from './runner-commands.ts';

interface Stage {
  exitCode: number | null;
  stdout: string;
  commands: RunnerCommand[];
}

type Action = 'index' | 'merge' | 'publish';

/** Gives the action its inputs and the files of the runner, which a test may spoil by `env`. */
async function prepare(
  workspace: Workspace,
  inputs: Record<string, string>,
  env: Record<string, string>,
  action: Action,
): Promise<Required<Pick<Surroundings, 'cwd' | 'env' | 'script'>>> {
  const files = { GITHUB_OUTPUT: 'output', GITHUB_STATE: 'state', GITHUB_STEP_SUMMARY: 'summary' };
  const fileVariables = Object.entries(files).map(([name, file]) => [name, join(workspace.path, '.runner', file)]);
  await mkdir(join(workspace.path, '.runner'), { recursive: true });
  for (const file of Object.values(files)) await writeFile(join(workspace.path, '.runner', file), '');
  const server = { 'server-command': `node ${addingServerPath}`, ...plainServer };
  const inputVariables = Object.entries({ ...server, ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ]);
  const variables = { ...Object.fromEntries([...fileVariables, ...inputVariables]), ...env };
  // The name of the file that is started says which action it is.
  return { cwd: workspace.path, env: variables, script: join(workspace.path, '.runner', `${action}.js`) };
}

/** Starts the action as the runner does, in a process of its own. */
export async function startMain(
  workspace: Workspace,
  inputs: Record<string, string>,
  env: Record<string, string> = {},
  action: Action = 'index',
): Promise<Stage> {
  const { script, ...prepared } = await prepare(workspace, inputs, env, action);
  await rm(script, { force: true });
  await symlink(actionPath, script);
  const options = { cwd: prepared.cwd, env: { ...listChildVariables(), ...prepared.env } };
  return await new Promise((resolve) => {
    execFile(process.execPath, [script], options, (error, stdout) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, commands: listCommands(stdout) });
    });
  });
}

/** Runs the main step within the test, for tests that are not about its process. */
export async function runMainInTest(
  workspace: Workspace,
  inputs: Record<string, string>,
  env: Record<string, string> = {},
  action: Action = 'index',
): Promise<Stage> {
  const surroundings = await prepare(workspace, inputs, env, action);
  const { exitCode, stdout } = await runBorrowed(surroundings, async () => {
    const supervision = joinSupervisor();
    return await supervision.done(await runMain(createJobOutput(), supervision));
  });
  return { exitCode, stdout, commands: listCommands(stdout) };
}

function listCommands(stdout: string): RunnerCommand[] {
  const reader = createCommandReader();
  return stdout.split('\n').flatMap((line) => {
    const read = reader.readLine(line);
    return read.kind === 'command' ? [read.command] : [];
  });
}
