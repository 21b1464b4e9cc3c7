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

/** The evals that a repository has before init. */
export interface ExistingEvals {
  /** As the user wrote it, relative to the working directory. */
  file: string;
  /** Null where the file does not exist. */
  text: string | null;
  /** What the cases of this file and of the other evals files next to it are about. */
  known: CaseSubjects;
}

/** What init did with one file. */
export interface WrittenFile {
  path: string;
  state: 'created' | 'extended' | 'unchanged';
}

export interface InitFiles {
  files: WrittenFile[];
  cases: readonly DraftedCase[];
  /** Cases for a person to add, where the evals file cannot take them. */
  manual: string | null;
}

const evalsName = /\.evals\.(?:ya?ml|json)$/;

/**
 * Reads the evals that are there.
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

/** Where the surface file of an evals file belongs: next to it. */
export function nameSurfaceFile(evals: string): string {
  return join(dirname(evals), 'surface.json');
}

/**
 * Writes the cases of a survey into the evals file, the surface file, and the workflow. Adds what is missing: cases behind those of a file
 * that exists, and a surface file and a workflow where there is none. Nothing that exists changes otherwise. `surface` is the text of the
 * surface file; null where the server did not list what it shows.
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
