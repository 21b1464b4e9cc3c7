import { formatCount } from '../base/text.ts';
import { defaultConfiguration, type Surface, type SurfaceFile, type SurfaceTool } from '../model/surface.ts';
import type { ConfigurationSurface, SurfaceChange, SurfaceReport, ToolSize } from '../model/surface-report.ts';
import { compareSurfaces, type FoundChange } from './compare.ts';
import { lintSurface } from './lint.ts';

/** What the surfaces of servers are compared with, by configuration. */
export interface ExpectedSurfaces {
  /** The path of the surface file, or `base`. */
  against: string;
  configurations: SurfaceFile['configurations'];
  /** The text of the file, in which changes are located; null where there is none. */
  text: string | null;
}

/** Compares the surfaces of the server, by configuration, with what is expected of them. A configuration that is not expected is new. */
export function reportSurfaces(found: SurfaceFile['configurations'], expected: ExpectedSurfaces): SurfaceReport {
  const { against, configurations, text } = expected;
  const file = text === null ? null : { path: against, lines: indexLines(text) };
  return {
    against,
    unread: null,
    configurations: Object.entries(found).map(([name, surface]): ConfigurationSurface => {
      const before = configurations[name] ?? null;
      const isNamed = Object.keys(found).length > 1 || name !== defaultConfiguration;
      const changes = before === null ? [reportNew(name, surface, against)] : compareSurfaces(before, surface);
      return {
        name,
        bytes: measureSurface(surface),
        bytesBefore: before === null ? null : measureSurface(before),
        tools: compareSizes(before, surface),
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

/** Says where the item stands in the file, or would stand: at its name, at its list, or at its configuration. */
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

/** Where each line of a file is, by its text without indentation and comma; numbers from 0, in their order. */
type LineIndex = ReadonlyMap<string, readonly number[]>;

function indexLines(text: string): LineIndex {
  const index = new Map<string, number[]>();
  for (const [at, line] of text.split('\n').entries()) {
    const key = line.trim().replace(/,$/, '');
    const known = index.get(key);
    if (known === undefined) index.set(key, [at]);
    else known.push(at);
  }
  return index;
}

/** The first number from `from` on in an ascending list; null where there is none. */
function findFirst(numbers: readonly number[], from: number): number | null {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return numbers[low] ?? null;
}

/** What a model reads of a tool, in bytes of UTF-8: its name, description and input schema, as JSON without spaces. */
export function measureTool({ name, description, inputSchema }: SurfaceTool): number {
  return Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));
}

/** What a model reads of all tools, in bytes of UTF-8. */
export function measureSurface({ tools }: Surface): number {
  return tools.reduce((sum, tool) => sum + measureTool(tool), 0);
}

/** Measures the tools, largest first, each next to what it was. */
export function compareSizes(before: Surface | null, after: Surface): ToolSize[] {
  const sizes = new Map(before?.tools.map((tool) => [tool.name, measureTool(tool)]) ?? []);
  return after.tools
    .map((tool) => ({ name: tool.name, bytes: measureTool(tool), bytesBefore: sizes.get(tool.name) ?? null }))
    .toSorted((a, b) => b.bytes - a.bytes);
}
