import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { readInput } from '../../base/files.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** The texts of files, by path. */
export type FileTexts = ReadonlyMap<string, string>;

/** Few files are read, those near the root of the workspace first, since arguments name a few only. */
const maxFiles = 60;
const maxBytes = 64 * 1024;

/** No text has these. */
const controls = /[^\P{Cc}\t\r\n]/u;

/** Reads small files of a workspace that are texts, so that arguments can name what is in them. */
export async function readFileTexts({ path, files, generated = {} }: Workspace): Promise<FileTexts> {
  const texts = new Map<string, string>();
  for (const file of files.toSorted(byDepth).slice(0, maxFiles)) {
    const content = path === null ? generated[file] : await readSmall(join(path, file));
    const text = readText(content);
    if (text !== null) texts.set(file, text);
  }
  return texts;
}

export const byDepth = (a: string, b: string) => a.split('/').length - b.split('/').length;

async function readSmall(path: string): Promise<Buffer | undefined> {
  const found = await lstat(path);
  return found.isFile() && found.size <= maxBytes ? await readInput(path) : undefined;
}

function readText(content: string | Buffer | undefined): string | null {
  if (content === undefined || typeof content === 'string') return content ?? null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return controls.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** A call that asks for some lines shows nothing of a file that has no more. */
const manyLines = 4;

/** Counts the lines of a file up to a few; a file that was not read counts as one with one line. */
export function countLines(
  file: string,
  { blank = [], texts }: { blank?: readonly string[]; texts: FileTexts },
): number {
  const text = texts.get(file);
  if (text === undefined) return blank.includes(file) ? 0 : 1;
  return text === '' ? 0 : Math.min(manyLines, text.trimEnd().split('\n').length);
}

/** More than programs read at once, and few enough for a case. */
const wideBytes = { least: 1025, most: 4096 };

/** Finds a file of several lines with more letters of several bytes than others; null if there is none. */
export function findWideFile(texts: FileTexts): string | null {
  const isWide = (text: string) => {
    const bytes = Buffer.byteLength(text);
    const hasLines = text.trimEnd().includes('\n');
    return hasLines && bytes >= wideBytes.least && bytes <= wideBytes.most && bytes > 1.5 * text.length;
  };
  return [...texts].find(([, text]) => isWide(text))?.[0] ?? null;
}

/** Two lines of a file that follow each other. */
export interface TwoLines {
  file: string;
  lines: readonly [string, string];
}

/** Finds two lines with words of which the second one is indented, or else any two; null if no file has them. */
export function findTwoLines(texts: FileTexts): TwoLines | null {
  const found = [...texts].flatMap(([file, text]) => {
    const lines = text.split(/\r?\n/);
    return lines.slice(1).flatMap((second, index): TwoLines[] => {
      const first = lines[index] ?? '';
      const haveWords = [first, second].every((line) => /\p{L}{3}/u.test(line) && line.length <= longestLine);
      return haveWords ? [{ file, lines: [first, second] }] : [];
    });
  });
  return found.find(({ lines }) => /^\s/.test(lines[1])) ?? found[0] ?? null;
}

const longestLine = 100;

/** Lists words that files have, one of each file, in the order of the files. */
export function listWords(files: readonly string[], texts: FileTexts): string[] {
  const words = files.flatMap((file) => /\p{L}{4,}/u.exec(texts.get(file) ?? '')?.[0] ?? []);
  return [...new Set(words)];
}

/** Lists patterns that match some names of a workspace and leave others, the widest ones first. */
export function listPatterns({ files, directories }: Pick<Workspace, 'files' | 'directories'>): string[] {
  const visible = files.filter((file) => !file.startsWith('.'));
  const endings = visible.flatMap((file) => /[^/](\.\w+)$/.exec(file)?.[1] ?? []);
  const counts = new Map(
    [...new Set(endings)].map((ending) => [ending, endings.filter((each) => each === ending).length]),
  );
  const ofEndings = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 2);
  const globs = ofEndings.flatMap(([ending]) => [`*${ending}`, `**/*${ending}`]);
  const names = [...directories.filter((path) => !path.startsWith('.')), ...visible].map(
    (path) => path.split('/').at(-1) ?? '',
  );
  const all = [...globs, ...names.slice(0, 1), ...names.slice(-1)];
  return [...new Set(all)].filter((pattern) => matchesSome(pattern, files));
}

/** Checks if a pattern matches names of files, or parts of them; `leaves` asks for a file that it leaves where it leaves things out. */
export function matchesSome(pattern: string, files: readonly string[], { leaves = false } = {}): boolean {
  // What leaves a directory out leaves out all below it.
  const listNames = (file: string) => {
    const parts = file.split('/');
    return leaves ? parts.flatMap((part, index) => [part, parts.slice(0, index + 1).join('/')]) : [file];
  };
  const matched = files.filter((file) => listNames(file).some((name) => matches(pattern, name)));
  return matched.length > 0 && !(leaves && matched.length === files.length);
}

function matches(pattern: string, file: string): boolean {
  if (!/[*?]/.test(pattern)) return file.includes(pattern);
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(
      /\*\*\/|\*\*|\*|\?/g,
      (part) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[part] ?? part,
    );
  return new RegExp(`^${source}$`, 'u').test(file);
}
