import { ConfigurationError } from '../base/errors.ts';
import { isRecord, tryParseJson } from '../base/json.ts';
import { type SurfaceFile, surfaceFileSchema, surfaceFileVersion } from '../model/surface.ts';

/** Prints a surface file. The same surfaces have the same text, with one member on each line, so that a diff shows the changes. */
export function renderSurfaceFile({ $schema, configurations }: SurfaceFile): string {
  const names = Object.keys(configurations).toSorted();
  const sorted = Object.fromEntries(names.map((name) => [name, configurations[name]]));
  const file = { ...($schema !== undefined && { $schema }), version: surfaceFileVersion, configurations: sorted };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Reads the text of a surface file; messages name it by `path`.
 *
 * @throws {ConfigurationError} with the first mistake, if it is no surface file
 */
export function parseSurfaceFile(text: string, path: string): SurfaceFile {
  const refuse = (message: string, line = 1) =>
    new ConfigurationError([{ file: path, line, column: 1, code: 'bad-surface-file', message }]);
  const written = tryParseJson(text);
  if (written === undefined) {
    const conflict = text.split('\n').findIndex((line) => line.startsWith('<<<<<<<'));
    if (conflict >= 0) throw refuse('has an unresolved merge conflict; write it again with `--update`', conflict + 1);
    throw refuse('is not JSON; write it again with `--update`');
  }
  const version = isRecord(written) ? written['version'] : undefined;
  if (typeof version === 'number' && version > surfaceFileVersion) {
    throw refuse(`has version ${version}, which a later version of mcp-eval-ci wrote; update mcp-eval-ci`);
  }
  const parsed = surfaceFileSchema.safeParse(written);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at \`${issue.path.map(String).join('.')}\``;
  throw refuse(`is not a surface file${where}: ${issue?.message ?? 'unknown'}; write it again with \`--update\``);
}

/** Maps each line of a surface file, without indentation and comma, to its line numbers, from 0 and ascending. */
export type LineIndex = ReadonlyMap<string, readonly number[]>;

/** Skips longer lines: they are descriptions, while changes are located at names. */
const maxLineLength = 1000;

/** Indexes the lines of the text of a surface file. The index keeps no part of the text in memory. */
export function indexLines(text: string): LineIndex {
  const index = new Map<string, number[]>();
  for (const [at, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed.length > maxLineLength) continue;
    // Copies the text, because a substring would keep the whole file in memory.
    const key = Buffer.from(trimmed.replace(/,$/, '')).toString();
    const known = index.get(key);
    if (known === undefined) index.set(key, [at]);
    else known.push(at);
  }
  return index;
}
