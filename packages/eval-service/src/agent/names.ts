import type { ToolDeclaration } from '../../../../src/mcp/tool-declarations.ts';
import type { ServerTools } from '../server-tools.ts';

/** A tool of a server, under the name that the model knows it by. */
export interface NamedServerTool {
  name: string;
  server: ServerTools;
  /** The server's own name for it. */
  toolName: string;
  declaration: ToolDeclaration;
}

/** Providers take letters, digits, `_` and `-`. */
const longestName = 64;

/**
 * Names the tools of servers for a model: as their server does, or `<server>__<tool>` where several servers have one of that name or it
 * is taken. No two have the same name.
 */
export function nameServerTools(servers: readonly ServerTools[], taken: ReadonlySet<string>): NamedServerTool[] {
  const tools = servers.flatMap((server) =>
    [...server.tools].map(([toolName, declaration]) => ({ server, toolName, declaration, plain: clean(toolName) })),
  );
  const counts = new Map<string, number>();
  for (const { plain } of tools) counts.set(plain, (counts.get(plain) ?? 0) + 1);
  const used = new Set(taken);
  return tools.map(({ plain, ...tool }) => {
    const isShared = taken.has(plain) || (counts.get(plain) ?? 0) > 1;
    const name = findFree(isShared ? `${clean(tool.server.server.content.name)}__${plain}` : plain, used);
    used.add(name);
    return { ...tool, name };
  });
}

function clean(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, longestName) || '_';
}

function findFree(name: string, used: ReadonlySet<string>): string {
  const short = name.slice(0, longestName);
  for (let number = 2, free = short; ; number += 1) {
    if (!used.has(free)) return free;
    const suffix = `_${number}`;
    free = `${short.slice(0, longestName - suffix.length)}${suffix}`;
  }
}
