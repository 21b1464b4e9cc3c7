import { SdkHttpError } from '@modelcontextprotocol/client';
import type { ServerVisit } from '../model/process-end.ts';
import { createIterationBudget, openSession, type Session, type SessionOptions, type Target } from './session.ts';

/**
 * Opens a session that opens itself once more if the server has forgotten it (HTTP 404, see "Session Management" in the transport's
 * specification). It does so only before the first answer, lists of tools not counted: later, the server's state for the session is part
 * of the case's test. It does not open again after the process has ended, because that end is evidence about the case.
 *
 * @throws the same as `openSession`.
 */
export async function openRenewableSession(
  target: Target,
  { visit, ...options }: Omit<SessionOptions, 'budget'> & { visit: ServerVisit | null },
): Promise<Session> {
  const budget = createIterationBudget();
  let current = await openSession(target, { ...options, budget });
  let mayRenew = true;

  const isForgotten = async (error: unknown) => {
    if (!mayRenew || current.id === undefined || !(error instanceof SdkHttpError) || error.status !== 404) return false;
    return visit === null || (await visit.findEnd(current.id, { mayBeEnding: false })) === null;
  };
  const request = async <T>(send: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await send(current);
    } catch (error) {
      if (signal.aborted || !(await isForgotten(error))) throw error;
      mayRenew = false;
      const forgotten = current;
      current = await openSession(target, { ...options, signal, budget });
      await forgotten[Symbol.asyncDispose]();
      return await send(current);
    }
  };

  const requestOnce: typeof request = async (send, signal) => {
    try {
      return await request(send, signal);
    } finally {
      mayRenew = false;
    }
  };

  return {
    get id() {
      return current.id;
    },
    handshake: current.handshake,
    capabilities: current.capabilities,
    instructions: current.instructions,
    get toolListChanges() {
      return current.toolListChanges;
    },
    get hasTasks() {
      return current.hasTasks;
    },
    offered: current.offered,
    get excess() {
      return current.excess;
    },
    callTool: (toolName, args, options) =>
      requestOnce((session) => session.callTool(toolName, args, options), options.signal),
    listTools: (options) => request((session) => session.listTools(options), options.signal),
    request: (asked, options) => requestOnce((session) => session.request(asked, options), options.signal),
    subscribe: (uri, options) => requestOnce((session) => session.subscribe(uri, options), options.signal),
    waitForUpdate: (uri, options) => current.waitForUpdate(uri, options),
    [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
  };
}
