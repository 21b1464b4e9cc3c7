import { SourceMap } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path/posix';
import { isRecord } from '../../base/json.ts';

/** The comment that names the source map of a file; the last one counts, as for browsers. */
const comment = /^\/\/[#@] sourceMappingURL=(\S+)[ \t]*$/gm;
const inline = /^data:application\/json(?:;charset=[\w-]+)?;base64,/;

/** Reading a map takes about half a second per megabyte, and a server decides how large its maps are. */
const maxCharacters = 8 * 1024 * 1024;

/** A position in a generated file. */
interface Generated {
  /** The path of the file. */
  name: string;
  text: string;
  /** Both counted from 1. */
  line: number;
  column: number;
}

/** Finds the source lines of generated files. */
export interface SourceMaps {
  /** Null if the file has no map, or if the map has nothing for the position. */
  find(generated: Generated): Promise<{ name: string; line: number } | null>;
}

/**
 * Reads source maps, in the generated files themselves or in the files that they name, which `readFile` reads by their paths. Paths are below
 * the root of the repository.
 */
export function createSourceMaps(readFile: (name: string) => Promise<string | null>): SourceMaps {
  const known = new Map<string, { map: SourceMap; name: string; folder: string } | null>();
  let room = maxCharacters;
  const read = async ({ name, text }: Generated) => {
    const url = [...text.matchAll(comment)].at(-1)?.[1];
    if (url === undefined) return null;
    const mapName = inline.test(url) ? name : resolveName(name, url);
    if (mapName === null) return null;
    const json = inline.test(url) ? Buffer.from(url.replace(inline, ''), 'base64').toString() : await readFile(mapName);
    room -= json?.length ?? 0;
    const parsed = json === null || room < 0 ? null : parseMap(json);
    return parsed === null ? null : { ...parsed, name: mapName };
  };
  return {
    find: async (generated) => {
      if (!known.has(generated.name)) known.set(generated.name, await read(generated));
      const found = known.get(generated.name) ?? null;
      const entry = found === null ? null : findEntry(found.map, generated);
      const name = found === null || entry === null ? null : resolveName(found.name, `${found.folder}${entry.path}`);
      return entry === null || name === null ? null : { name, line: entry.line };
    },
  };
}

/** Resolves a relative address against the file that has it; null for any other address. */
function resolveName(from: string, url: string): string | null {
  if (isAbsolute(url) || /^[A-Za-z][A-Za-z+.-]*:/.test(url)) return null;
  try {
    return join(dirname(from), decodeURIComponent(url));
  } catch {
    return null;
  }
}

/** The server wrote the map, so anything may be wrong with it. */
function parseMap(json: string): { map: SourceMap; folder: string } | null {
  try {
    const payload: unknown = JSON.parse(json);
    if (!isRecord(payload) || payload['version'] !== 3) return null;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a wrong payload throws, or finds nothing
    const map = new SourceMap(payload as unknown as ConstructorParameters<typeof SourceMap>[0]);
    const root = payload['sourceRoot'];
    return { map, folder: typeof root === 'string' && root !== '' ? `${root.replace(/\/$/, '')}/` : '' };
  } catch {
    return null;
  }
}

function findEntry(map: SourceMap, { line, column }: Generated): { path: string; line: number } | null {
  const entry: unknown = map.findEntry(line - 1, column - 1);
  if (!isRecord(entry)) return null;
  const { originalSource, originalLine } = entry;
  if (typeof originalSource !== 'string' || typeof originalLine !== 'number') return null;
  return Number.isSafeInteger(originalLine) ? { path: originalSource, line: originalLine + 1 } : null;
}
