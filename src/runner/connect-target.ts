import { type Clock, startTimeLimit } from '../base/time.ts';
import { checkTarget } from '../mcp/check-target.ts';
import type { Target } from '../mcp/session.ts';
import type { ProcessWitness } from '../model/process-end.ts';

/** How long a server may take for its handshake before a run of it is refused. */
const connectTimeoutMs = 60_000;

/** A server as the engine reaches it, and what its tools declare. */
export interface ConnectedTarget {
  target: Target;
  /** Whether a tool is declared read-only, by tool name; null where the server did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
}

/**
 * Connects to a server once and returns it with the protocol that it turned out to speak, so that the iterations of a run need not find
 * out again.
 *
 * @throws {NetworkError} when it cannot be reached; its cause is a DeadlineError where it did not answer in time
 * @throws {ProtocolError} when what answers is no MCP server of the wanted protocol
 * @throws the signal's reason once it aborts
 */
export async function connectTarget(
  wanted: Target,
  { witness, clock, signal }: { witness: ProcessWitness | null; clock: Clock; signal?: AbortSignal | undefined },
): Promise<ConnectedTarget> {
  using limit = startTimeLimit(clock, { afterMs: connectTimeoutMs, what: 'The wait for the server', signal });
  using visit = (await witness?.visit({ isAlone: false, isProbe: true, signal: limit.signal })) ?? null;
  const { protocol, readOnlyTools } = await checkTarget(wanted, { timeoutMs: connectTimeoutMs, clock, signal });
  // A server that ended over the list of its tools is started again with the first iteration, once its end is known.
  if (readOnlyTools === null) await visit?.findEnd(undefined, { mayBeEnding: true });
  return { target: { ...wanted, protocol }, readOnlyTools };
}
