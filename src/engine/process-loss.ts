import { type CallFault, classifyCallFault } from '../mcp/faults.ts';
import type { Session, Target } from '../mcp/session.ts';
import { findStepServer } from '../cases/step-server.ts';
import type { ServerStep } from '../cases/step.ts';
import { describeProcessEnd, lastLinesHeading, type ServerVisit, type WitnessedEnd } from '../model/process-end.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';

/** The session of an iteration with one server, and its context. */
export interface Connection {
  session: Session;
  target: Target;
  /** Reports if the process of the server ended; null if another program started the process. */
  visit: ServerVisit | null;
  /** Aborts when the iteration is over. */
  signal: AbortSignal;
  /** The connections of the iteration to all its servers, including this one. Steps that name no server use the first. */
  all: readonly Connection[];
}

/** A server and the session with it. */
export type ReachedServer = Pick<Connection, 'session' | 'target' | 'visit'>;

/** Creates the connections of one iteration. Returns the connection to the first server, whose `all` lists every connection. */
export function joinConnections(
  [first, ...others]: readonly [ReachedServer, ...ReachedServer[]],
  signal: AbortSignal,
): Connection {
  const all: Connection[] = [];
  const connection = { ...first, signal, all };
  all.push(connection, ...others.map((other) => ({ ...other, signal, all })));
  return connection;
}

/** Returns connections with the same sessions and another signal. */
export function boundConnection(connection: Connection, signal: AbortSignal): Connection {
  return joinConnections([connection, ...connection.all.slice(1)], signal);
}

/** Finds the connection to the server of a step; undefined if the case does not use that server. */
export function findConnection(step: ServerStep, { all }: Pick<Connection, 'all'>): Connection | undefined {
  return findStepServer(step, all, ({ target }) => ({ name: target.serverName }));
}

/** Explains that a step names a server that the case does not use. */
export function describeUnknownServer({ serverName }: ServerStep, { all }: Pick<Connection, 'all'>): string {
  const known = joinWithin(
    all.map(({ target }) => printValue(target.serverName)),
    maxListLength,
  );
  return `The step calls server ${printValue(serverName)}, and only ${known} is under test.`;
}

/** Names the server in a sentence, with its name if the iteration has several servers. */
export function nameServer({ target, all }: Pick<Connection, 'target' | 'all'>): string {
  return all.length > 1 ? `The server ${JSON.stringify(target.serverName)}` : 'The server';
}

/** The end of the server's process before the iteration was over. */
export interface ProcessLoss extends WitnessedEnd {
  /** True if a request was open or was refused; false if the iteration had no session yet. */
  isDuringCall: boolean;
}

/**
 * Explains why a request failed: `lost` if the process of the server ended, otherwise the fault that the error shows. Only the witness
 * decides if the process ended, because the error comes from the server.
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
  // Waits only if the server is unreachable: a bridge that reports the end knows it already.
  const witnessed = await visit.findEnd(session.id, { mayBeEnding: fault.kind === 'unreachable' });
  return witnessed === null ? fault : { kind: 'lost', witnessed: { ...witnessed, subject: nameServer(connection) } };
}

/** Describes the loss in one sentence, followed by the last lines of the process. `what` is the request without an answer. */
export function describeLoss({ end, subject = 'The server' }: WitnessedEnd, what: string): string {
  const sentence = `${subject} ${describeProcessEnd(end)} before it answered ${what}.`;
  if (end.lastLines.length === 0) return `${sentence} It wrote nothing to stderr.`;
  return [sentence, lastLinesHeading, ...end.lastLines].join('\n');
}
