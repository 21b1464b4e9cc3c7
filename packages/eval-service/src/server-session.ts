import type { HonoRequest } from 'hono';
import { NetworkError, ProtocolError } from '../../../src/base/errors.ts';
import { endSentence } from '../../../src/base/text.ts';
import type { Clock } from '../../../src/base/time.ts';
import { classifyCallFault, describeUnreachable } from '../../../src/mcp/faults.ts';
import { openSession, type Session, type Target } from '../../../src/mcp/session.ts';
import { ApiError, invalid, notFound, notSupported } from './envelope.ts';
import { requireReachable } from './run-request.ts';
import type { FullReach } from './server-reach.ts';
import type { ServerRecord } from './store/servers.ts';
import { answerWithin } from './time-limit.ts';

/** For the connection and the answer together, where the record sets no `timeout`; and the longest that one may set. */
const defaultTimeoutMs = 60_000;
const maxTimeoutMs = 300_000;

interface SessionParts {
  reach: FullReach;
  clock: Clock;
}

/**
 * Opens a session with a server for one request, and ends it with the answer.
 *
 * @throws {ApiError} the refusal that stands for what the server did: OAUTH_REQUIRED or FORBIDDEN where it lets the request in no
 *   further, FEATURE_NOT_SUPPORTED where it lacks the capability or the method, VALIDATION_ERROR and NOT_FOUND for parameters that it
 *   refuses, SERVER_UNREACHABLE for everything else, and TIMEOUT
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

/** A server as a session reaches it. */
export function createTarget({ content }: ServerRecord, reached: Pick<Target, 'url' | 'access'>): Target {
  const { name: serverName, headers } = content;
  return { ...reached, serverName, protocol: 'auto', ...(headers !== undefined && { headers }) };
}

/** Milliseconds. */
export function readTimeout({ content: { timeout } }: ServerRecord): number {
  return timeout === undefined || timeout <= 0 ? defaultTimeoutMs : Math.min(timeout, maxTimeoutMs);
}

/** Codes of JSON-RPC 2.0 (section 5.1) and of MCP, and what the API answers for them. */
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
