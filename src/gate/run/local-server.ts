import type { Target } from '../../mcp/session.ts';
import type { RunningServer } from '../../server/running-server.ts';

/** A server, and how runs of this process reach it. */
export interface LocalServer {
  running: RunningServer;
  /** Returns the current target: the URL of a tunnel changes with its grant. */
  target(): Target;
  spoken: Set<string>;
  /** Null if it has listed none yet. */
  tools: readonly string[] | null;
}
