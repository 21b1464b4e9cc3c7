import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, startTimeLimit } from '../../base/time.ts';
import { openProxyRoute } from '../../http/dispatcher.ts';
import { forward } from '../../http/forward.ts';
import { readProxySettings } from '../../http/proxy.ts';
import type { OpenProxy } from '../../server/running-server.ts';
import { makeTemporaryRoot, removeTree } from '../../server/temporary-root.ts';
import { createAuthority } from '../../upstream/certificate.ts';
import {
  maxBodyBytes,
  type UpstreamAnswer,
  type UpstreamRequest,
  type UpstreamSession,
} from '../../upstream/exchange.ts';
import { openProxy } from '../../upstream/proxy.ts';
import { listProxyVariables } from '../../upstream/variables.ts';

/** The way of a server's requests to sessions that answer them, and from these to the APIs. Disposing it removes the certificate. */
export interface UpstreamRoute extends AsyncDisposable {
  /** Returns a proxy whose requests the session answers. */
  serve: (session: UpstreamSession) => OpenProxy;
  /** Sends a request to its API. */
  send: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
}

const prefix = 'mcp-eval-ci-upstream-';

/** A stream that does not end would keep its request forever. */
const answerTimeoutMs = 60_000;

/**
 * Opens a route with an authority of its own, which sends requests only if `isSending`.
 *
 * @throws {ConfigurationError} if it sends requests, and a variable names a proxy that cannot be used
 */
export function openUpstreamRoute({
  environment,
  clock,
  isSending,
}: {
  environment: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  isSending: boolean;
}): UpstreamRoute {
  const authority = createAuthority(clock.now());
  const route = isSending ? openProxyRoute(readProxySettings(environment)) : null;
  const root = makeTemporaryRoot(prefix);
  const certificate = join(root, 'authority.pem');
  writeFileSync(certificate, authority.certificate);
  return {
    serve: (session) => async (listener) => {
      const proxy = openProxy(listener, { authority, session });
      return {
        variables: listProxyVariables(proxy.url, certificate),
        [Symbol.asyncDispose]: async () => await proxy[Symbol.asyncDispose](),
      };
    },
    send: async (request) => {
      if (route === null) throw new Error('A replay was about to send a request.');
      using limit = startTimeLimit(clock, { afterMs: answerTimeoutMs, what: 'The answer of the API' });
      return await forward(route.dispatcher, request, { maxBytes: maxBodyBytes, signal: limit.signal });
    },
    [Symbol.asyncDispose]: async () => {
      await route?.[Symbol.asyncDispose]();
      removeTree(root);
    },
  };
}
