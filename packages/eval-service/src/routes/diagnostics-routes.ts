import type { Clock } from '../../../../src/base/time.ts';
import { createFailedDiagnosis, type Diagnosis } from '../../../../src/mcp/diagnosis.ts';
import { describeServer, diagnoseServer } from '../../../../src/mcp/diagnose.ts';
import { findIssuer } from '../../../../src/mcp/refresh-token.ts';
import { diagnosticsOperations } from '../../../../src/service/operations/diagnostics.ts';
import { ApiError, invalid } from '../envelope.ts';
import { requireServer } from '../lookup.ts';
import { identifyServer, type TokenBook } from '../oauth-tokens.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { requireReachable } from '../run-request.ts';
import type { FullReach } from '../server-reach.ts';
import { askServer, createTarget, readTimeout } from '../server-session.ts';
import type { Store } from '../store/open-store.ts';
import type { ServerRecord } from '../store/server-store.ts';

/** The time limit of an examination, which connects several times. */
const doctorTimeoutMs = 60_000;

/** Diagnostics of servers, and the tokens that callers bring for them. */
export function serveDiagnostics(
  serve: ServeOperation,
  { store, clock, reach, tokens }: { store: Store; clock: Clock; reach: FullReach; tokens: TokenBook },
): void {
  const find = ({ projectId, serverId }: { projectId: string; serverId: string }) =>
    requireServer(store, projectId, serverId);

  serve(diagnosticsOperations.validateServer, ({ ids, request }) =>
    askServer(find(ids), { reach, clock, request }, async (session) => ({
      success: true as const,
      status: 'connected' as const,
      initInfo: describeServer(session),
    })),
  );

  serve(diagnosticsOperations.runDoctor, async ({ ids, request }) => {
    const server = find(ids);
    requireReachable(server);
    const diagnosis = await examine(server, { reach, clock, signal: request.raw.signal });
    return { generatedAt: new Date(clock.now()).toISOString(), ...diagnosis };
  });

  serve(diagnosticsOperations.checkOAuth, ({ ids }) => {
    const { useOAuth = false, transportType, url } = find(ids).content;
    return { useOAuth, serverUrl: transportType === 'http' ? (url ?? null) : null };
  });

  serve(diagnosticsOperations.importOAuthTokens, async ({ ids, body, caller }) => {
    const server = find(ids);
    const { transportType, url = '', clientId, clientSecret } = server.content;
    if (transportType !== 'http') throw invalid('A server over stdio has no OAuth.');
    if (identifyServer(body.serverUrl) !== identifyServer(url)) {
      throw invalid("serverUrl: Not the URL of the server's record");
    }
    const client = body.clientInformation ?? (clientId === undefined ? null : { clientId, clientSecret });
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetimeS, scope } = body.tokens;
    // The issuer is determined now and stored with the tokens: a server could later name another issuer, which would get the refresh token.
    const issuer = client === null || refreshToken === undefined ? null : await findIssuer(url, clock);
    const refresh =
      client === null || refreshToken === undefined || issuer === null
        ? null
        : {
            issuer,
            clientId: client.clientId,
            clientSecret: client.clientSecret ?? null,
            refreshToken,
            resource: body.oauthResourceUrl ?? null,
          };
    const expiresAt = lifetimeS === undefined ? null : clock.now() + lifetimeS * 1000;
    // The server may have been deleted or moved during the request.
    if (identifyServer(find(ids).content.url ?? '') !== identifyServer(url)) {
      throw invalid('serverUrl: The URL of the server changed meanwhile; import the tokens again');
    }
    tokens.keep(server, caller, { accessToken, scope: scope ?? null, expiresAt, refresh });
    return { imported: true as const, expiresAt };
  });
}

/** Examines a server. A command that does not start is a finding; a command that may not be started is refused. */
async function examine(
  server: ServerRecord,
  { reach, clock, signal }: { reach: FullReach; clock: Clock; signal: AbortSignal },
): Promise<Diagnosis> {
  const timeoutMs = Math.min(readTimeout(server), doctorTimeoutMs);
  const reached = await reach.openAsIs(server).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'SERVER_UNREACHABLE') return error;
    throw error;
  });
  if (reached instanceof ApiError) return createFailedDiagnosis({ status: 'error', detail: reached.message });
  const started = { status: 'ok' as const, detail: 'The command started a server that answers on stdio.' };
  return await diagnoseServer(createTarget(server, reached), {
    clock,
    signal,
    timeoutMs,
    ...(server.content.transportType === 'stdio' && { started }),
  });
}
