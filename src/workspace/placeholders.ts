import { isRecord } from '../base/json.ts';

/** Changes every text in a JSON value, names of members included. */
export function mapTexts<Value>(value: Value, change: (text: string) => string): Value;
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isRecord(value) || ArrayBuffer.isView(value) || value instanceof URL) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), mapTexts(member, change)]));
}

/** Replaces paths by their placeholders: `{{name}}` for each name. The longest path is replaced first, because it may be below another one. */
export function hidePaths<Value>(value: Value, paths: object): Value {
  const entries = listPaths(paths).toSorted(([, a], [, b]) => b.length - a.length);
  return mapTexts(value, (text) =>
    entries.reduce((changed, [name, path]) => changed.replaceAll(path, `{{${name}}}`), text),
  );
}

/** Replaces placeholders by paths. */
export function showPaths<Value>(value: Value, paths: object): Value {
  const entries = listPaths(paths);
  return mapTexts(value, (text) =>
    entries.reduce((changed, [name, path]) => changed.replaceAll(`{{${name}}}`, path), text),
  );
}

function listPaths(paths: object): Array<[string, string]> {
  return Object.entries(paths).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
