import { Disposer } from '../base/disposal.ts';
import { endSentence } from '../base/text.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import { describeUnreachable } from '../mcp/faults.ts';
import type { Session, SessionOptions, Target } from '../mcp/session.ts';
import { ExcessError } from '../mcp/traffic-budget.ts';
import type { ServerVisit } from '../model/process-end.ts';
import { startIterationLimit } from './iteration-limit.ts';
import type { Ending } from './outcome.ts';
import type { ReachedServer } from './process-loss.ts';
import type { OpenSession } from './session-tape.ts';
import { clipReason } from '../checks/reasons.ts';

/** A server that a case uses, and the witness of its process. */
export interface ReachableServer {
  target: Target;
  visit: ServerVisit | null;
}

interface ConnectOptions {
  clock: Clock;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  session: Pick<SessionOptions, 'watch' | 'abilities' | 'taskTtlMs'>;
  openSession: OpenSession;
}

/** Opens a session with each server, in order. If one connection fails, closes the sessions opened before it. */
export async function connectAll(
  servers: readonly [ReachableServer, ...ReachableServer[]],
  options: ConnectOptions,
): Promise<{ sessions: Disposer; reached: [ReachedServer, ...ReachedServer[]] } | { ending: Ending }> {
  await using sessions = new Disposer();
  const open = async (server: ReachableServer) => {
    const subject = servers.length > 1 ? `The server ${JSON.stringify(server.target.serverName)}` : 'The server';
    const opened = await connect(server, { ...options, subject });
    return 'ending' in opened ? opened : { ...server, session: sessions.use(opened.session) };
  };
  const [first, ...others] = servers;
  const main = await open(first);
  if ('ending' in main) return main;
  const reached: [ReachedServer, ...ReachedServer[]] = [main];
  for (const other of others) {
    const next = await open(other);
    if ('ending' in next) return next;
    reached.push(next);
  }
  return { sessions: sessions.move(), reached };
}

async function connect(
  { target, visit }: ReachableServer,
  { clock, signal, timeoutMs, subject, session: options, openSession }: ConnectOptions & { subject: string },
): Promise<{ session: Session } | { ending: Ending }> {
  using limit = startIterationLimit(clock, timeoutMs, signal);
  try {
    return { session: await openSession(target, { ...options, clock, signal: limit.signal, visit }) };
  } catch (error) {
    const stoppedBy = limit.stoppedBy();
    if (stoppedBy === 'caller') return { ending: { status: 'cancelled', reason: 'Cancelled before the first step.' } };
    // A server that exceeds a limit fails the case, while a failed handshake does not: the data that it sent is evidence.
    if (error instanceof ExcessError) return { ending: failByExcess(error) };
    // A server without a connection says nothing about the case, while a tool that hangs does.
    const reason =
      stoppedBy === 'timeout'
        ? `${subject} did not complete the handshake within ${formatDuration(timeoutMs)}.`
        : clipReason(endSentence(`${subject} could not be connected to: ${describeUnreachable(error)}`));
    const witnessed = stoppedBy === null ? await visit?.findEnd(undefined, { mayBeEnding: true }) : null;
    return { ending: { status: 'failed', reason, ...(witnessed && { loss: { ...witnessed, isDuringCall: false } }) } };
  }
}

/** Ends an iteration whose server exceeded a limit. */
export function failByExcess({ message }: ExcessError): Ending {
  return { status: 'completed', reason: message };
}
