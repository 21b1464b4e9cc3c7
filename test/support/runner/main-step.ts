import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createJobOutput } from '../../../src/action/action-logger.ts';
import { runMain } from '../../../src/action/main.ts';
import { joinSupervisor } from '../../../src/supervisor/supervised.ts';
import { runBorrowed, type Surroundings } from '../process/borrowed-process.ts';
import { actionPath } from '../process/bundled-command.ts';
import { listChildVariables } from '../process/child-environment.ts';
import { addingServerPath, plainServer, type Workspace } from '../workspace.ts';
import { listInputVariables } from './action-metadata.ts';
import {
  type CommandFiles,
  createCommandFiles,
  listFileVariables,
  readKeyValues,
  readSummary,
} from './file-commands.ts';
import { createCommandReader, type RunnerCommand } from './runner-commands.ts';

interface MainStep {
  workspace: Workspace;
  /** In addition to the inputs of a server; the action has no defaults here. */
  inputs: Record<string, string>;
  /** Variables that replace those of the runner; a test may use them to break the runner's files. */
  env?: Record<string, string>;
  action?: 'index' | 'merge' | 'publish';
}

interface Stage {
  exitCode: number | null;
  stdout: string;
  commands: RunnerCommand[];
  outputs: Record<string, string>;
  /** Null if none was written. */
  summary: string | null;
}

interface PreparedStep {
  surroundings: Required<Pick<Surroundings, 'cwd' | 'env' | 'script'>>;
  files: CommandFiles;
}

async function prepare({ workspace, inputs, env, action = 'index' }: MainStep): Promise<PreparedStep> {
  const directory = join(workspace.path, '.runner');
  await mkdir(directory, { recursive: true });
  const files = await createCommandFiles(directory);
  const server = { 'server-command': `node ${addingServerPath}`, ...plainServer };
  const variables = { ...listFileVariables(files), ...listInputVariables({ inputDefaults: server }, inputs), ...env };
  // The name of the started file selects the action.
  const script = join(directory, `${action}.js`);
  return { surroundings: { cwd: workspace.path, env: variables, script }, files };
}

/** Starts the action as the runner does, in a separate process. */
export async function startMain(step: MainStep): Promise<Stage> {
  const { surroundings, files } = await prepare(step);
  const { script, cwd, env } = surroundings;
  await rm(script, { force: true });
  await symlink(actionPath, script);
  const ended = await new Promise<Pick<Stage, 'exitCode' | 'stdout'>>((resolve) => {
    const options = { cwd, env: { ...listChildVariables(), ...env } };
    execFile(process.execPath, [script], options, (error, stdout) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout });
    });
  });
  return await readStage(ended, files);
}

/** Runs the main step within the test, for tests that do not examine its process. */
export async function runMainInTest(step: MainStep): Promise<Stage> {
  const { surroundings, files } = await prepare(step);
  const ended = await runBorrowed(surroundings, async () => {
    const supervision = joinSupervisor();
    return await supervision.done(await runMain(createJobOutput(), supervision));
  });
  return await readStage(ended, files);
}

async function readStage(
  { exitCode, stdout }: Pick<Stage, 'exitCode' | 'stdout'>,
  files: CommandFiles,
): Promise<Stage> {
  const summary = await readSummary(files.stepSummary, (line) => line);
  const outputs = await readKeyValues(files.output);
  return { exitCode, stdout, commands: listCommands(stdout), outputs, summary: summary.text };
}

function listCommands(stdout: string): RunnerCommand[] {
  const reader = createCommandReader();
  return stdout.split('\n').flatMap((line) => {
    const read = reader.readLine(line);
    return read.kind === 'command' ? [read.command] : [];
  });
}
