import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The files with which a step sends commands to the runner, new for every step. */
export interface CommandFiles {
  env: string;
  output: string;
  path: string;
  state: string;
  stepSummary: string;
}

/** The runner drops a larger summary completely. */
const summaryLimitBytes = 1024 * 1024;

export async function createCommandFiles(directory: string): Promise<CommandFiles> {
  const home = await mkdtemp(path.join(directory, 'file-commands-'));
  const create = async (name: string) => {
    const file = path.join(home, name);
    await writeFile(file, '');
    return file;
  };
  return {
    env: await create('set_env'),
    output: await create('set_output'),
    path: await create('add_path'),
    state: await create('save_state'),
    stepSummary: await create('step_summary'),
  };
}

/** Returns the variables with the paths of a step's files. */
export function listFileVariables(files: CommandFiles): Record<string, string> {
  return {
    GITHUB_ENV: files.env,
    GITHUB_OUTPUT: files.output,
    GITHUB_PATH: files.path,
    GITHUB_STATE: files.state,
    GITHUB_STEP_SUMMARY: files.stepSummary,
  };
}

/**
 * Reads `NAME=value` lines and `NAME<<delimiter` blocks as the runner does (EnvFileKeyValuePairs in
 * src/Runner.Worker/FileCommandManager.cs): a later value of a name replaces an earlier one. Throws for a malformed file, which fails the step.
 */
export function parseKeyValues(text: string): Record<string, string> {
  const values = new Map<string, string>();
  // A text that ends with a line feed has no further line.
  const lines = text.split('\n');
  const isLastLineOpen = lines.at(-1) !== '';
  if (!isLastLineOpen) lines.pop();
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line === '') continue;
    const equals = line.indexOf('=');
    const heredoc = line.indexOf('<<');
    if (equals !== -1 && (heredoc === -1 || equals < heredoc)) {
      values.set(line.slice(0, equals), line.slice(equals + 1));
    } else if (heredoc > 0 && line.length > heredoc + 2) {
      const end = lines.indexOf(line.slice(heredoc + 2), index + 1);
      if (end === -1) throw new Error(`Invalid value. Matching delimiter not found '${line.slice(heredoc + 2)}'`);
      values.set(line.slice(0, heredoc), lines.slice(index + 1, end).join('\n'));
      index = end;
    } else {
      throw new Error(`Invalid format '${line}'`);
    }
  }
  return Object.fromEntries(values);
}

export async function readKeyValues(file: string): Promise<Record<string, string>> {
  return parseKeyValues(await readFile(file, 'utf8'));
}

/** Reads the summary as GitHub would show it, masked line by line; null if there is none or if the runner drops it as too large. */
export async function readSummary(
  file: string,
  mask: (line: string) => string,
): Promise<{ text: string | null; isDropped: boolean }> {
  const { size } = await stat(file);
  if (size === 0) return { text: null, isDropped: false };
  if (size > summaryLimitBytes) return { text: null, isDropped: true };
  const text = await readFile(file, 'utf8');
  return { text: text.split('\n').map(mask).join('\n'), isDropped: false };
}
