/** An MCP server reachable over Streamable HTTP, and what the cases call it. */
export interface Target {
  url: string;
  serverName: string;
  /** `legacy`: up to 2025-11-25, with a handshake; `modern`: 2026-07-28; `auto`: the first of them that the server accepts. */
  protocol: 'legacy' | 'modern' | 'auto';
  headers?: Record<string, string>;
}
