import { ConfigurationError } from '../base/errors.ts';
import { isRecord, tryParseJson } from '../base/json.ts';
import { type SurfaceFile, surfaceFileSchema, surfaceFileVersion } from '../model/surface.ts';

/** Prints a surface file: the same text for the same surfaces, one member a line, so that a diff of it shows what changed. */
export function renderSurfaceFile({ $schema, configurations }: SurfaceFile): string {
  const names = Object.keys(configurations).toSorted();
  const sorted = Object.fromEntries(names.map((name) => [name, configurations[name]]));
  const file = { ...($schema !== undefined && { $schema }), version: surfaceFileVersion, configurations: sorted };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Reads the text of a surface file; `path` is what messages call it.
 *
 * @throws {ConfigurationError} where it is none, with the first thing that is wrong
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

/** Where each line of a surface file is, by its text without indentation and comma; numbers from 0, in their order. */
export type LineIndex = ReadonlyMap<string, readonly number[]>;

/** Longer lines are descriptions, and changes are located at names. */
const maxLineLength = 1000;

/** Indexes the lines of the text of a surface file. The index keeps no part of the text in memory. */
export function indexLines(text: string): LineIndex {
  const index = new Map<string, number[]>();
  for (const [at, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed.length > maxLineLength) continue;
    // A substring would hold the whole text.
    const key = Buffer.from(trimmed.replace(/,$/, '')).toString();
    const known = index.get(key);
    if (known === undefined) index.set(key, [at]);
    else known.push(at);
  }
  return index;
}
