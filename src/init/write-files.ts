import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError, readErrorCode } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { type CaseSubjects, readSubjects } from '../suite/add-cases.ts';
import { compareText } from '../suite/findings.ts';
import { readSuite } from '../suite/read.ts';
import type { BuildStep } from './find-server.ts';
import { draftCases, type DraftedCase } from './draft-cases.ts';
import type { Survey } from './survey.ts';
import { writeEvals } from './write-evals.ts';
import { type ChosenServer, renderWorkflow, workflowPath } from './write-workflow.ts';

/** The evals of a repository before init. */
export interface ExistingEvals {
  /** The path that the user gave, relative to the working directory. */
  file: string;
  /** Null if the file does not exist. */
  text: string | null;
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
  cases: readonly DraftedCase[];
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
  return { file, text, known: readSubjects([...(text === null ? [] : [text]), ...texts]) };
}

/** Returns the path of the surface file, in the directory of the evals file. */
export function nameSurfaceFile(evals: string): string {
  return join(dirname(evals), 'surface.json');
}

/**
 * Writes the cases of a survey into the evals file, and writes the surface file and the workflow. In existing files it only adds cases
 * after the others; an existing surface file or workflow stays unchanged. `surface` is the text of the surface file; null if the server
 * failed to list what it offers.
 */
export async function writeInitFiles(
  survey: Survey,
  {
    cwd,
    evals,
    server,
    steps,
    model,
    surface,
  }: {
    cwd: string;
    evals: ExistingEvals;
    server: ChosenServer;
    steps: readonly BuildStep[];
    model: string | null;
    surface: string | null;
  },
): Promise<InitFiles> {
  const cases = draftCases(survey, { known: evals.known, model });
  const suite = survey.serverName ?? 'MCP server';
  const written = writeEvals(cases, { suite, existing: evals.text });
  const files: WrittenFile[] = [];
  if (written.kind === 'created' || written.kind === 'extended') {
    await writeNew(join(cwd, evals.file), written.text);
    files.push({ path: evals.file, state: written.kind });
  } else files.push({ path: evals.file, state: 'unchanged' });
  const surfacePath = nameSurfaceFile(evals.file);
  const hasSurface = (await readIfThere(join(cwd, surfacePath))) !== null;
  if (!hasSurface && surface !== null) await writeNew(join(cwd, surfacePath), surface);
  if (hasSurface || surface !== null) files.push({ path: surfacePath, state: hasSurface ? 'unchanged' : 'created' });
  const known = hasSurface || surface !== null ? surfacePath : null;
  const workflow = join(cwd, workflowPath);
  const isThere = (await readIfThere(workflow)) !== null;
  const pattern = `${dirname(evals.file)}/*.evals.yaml`;
  const matched = evalsName.test(evals.file) && evals.file.endsWith('.yaml') ? pattern : evals.file;
  if (!isThere) await writeNew(workflow, renderWorkflow({ server, steps, evals: matched, surface: known }));
  files.push({ path: workflowPath, state: isThere ? 'unchanged' : 'created' });
  return { files, cases, manual: written.kind === 'manual' ? written.cases : null };
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
