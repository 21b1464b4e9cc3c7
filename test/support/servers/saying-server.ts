import { type FixtureMcpServer, startFixtureMcpServer, text } from './fixture-mcp-server.ts';

/** Starts an MCP server whose tool `argv` answers with these words, like stdio-server.ts with its arguments. */
export function startSayingServer(says: string): Promise<FixtureMcpServer> {
  const words = says.split(' ').filter((word) => word !== '');
  return startFixtureMcpServer({ argv: { call: () => text(JSON.stringify(words)) } }, { era: 'modern' });
}
