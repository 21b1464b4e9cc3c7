import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { readTextFile } from '../../base/files.ts';
import { type Frame, listFrames } from '../../base/stack-traces.ts';
import { clipText } from '../../base/text.ts';
import type { IterationFailure } from '../../model/case-report.ts';
import type { Report } from '../../model/report.ts';

type Source = NonNullable<IterationFailure['source']>;

const maxFrames = 50;
/** Limits the files that are read for one report. */
const maxLookups = 500;
const maxFileBytes = 1024 * 1024;
const linesAround = 2;
const maxCodeLength = 200;
/** Where a build keeps packages of others. */
const foreignFolders: ReadonlySet<string> = new Set(['node_modules', 'site-packages', 'dist-packages', 'vendor']);
/** Where the folders of packages begin, by the conventions of Maven, Gradle and others. */
const packageRoots = ['', 'src', 'src/main/java', 'src/main/kotlin', 'src/main/scala'];

/**
 * Adds to each failure the line of the server's own code that its stack trace names, with the lines around it. Reads only files with source
 * text below `directory`, none through a link, and none in a hidden folder or a package of others: a server can print any path.
 */
export async function locateSources(report: Report, directory: string): Promise<Report> {
  const root = await realpath(directory).catch(() => null);
  if (root === null) return report;
  const known = new Map<string, Source | null>();
  const find = async (frame: Frame): Promise<Source | null> => {
    const key = `${frame.path}:${frame.line}`;
    if (!known.has(key) && known.size < maxLookups) known.set(key, await readSource(frame, { root, directory }));
    return known.get(key) ?? null;
  };
  const locate = async (failure: IterationFailure): Promise<IterationFailure> => {
    for (const frame of listFailureFrames(failure)) {
      const source = await find(frame);
      if (source !== null) return { ...failure, source };
    }
    return failure;
  };
  const cases: Report['cases'] = [];
  for (const testCase of report.cases) {
    const failures: IterationFailure[] = [];
    for (const failure of testCase.failures) failures.push(await locate(failure));
    cases.push({ ...testCase, failures });
  }
  return { ...report, cases };
}

/** Lists the frames that a failure names: a whole trace is in the comparison of a result, and a part of it in a reason. */
function listFailureFrames({ reasons, differences = [] }: IterationFailure): Frame[] {
  const texts = [
    ...differences.map(({ lines }) =>
      lines
        .filter(({ side }) => side !== 'expected')
        .map(({ text }) => text)
        .join('\n'),
    ),
    ...reasons,
  ];
  return texts.flatMap(listFrames).slice(0, maxFrames);
}

async function readSource(
  { path, line }: Frame,
  { root, directory }: { root: string; directory: string },
): Promise<Source | null> {
  const roots = path.includes('/') && /\.(?:java|kt|scala|groovy)$/.test(path) ? packageRoots : [''];
  const names = isAbsolute(path)
    ? [relative(root, path), relative(directory, path)]
    : roots.map((folder) => join(folder, path));
  for (const name of new Set(names)) {
    if (!isOwnName(name)) continue;
    const file = join(root, name);
    // The file itself, and none that a link leads to.
    if ((await realpath(file).catch(() => null)) !== file) continue;
    const text = await readTextFile(file, { maxBytes: maxFileBytes }).catch(() => null);
    const lines = text?.split(/\r?\n/) ?? [];
    if (line > lines.length) continue;
    const first = Math.max(1, line - linesAround);
    const code = lines.slice(first - 1, line + linesAround).map((code) => clipText(code, maxCodeLength));
    return { file: name.split(sep).join('/'), line, first, code };
  }
  return null;
}

function isOwnName(name: string): boolean {
  if (name === '' || isAbsolute(name) || name.includes('\0')) return false;
  return name.split(sep).every((part) => part !== '..' && !part.startsWith('.') && !foreignFolders.has(part));
}
