import { type CallFault, classifyCallFault } from '../mcp/faults.ts';
import type { Session, Target } from '../mcp/session.ts';
import { findStepServer } from '../cases/step-server.ts';
import type { ServerStep } from '../cases/step.ts';
import { describeProcessEnd, lastLinesHeading, type ServerVisit, type WitnessedEnd } from '../model/process-end.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';

/** What an iteration talks to. */
export interface Connection {
  session: Session;
  target: Target;
  /** Knows whether the process of the server ended; null where the process was started elsewhere. */
  visit: ServerVisit | null;
  /** Aborts when the iteration is over. */
  signal: AbortSignal;
  /** Those of the iteration to all of its servers, this one included; the first is that of steps that name no server. */
  all: readonly Connection[];
}

/** A server and the session with it. */
export type ReachedServer = Pick<Connection, 'session' | 'target' | 'visit'>;

/** Makes the connections of one iteration; returns that to the first server, which knows the others. */
export function joinConnections(
  [first, ...others]: readonly [ReachedServer, ...ReachedServer[]],
  signal: AbortSignal,
): Connection {
  const all: Connection[] = [];
  const connection = { ...first, signal, all };
  all.push(connection, ...others.map((other) => ({ ...other, signal, all })));
  return connection;
}

/** The same sessions within another time. */
export function boundConnection(connection: Connection, signal: AbortSignal): Connection {
  return joinConnections([connection, ...connection.all.slice(1)], signal);
}

/** The connection to the server that a step speaks to; undefined where the case does not use that server. */
export function findConnection(step: ServerStep, { all }: Pick<Connection, 'all'>): Connection | undefined {
  return findStepServer(step, all, ({ target }) => ({ name: target.serverName }));
}

/** Why a step cannot run that names a server which the case does not use. */
export function describeUnknownServer({ serverName }: ServerStep, { all }: Pick<Connection, 'all'>): string {
  const known = joinWithin(
    all.map(({ target }) => printValue(target.serverName)),
    maxListLength,
  );
  return `The step calls server ${printValue(serverName)}, and only ${known} is under test.`;
}

/** The server in a sentence: by name where the iteration has several. */
export function nameServer({ target, all }: Pick<Connection, 'target' | 'all'>): string {
  return all.length > 1 ? `The server ${JSON.stringify(target.serverName)}` : 'The server';
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
  connection: Connection,
): Promise<CallFault | { kind: 'lost'; witnessed: WitnessedEnd }> {
  const { visit, session, signal } = connection;
  signal.throwIfAborted();
  const fault = classifyCallFault(error);
  if (visit === null || fault.kind === 'excessive' || (fault.kind === 'answered' && !fault.claimsEnd)) return fault;
  // A bridge that says so knows it already.
  const witnessed = await visit.findEnd(session.id, { mayBeEnding: fault.kind === 'unreachable' });
  return witnessed === null ? fault : { kind: 'lost', witnessed: { ...witnessed, subject: nameServer(connection) } };
}

/** One sentence, and below it what the process wrote last. `what` is the request that has no answer. */
export function describeLoss({ end, subject = 'The server' }: WitnessedEnd, what: string): string {
  const sentence = `${subject} ${describeProcessEnd(end)} before it answered ${what}.`;
  if (end.lastLines.length === 0) return `${sentence} It wrote nothing to stderr.`;
  return [sentence, lastLinesHeading, ...end.lastLines].join('\n');
}
