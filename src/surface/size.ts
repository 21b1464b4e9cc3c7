import type { Surface, SurfaceTool } from '../model/surface.ts';
import type { ToolSize } from '../model/surface-report.ts';

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
