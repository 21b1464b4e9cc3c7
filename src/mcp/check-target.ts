import { NetworkError, ProtocolError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { type Clock, formatDuration, startTimeLimit, systemClock } from '../base/time.ts';
import { describeUnreachable } from './faults.ts';
import type { Handshake } from './protocol.ts';
import { isNetworkFailure, openSession, type Session, type Target } from './session.ts';

/** What a server said about itself when it was connected to. */
export interface TargetInfo extends Handshake {
  /** Whether the server declares a tool as read-only, by tool name; null where it did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
}

/** How long a server may take to list its tools; one that does not is still connected to. */
const listTimeoutMs = 10_000;

/**
 * Connects to the server once, to the end of its handshake, and says which protocol it speaks and what its tools declare.
 *
 * @throws {NetworkError} when it cannot be reached or does not answer within `timeoutMs`; its cause is a DeadlineError then.
 * @throws {ProtocolError} when what answers is no MCP server of the wanted protocol.
 * @throws the signal's reason once it aborts.
 */
export async function checkTarget(
  target: Target,
  { signal, timeoutMs, clock = systemClock }: { signal?: AbortSignal | undefined; timeoutMs: number; clock?: Clock },
): Promise<TargetInfo> {
  using limit = startTimeLimit(clock, { afterMs: timeoutMs, what: 'The handshake', signal });
  try {
    await using session = await openSession(target, { clock, signal: limit.signal });
    return {
      ...session.handshake,
      readOnlyTools: await readHints(session, { clock, signal }),
    };
  } catch (error) {
    signal?.throwIfAborted();
    // The origin alone: the path and the query of an MCP endpoint may be its key.
    const subject = `The MCP server ${target.serverName} at ${new URL(target.url).origin}`;
    if (limit.signal.aborted) {
      const message = `${subject} did not complete the handshake within ${formatDuration(timeoutMs)}.`;
      throw new NetworkError(message, { cause: limit.signal.reason });
    }
    if (isNetworkFailure(error)) {
      const message = `${subject} could not be reached: ${describeUnreachable(error)}`;
      throw new NetworkError(endSentence(message), { cause: error });
    }
    const message = `${subject} did not complete the handshake: ${describeUnreachable(error)}`;
    throw new ProtocolError(endSentence(message), { cause: error });
  }
}

/** What a server's tools do decides only how iterations are scheduled, so a list that cannot be read is no error here. */
async function readHints(
  session: Session,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<ReadonlyMap<string, boolean> | null> {
  using limit = startTimeLimit(clock, { afterMs: listTimeoutMs, what: 'The list of tools', signal });
  try {
    const tools = await session.listTools({ signal: limit.signal });
    return tools === null ? null : new Map([...tools].map(([name, { isReadOnly }]) => [name, isReadOnly]));
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}
