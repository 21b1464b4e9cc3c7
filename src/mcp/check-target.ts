import { NetworkError, ProtocolError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { type Clock, formatDuration, startTimeLimit, systemClock } from '../base/time.ts';
import { describeUnreachable } from './faults.ts';
import type { Handshake } from './protocol.ts';
import { isNetworkFailure, openSession, type Session, type Target } from './session.ts';

/** The server's description of itself during the connection. */
export interface TargetInfo extends Handshake {
  /** Says for each tool name if the server declares it read-only; null if it did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
}

/** The time limit for listing the tools; a server that exceeds it still counts as connected. */
const listTimeoutMs = 10_000;

/**
 * Connects to the server once, completes the handshake, and returns the protocol that it speaks and the declarations of its tools.
 *
 * @throws {NetworkError} if it cannot be reached or does not answer within `timeoutMs`; in that case the cause is a DeadlineError.
 * @throws {ProtocolError} if no MCP server of the wanted protocol answers.
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
    // Names only the origin: the path and the query of an MCP endpoint may be its key.
    const where = target.url === undefined ? 'on stdio' : `at ${new URL(target.url).origin}`;
    const subject = `The MCP server ${target.serverName} ${where}`;
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

/** The declarations only decide how iterations are scheduled, so an unreadable list is no error here. */
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
