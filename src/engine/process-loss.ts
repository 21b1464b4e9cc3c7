import { type CallFault, classifyCallFault } from '../mcp/faults.ts';
import type { Session, Target } from '../mcp/session.ts';
import { describeProcessEnd, lastLinesHeading, type ServerVisit, type WitnessedEnd } from '../model/process-end.ts';

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
 * Explains why a request failed: `lost` if the process of the server ended, otherwise what its error shows. Only the witness is
 * believed about the process: the error itself comes from the server.
 *
 * @throws the reason of the iteration's signal, if that has aborted
 */
export async function explainFailedRequest(
  error: unknown,
  { visit, session, signal }: Pick<Connection, 'visit' | 'session' | 'signal'>,
): Promise<CallFault | { kind: 'lost'; witnessed: WitnessedEnd }> {
  signal.throwIfAborted();
  const fault = classifyCallFault(error);
  if (visit === null || fault.kind === 'excessive' || (fault.kind === 'answered' && !fault.claimsEnd)) return fault;
  // A bridge that says so knows it already.
  const witnessed = await visit.findEnd(session.id, { mayBeEnding: fault.kind === 'unreachable' });
  return witnessed === null ? fault : { kind: 'lost', witnessed };
}

/** One sentence, and below it what the process wrote last. `what` is the request that has no answer. */
export function describeLoss({ end }: WitnessedEnd, what: string): string {
  const sentence = `The server ${describeProcessEnd(end)} before it answered ${what}.`;
  if (end.lastLines.length === 0) return `${sentence} It wrote nothing to stderr.`;
  return [sentence, lastLinesHeading, ...end.lastLines].join('\n');
}
