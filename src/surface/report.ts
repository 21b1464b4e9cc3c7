import { formatCount } from '../base/text.ts';
import { defaultConfiguration, type Surface, type SurfaceFile, type SurfaceTool } from '../model/surface.ts';
import type { ConfigurationSurface, SurfaceChange, SurfaceReport, ToolSize } from '../model/surface-report.ts';
import { compareSurfaces, type FoundChange } from './compare-surfaces.ts';
import type { LineIndex } from './file.ts';
import { lintSurface } from './lint.ts';

/** The expected surfaces of servers, by configuration. */
export interface ExpectedSurfaces {
  /** The path of the surface file, or `base`. */
  against: string;
  configurations: SurfaceFile['configurations'];
  /** The lines of the file, for the locations of changes; null if there is no file. */
  lines: LineIndex | null;
}

/**
 * Compares the surfaces of the server with the expected ones, by configuration. A configuration without an expected surface is reported
 * as new.
 */
export function reportSurfaces(found: SurfaceFile['configurations'], expected: ExpectedSurfaces): SurfaceReport {
  const { against, configurations, lines } = expected;
  const file = lines === null ? null : { path: against, lines };
  return {
    against,
    unread: null,
    configurations: Object.entries(found).map(([name, surface]): ConfigurationSurface => {
      const before = configurations[name] ?? null;
      const isNamed = Object.keys(found).length > 1 || name !== defaultConfiguration;
      const changes = before === null ? [reportNew(name, surface, against)] : compareSurfaces(before, surface);
      // Measures each tool only once: it copies the tool, which may be as large as an answer may be.
      const sizes = measureTools(surface);
      const sizesBefore = before === null ? null : measureTools(before);
      return {
        name,
        bytes: sumSizes(sizes),
        bytesBefore: sizesBefore === null ? null : sumSizes(sizesBefore),
        tools: compareSizes(sizesBefore, sizes),
        changes: changes.map((change) => locateChange(change, { file, configuration: name, isNamed })),
        findings: lintSurface(surface),
      };
    }),
  };
}

function reportNew(name: string, { tools }: Surface, against: string): FoundChange {
  return {
    id: 'server.added',
    item: null,
    severity: 'review',
    rule: 'configuration-added',
    reason: 'Nothing promised what it shows.',
    message: `The configuration ${name} with ${formatCount(tools.length, 'tool')} is not in the ${against === 'base' ? 'base' : 'file'}`,
    before: null,
    after: null,
  };
}

interface Place {
  file: { path: string; lines: LineIndex } | null;
  configuration: string;
  isNamed: boolean;
}

/** Finds the location of the item in the file, or where it would be: at its name, else at its list, else at its configuration. */
function locateChange({ item, ...change }: FoundChange, { file, configuration, isNamed }: Place): SurfaceChange {
  const id = isNamed ? `${configuration}.${change.id}` : change.id;
  if (file === null) return { ...change, id, location: null };
  const find = (line: string, from: number) => findFirst(file.lines.get(line) ?? [], from);
  const start = find(`${JSON.stringify(configuration)}: {`, 0) ?? 0;
  const list = item === null ? null : find(`"${item.list}": [`, start);
  const keys = { tools: 'name', prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' };
  const own = item === null || list === null ? null : find(`"${keys[item.list]}": ${JSON.stringify(item.name)}`, list);
  return { ...change, id, location: { file: file.path, line: (own ?? list ?? start) + 1 } };
}

/** Finds the first number that is at least `from` in an ascending list; null if there is none. */
function findFirst(numbers: readonly number[], from: number): number | null {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return numbers[low] ?? null;
}

/** Measures the part of a tool that a model reads, in bytes of UTF-8: name, description and input schema, as JSON without spaces. */
export function measureTool({ name, description, inputSchema }: SurfaceTool): number {
  return Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));
}

/** The sizes of the tools of one surface. */
type Sizes = ReadonlyArray<Pick<ToolSize, 'name' | 'bytes'>>;

/** Measures the part of each tool that a model reads. */
export function measureTools({ tools }: Surface): Sizes {
  return tools.map((tool) => ({ name: tool.name, bytes: measureTool(tool) }));
}

/** Adds up the sizes of all tools, in bytes of UTF-8. */
export const sumSizes = (sizes: Sizes): number => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

/** Lists the sizes after a change, largest first, each with the size before; null if there was no surface before. */
export function compareSizes(before: Sizes | null, after: Sizes): ToolSize[] {
  const known = new Map(before?.map(({ name, bytes }) => [name, bytes]) ?? []);
  return after
    .map(({ name, bytes }) => ({ name, bytes, bytesBefore: known.get(name) ?? null }))
    .toSorted((a, b) => b.bytes - a.bytes);
}
