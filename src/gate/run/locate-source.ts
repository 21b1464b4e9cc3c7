import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { readTextFile } from '../../base/files.ts';
import { type Frame, listFrames } from '../../base/stack-traces.ts';
import { clipText, cutMark } from '../../base/text.ts';
import type { IterationFailure } from '../../model/case-report.ts';
import type { Report } from '../../model/report.ts';
import type { SourceFrame } from '../../model/source-frame.ts';
import { createSourceMaps, type SourceMaps } from './source-map.ts';

const maxFrames = 50;
/** Limits the files that are read for one report. */
const maxLookups = 500;
/** Of a source file, a bundle or a source map. */
const maxFileBytes = 8 * 1024 * 1024;
const linesAround = 2;
const maxCodeLength = 200;
/** Where a build keeps packages of others. */
const foreignFolders: ReadonlySet<string> = new Set(['node_modules', 'site-packages', 'dist-packages', 'vendor']);
/** Where the folders of packages begin, by the conventions of Maven, Gradle and others. */
const packageRoots = ['', 'src', 'src/main/java', 'src/main/kotlin', 'src/main/scala'];

/**
 * Adds to each failure, and to each reason with an output, the line of the server's own code that its stack trace names, with the lines around
 * it. If a source map says which source a line of JavaScript is from, it is the line of this source. Reads only files with source text below
 * `directory`, none through a link, and none in a hidden folder or a package of others: a server can print any path.
 */
export async function locateSources(report: Report, directory: string): Promise<Report> {
  const root = await realpath(directory).catch(() => null);
  if (root === null) return report;
  const known = new Map<string, SourceFrame | null>();
  const maps = createSourceMaps(async (name) => await readOwnFile(name, root));
  const find = async (frame: Frame): Promise<SourceFrame | null> => {
    const key = `${frame.path}:${frame.line}:${frame.column}`;
    if (!known.has(key) && known.size < maxLookups) known.set(key, await readSource(frame, { root, directory, maps }));
    return known.get(key) ?? null;
  };
  const locate = async <Named extends object>(named: Named, frames: readonly Frame[]) => {
    for (const frame of frames.slice(0, maxFrames)) {
      const source = await find(frame);
      if (source !== null) return { ...named, source };
    }
    return named;
  };
  const cases: Report['cases'] = [];
  for (const testCase of report.cases) {
    const failures: IterationFailure[] = [];
    for (const failure of testCase.failures) failures.push(await locate(failure, listFailureFrames(failure)));
    cases.push({ ...testCase, failures });
  }
  const reasons: Report['verdict']['reasons'] = [];
  for (const reason of report.verdict.reasons)
    reasons.push(await locate(reason, listFrames((reason.output ?? []).join('\n'))));
  return { ...report, cases, verdict: { ...report.verdict, reasons } };
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
  return texts.flatMap(listFrames);
}

async function readSource(
  { path, line, column }: Frame,
  { root, directory, maps }: { root: string; directory: string; maps: SourceMaps },
): Promise<SourceFrame | null> {
  const roots = path.includes('/') && /\.(?:java|kt|scala|groovy)$/.test(path) ? packageRoots : [''];
  const names = isAbsolute(path)
    ? [relative(root, path), relative(directory, path)]
    : roots.map((folder) => join(folder, path));
  for (const name of new Set(names.map((each) => each.split(sep).join('/')))) {
    const text = await readOwnFile(name, root);
    if (text === null || line > text.split(lineBreak).length) continue;
    const generated = { name, text, line, column: column ?? 1 };
    const source = /\.[cm]?js$/.test(name) ? await maps.find(generated) : null;
    const mapped = source === null ? null : cutCode(source, await readOwnFile(source.name, root));
    return mapped ?? cutCode({ name, line, column }, text);
  }
  return null;
}

/** Reads a file of the server's own; null if it is none, or if a link leads to it. */
async function readOwnFile(name: string, root: string): Promise<string | null> {
  if (!isOwnName(name)) return null;
  const file = join(root, name);
  if ((await realpath(file).catch(() => null)) !== file) return null;
  return await readTextFile(file, { maxBytes: maxFileBytes }).catch(() => null);
}

const lineBreak = /\r?\n/;

/** Takes a line with those around it; null if the text does not have it. */
function cutCode(
  { name, line, column = null }: { name: string; line: number; column?: number | null },
  text: string | null,
): SourceFrame | null {
  const lines = text?.split(lineBreak) ?? [];
  if (line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - linesAround);
  const code = lines
    .slice(first - 1, line + linesAround)
    .map((each, index) => clipText(first + index === line ? cutBefore(each, column) : each, maxCodeLength));
  return { file: name, line, first, code };
}

/** Cuts the beginning of a long line, such as one of a minified bundle, so that the column that failed stays in it. */
function cutBefore(text: string, column: number | null): string {
  const from = (column ?? 0) - maxCodeLength / 2;
  return from <= 0 || text.length <= maxCodeLength ? text : `${cutMark}${text.slice(from).toWellFormed()}`;
}

function isOwnName(name: string): boolean {
  if (name === '' || isAbsolute(name) || name.includes('\0')) return false;
  return name.split('/').every((part) => part !== '..' && !part.startsWith('.') && !foreignFolders.has(part));
}
