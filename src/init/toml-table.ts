/**
 * Reads the texts of one table of a TOML file, such as the scripts of a pyproject.toml: `name = "text"`, one per line. Values of other types,
 * and texts over several lines, are left out. The format is that of TOML 1.0.
 */
export function readTomlTable(text: string, table: string): Map<string, string> {
  const found = new Map<string, string>();
  let isInside = false;
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/.exec(line) ?? [];
    if (header !== undefined || /^\s*\[\[/.test(line)) {
      isInside = header?.replaceAll(/["'\s]/g, '') === table;
      continue;
    }
    const entry = isInside ? entryPattern.exec(line) : null;
    if (entry === null) continue;
    const [, bare, quoted, literalKey, basic, literal] = entry;
    const key = bare ?? quoted ?? literalKey;
    const value = literal ?? (basic === undefined ? undefined : unescapeBasic(basic));
    if (key !== undefined && value !== undefined) found.set(key, value);
  }
  return found;
}

/** A key and a text: bare, in double or in single quotes. */
const entryPattern = /^\s*(?:([\w-]+)|"([^"\\]*)"|'([^']*)')\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/;

function unescapeBasic(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}
