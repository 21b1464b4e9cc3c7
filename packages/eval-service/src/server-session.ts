import type { HonoRequest } from 'hono';
import { NetworkError, ProtocolError } from '../../../src/base/errors.ts';
import { endSentence } from '../../../src/base/text.ts';
import type { Clock } from '../../../src/base/time.ts';
import { classifyCallFault, describeUnreachable } from '../../../src/mcp/faults.ts';
import { type HttpTarget, openSession, type Session } from '../../../src/mcp/session.ts';
import { ApiError, invalid, notFound, notSupported } from './envelope.ts';
import { requireReachable } from './run-request.ts';
import type { FullReach } from './server-reach.ts';
import type { ServerRecord } from './store/server-store.ts';
import { answerWithin } from './time-limit.ts';

/** The time limit for the connection and the answer together: the default, and the maximum that a record may set as `timeout`. */
const defaultTimeoutMs = 60_000;
const maxTimeoutMs = 300_000;

interface SessionParts {
  reach: FullReach;
  clock: Clock;
}

/**
 * Opens a session with a server for one request, and ends it with the answer.
 *
 * @throws {ApiError} OAUTH_REQUIRED or FORBIDDEN if the server refuses access, FEATURE_NOT_SUPPORTED if it lacks the capability or the
 *   method, VALIDATION_ERROR and NOT_FOUND for parameters that it refuses, SERVER_UNREACHABLE for any other failure, and TIMEOUT
 */
export async function askServer<Answer>(
  server: ServerRecord,
  { reach, clock, request }: SessionParts & { request: HonoRequest },
  ask: (session: Session, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  requireReachable(server);
  const name = JSON.stringify(server.content.name);
  return await answerWithin(
    async (signal) => {
      const target = createTarget(server, await reach.open(server));
      const session = await openSession(target, { clock, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        const message = `A session with server ${name} could not be opened: ${describeUnreachable(error)}`;
        throw (
          reach.explain(server, error) ?? new ApiError('SERVER_UNREACHABLE', endSentence(message), { cause: error })
        );
      });
      await using _session = session;
      try {
        return await ask(session, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof ApiError ? error : (reach.explain(server, error) ?? explainFault(error, name));
      }
    },
    { clock, timeoutMs: readTimeout(server), client: request.raw.signal, what: `The request to server ${name}` },
  );
}

/** Creates the target of a session with a server. */
export function createTarget({ content }: ServerRecord, reached: Pick<HttpTarget, 'url' | 'access'>): HttpTarget {
  const { name: serverName, headers } = content;
  return { ...reached, serverName, protocol: 'auto', ...(headers !== undefined && { headers }) };
}

/** Reads the time limit of a server's record, in milliseconds. */
export function readTimeout({ content: { timeout } }: ServerRecord): number {
  return timeout === undefined || timeout <= 0 ? defaultTimeoutMs : Math.min(timeout, maxTimeoutMs);
}

/** The API's refusals for the error codes of JSON-RPC 2.0 (section 5.1) and of MCP. */
const refusals: ReadonlyMap<number, (message: string, details: { mcpCode: number }) => ApiError> = new Map([
  [-32_601, (message: string) => notSupported(message)],
  [-32_602, (message: string, details: { mcpCode: number }) => invalid(message, details)],
  [-32_002, () => notFound('Resource')],
]);

function explainFault(error: unknown, name: string): ApiError {
  if (error instanceof ProtocolError && !(error instanceof NetworkError)) {
    return notSupported(endSentence(`Server ${name} cannot answer: ${error.message}`));
  }
  const fault = classifyCallFault(error);
  const message = endSentence(`Server ${name} gave no result: ${fault.message}`);
  const code = fault.kind === 'answered' ? fault.code : null;
  if (code === null) return new ApiError('SERVER_UNREACHABLE', message, { cause: error });
  const details = { mcpCode: code };
  return (
    refusals.get(code)?.(message, details) ?? new ApiError('SERVER_UNREACHABLE', message, { details, cause: error })
  );
}
