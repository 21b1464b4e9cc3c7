import type { TextMask } from '../models/language-model.ts';

/** Stand for the HOME of a host, its working directory, and the folder of both. */
export const placeholders = { home: '{HOME}', directory: '{DIRECTORY}', root: '{HOST}' } as const;

const fileOfHost = new RegExp(`(${Object.values(placeholders).join('|')})/[^\\s"'<>]*`, 'g');

/** Replaces the files of a host in a masked JSON text: a host gives the file for a long result another name in each run. */
export function maskFiles(json: string): string {
  return json.replaceAll(fileOfHost, '$1/{FILE}');
}

/** Replaces the paths of one run of a host by placeholders, in every text of a value, and back. */
export function createPlaceMask(paths: ReadonlyArray<readonly [path: string, placeholder: string]>): TextMask {
  const forth = paths;
  const back = paths.map(([path, placeholder]) => [placeholder, path] as const);
  return { hide: (value) => replaceTexts(value, forth), show: (value) => replaceTexts(value, back) };
}

function replaceTexts<Value>(value: Value, pairs: ReadonlyArray<readonly [string, string]>): Value;
function replaceTexts(value: unknown, pairs: ReadonlyArray<readonly [string, string]>): unknown {
  if (typeof value === 'string') return pairs.reduce((text, [from, to]) => text.replaceAll(from, to), value);
  if (Array.isArray(value)) return value.map((each) => replaceTexts(each, pairs));
  if (typeof value !== 'object' || value === null || value instanceof URL || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceTexts(member, pairs)]));
}
