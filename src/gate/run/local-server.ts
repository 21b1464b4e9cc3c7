import type { Target } from '../../mcp/session.ts';
import type { RunningServer } from '../../server/running-server.ts';

/** A server as runs of this process reach it. */
export interface LocalServer {
  running: RunningServer;
  /** As it is reached now: the URL of a tunnel changes with its grant. */
  target(): Target;
  spoken: Set<string>;
  /** Null where it has listed none yet. */
  tools: readonly string[] | null;
}
