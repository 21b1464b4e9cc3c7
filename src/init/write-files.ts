import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError, readErrorCode } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { keepWorkspace, type Workspace, workspaceDirectory } from '../workspace/workspace.ts';
import { type AddedCase, type CaseSubjects, readSubjects } from '../suite/add-cases.ts';
import { compareText } from '../suite/findings.ts';
import { readSuite } from '../suite/read.ts';
import type { BuildStep } from './find-server.ts';
import { writeEvals } from './write-evals.ts';
import { nameVitestFile, renderVitest } from './write-vitest.ts';
import { type ChosenServer, renderWorkflow, workflowPath } from './write-workflow.ts';

/** The evals of a repository before init. */
export interface ExistingEvals {
  /** The path that the user gave, relative to the working directory. */
  file: string;
  /** Null if the file does not exist. */
  text: string | null;
  /** The suite key `workspace` of the file; null if it has none. */
  workspace: string | null;
  /** The suite key `upstream` of the file; null if it has none. */
  upstream: string | null;
  /** The subjects of the cases in this file and in the evals files of the same directory. */
  known: CaseSubjects;
}

/** The result of init for one file. */
export interface WrittenFile {
  path: string;
  state: 'created' | 'extended' | 'unchanged';
}

export interface InitFiles {
  files: WrittenFile[];
  /** Cases for a person to add, if init cannot add them to the evals file. */
  manual: string | null;
}

const evalsName = /\.evals\.(?:ya?ml|json)$/;

/**
 * Reads the existing evals.
 *
 * @throws {ConfigurationError} when the file that init would extend is no valid evals file
 */
export async function readExistingEvals(file: string, cwd: string): Promise<ExistingEvals> {
  const path = join(cwd, file);
  const text = await readIfThere(path);
  if (text !== null) {
    const { findings } = readSuite(text, { file });
    if (findings.length > 0) throw new ConfigurationError(findings);
  }
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  const others = names.toSorted(compareText).filter((name) => evalsName.test(name) && name !== basename(path));
  const texts = await Promise.all(others.map(async (name) => (await readIfThere(join(directory, name))) ?? ''));
  const readKey = (key: string) => new RegExp(`^${key}:[ \\t]+["']?([^"'#\\s]+)`, 'm').exec(text ?? '')?.[1] ?? null;
  const [workspace, upstream] = [readKey('workspace'), readKey('upstream')];
  return { file, text, workspace, upstream, known: readSubjects([...(text === null ? [] : [text]), ...texts]) };
}

/** Returns the path of the surface file, in the directory of the evals file. */
export function nameSurfaceFile(evals: string): string {
  return join(dirname(evals), 'surface.json');
}

/** What init writes. */
export interface InitContent {
  suite: string;
  cases: readonly AddedCase[];
  /** The files of `toMatchFile`, by their path from the evals file. */
  snapshots: ReadonlyMap<string, string>;
  /** The suite key `workspace` of a new file; null for none. */
  workspace: string | null;
  /** The suite key `upstream` of a new file; null for none. */
  upstream: string | null;
  /** The files of a workspace to write next to the evals; null if they exist, or none is needed. */
  fixture: Workspace | null;
  /** The text of the surface file; null if the server failed to list what it offers. */
  surface: string | null;
}

/**
 * Writes the evals file with its snapshots and its workspace, the surface file, and the workflow or a test file of vitest. In existing
 * files it only adds cases after the others; an existing surface file, snapshot, workflow or test file stays unchanged.
 */
export async function writeInitFiles(
  { suite, cases, snapshots, workspace, upstream, fixture, surface }: InitContent,
  {
    cwd,
    evals,
    runner,
    ...project
  }: {
    cwd: string;
    evals: ExistingEvals;
    server: ChosenServer;
    steps: readonly BuildStep[];
    env: readonly string[];
    /** What runs the evals from now on. */
    runner: 'workflow' | 'vitest';
  },
): Promise<InitFiles> {
  const written = writeEvals(cases, { suite, workspace, upstream, existing: evals.text });
  const files: WrittenFile[] = [];
  if (written.kind === 'created' || written.kind === 'extended') {
    const folders = new Set<string>();
    for (const [file, text] of snapshots) {
      const path = join(dirname(evals.file), file);
      if ((await readIfThere(join(cwd, path))) !== null) continue;
      await writeNew(join(cwd, path), text);
      folders.add(`${dirname(path)}/`);
    }
    for (const path of folders) files.push({ path, state: 'created' });
    if (fixture !== null) {
      const path = join(dirname(evals.file), workspaceDirectory);
      await keepWorkspace(fixture, join(cwd, path));
      files.push({ path: `${path}/`, state: 'created' });
    }
    await writeNew(join(cwd, evals.file), written.text);
    files.unshift({ path: evals.file, state: written.kind });
  } else files.push({ path: evals.file, state: 'unchanged' });
  const surfacePath = nameSurfaceFile(evals.file);
  const hasSurface = (await readIfThere(join(cwd, surfacePath))) !== null;
  if (!hasSurface && surface !== null) await writeNew(join(cwd, surfacePath), surface);
  if (hasSurface || surface !== null) files.push({ path: surfacePath, state: hasSurface ? 'unchanged' : 'created' });
  const known = hasSurface || surface !== null ? surfacePath : null;
  const path = runner === 'vitest' ? nameVitestFile(evals.file) : workflowPath;
  const isThere = (await readIfThere(join(cwd, path))) !== null;
  const pattern = `${dirname(evals.file)}/*.evals.yaml`;
  const matched = evalsName.test(evals.file) && evals.file.endsWith('.yaml') ? pattern : evals.file;
  const render = runner === 'vitest' ? renderVitest : renderWorkflow;
  if (!isThere) await writeNew(join(cwd, path), render({ ...project, evals: matched, surface: known }));
  files.push({ path, state: isThere ? 'unchanged' : 'created' });
  return { files, manual: written.kind === 'manual' ? written.cases : null };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
