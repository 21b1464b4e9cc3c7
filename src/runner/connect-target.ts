import { type Clock, startTimeLimit } from '../base/time.ts';
import { checkTarget } from '../mcp/check-target.ts';
import type { Target } from '../mcp/session.ts';
import type { ProcessWitness } from '../model/process-end.ts';

/** The time limit of a server's handshake; then the run is refused. */
const connectTimeoutMs = 60_000;

/** A server as the engine reaches it, with the declarations of its tools. */
export interface ConnectedTarget {
  target: Target;
  /** Says for each tool name if it is declared read-only; null if the server did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
}

/**
 * Connects to a server once and returns it with the protocol that it speaks, so that the iterations of a run need not detect it again.
 *
 * @throws {NetworkError} if it cannot be reached; its cause is a DeadlineError if it did not answer in time
 * @throws {ProtocolError} if no MCP server of the wanted protocol answers
 * @throws the signal's reason once it aborts
 */
export async function connectTarget(
  wanted: Target,
  { witness, clock, signal }: { witness: ProcessWitness | null; clock: Clock; signal?: AbortSignal | undefined },
): Promise<ConnectedTarget> {
  using limit = startTimeLimit(clock, { afterMs: connectTimeoutMs, what: 'The wait for the server', signal });
  using visit = (await witness?.visit({ isAlone: false, isProbe: true, signal: limit.signal })) ?? null;
  const { protocol, readOnlyTools } = await checkTarget(wanted, { timeoutMs: connectTimeoutMs, clock, signal });
  // If listing the tools ended the server, the first iteration starts it again, once its end is known.
  if (readOnlyTools === null) await visit?.findEnd(undefined, { mayBeEnding: true });
  return { target: { ...wanted, protocol }, readOnlyTools };
}
