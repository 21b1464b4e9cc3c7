import type { ToolDeclaration } from '../../../../src/mcp/tool-declarations.ts';
import type { ServerTools } from '../server-tools.ts';

/** A tool of a server, with the name that the model gets. */
export interface NamedServerTool {
  name: string;
  server: ServerTools;
  /** The name that the server uses. */
  toolName: string;
  declaration: ToolDeclaration;
}

/** Providers accept letters, digits, `_` and `-`. */
const longestName = 64;

/**
 * Gives each tool a unique name for the model: the server's name for it, or `<server>__<tool>` if several servers have that name or it is
 * already taken.
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
