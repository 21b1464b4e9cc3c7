/**
 * A server object of an official SDK: `Server` or `McpServer`, of either major version. The type of the transport is the SDK's own, so that
 * this package needs none.
 */
export interface InProcessServer {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
}

/** Makes a new server object. Called for each session, and once before them for the handshake. */
export type ServerFactory = () => InProcessServer | Promise<InProcessServer>;
