import { classifyCallFault } from '../mcp/faults.ts';
import type { Session, Target } from '../mcp/session.ts';
import { describeProcessEnd, type ServerVisit, type WitnessedEnd } from '../model/process-end.ts';

/** What an iteration talks to. */
export interface Connection {
  session: Session;
  target: Target;
  /** Knows whether the process of the server ended; null where the process was started elsewhere. */
  visit: ServerVisit | null;
  /** Aborts when the iteration is over. */
  signal: AbortSignal;
}

/** An iteration whose server's process ended before the iteration was over. */
export interface ProcessLoss extends WitnessedEnd {
  /** Whether a request was open or was refused; false where the iteration had no session yet. */
  isDuringCall: boolean;
}

/**
 * Finds out whether a request has no answer because the process of the server ended; null where that is not known. Only the witness
 * is believed: the error itself comes from the server.
 */
export async function findLoss(
  error: unknown,
  { visit, session }: Pick<Connection, 'visit' | 'session'>,
): Promise<WitnessedEnd | null> {
  if (visit === null) return null;
  const fault = classifyCallFault(error);
  if (fault.kind === 'excessive' || (fault.kind === 'answered' && !fault.claimsEnd)) return null;
  // A bridge that says so knows it already.
  return await visit.findEnd(session.id, { mayBeEnding: fault.kind === 'unreachable' });
}

/** One sentence, and below it what the process wrote last. `what` is the request that has no answer. */
export function describeLoss({ end }: WitnessedEnd, what: string): string {
  const sentence = `The server ${describeProcessEnd(end)} before it answered ${what}.`;
  if (end.lastLines.length === 0) return `${sentence} It wrote nothing to stderr.`;
  return [sentence, 'Its last lines on stderr:', ...end.lastLines].join('\n');
}
