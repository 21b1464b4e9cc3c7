import { fetch, type RequestInit } from 'undici';
import { CancelledError, ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Secret } from '../base/redaction.ts';
import { type Clock, type Deadline, startTimeLimit, systemClock } from '../base/time.ts';
import { generator } from '../base/version.ts';
import { openRoute } from '../http/dispatcher.ts';
import type { ProxySettings } from '../http/proxy.ts';
import { type AttemptOutcome, retryRequest } from '../http/retry.ts';
import { isHeaderSafe, isProtected } from '../http/url.ts';
import { readGitHubFailure } from './github-failure.ts';
import { createOctokit, type Octokit } from './octokit.ts';

/** A connection to GitHub's API with one token. The functions in this folder take it as their first argument. */
export interface GitHubClient extends AsyncDisposable {
  /**
   * Makes typed requests, and reads all pages. A refusal throws a `GitHubError`, a missing answer a `NetworkError`; neither holds headers
   * or bodies.
   */
  readonly octokit: Octokit;
}

export interface GitHubClientOptions {
  /** `https://api.github.com`, or `https://host/api/v3` of a GitHub Enterprise Server. */
  apiUrl: string;
  token: Secret;
  clock: Clock;
  logger: Logger;
  /** Bounds every attempt and every wait. */
  deadline: Deadline;
  /** Ends every request that is under way when it aborts. */
  signal?: AbortSignal | undefined;
  proxy?: ProxySettings | undefined;
  /** Draws in [0, 1) for the jitter of waits. */
  random?: () => number;
}

const attemptTimeoutMs = 30_000;
const maxAttempts = 4;
/** Several times the size of a page of a hundred comments of 64 KiB. */
const maxResponseBytes = 32 * 2 ** 20;

/**
 * Opens a client. It sends nothing before the first request; disposing it ends the requests under way and its connections.
 *
 * @throws {ConfigurationError} if the URL or the token cannot be used
 */
export function openGitHub(options: GitHubClientOptions): GitHubClient {
  const { clock, logger, deadline, random = Math.random } = options;
  const apiUrl = parseApiUrl(options.apiUrl);
  const closing = new AbortController();
  const signals = options.signal === undefined ? [closing.signal] : [closing.signal, options.signal];
  const signal = AbortSignal.any(signals);
  const { dispatcher } = openRoute(apiUrl, {
    proxy: options.proxy,
    signal: closing.signal,
    maxResponseBytes,
  });

  const octokit = createOctokit(parseToken(options.token), {
    baseUrl: apiUrl.href.replace(/\/$/, ''),
    userAgent: `${generator.name}/${generator.version}`,
    // Without a `log` here, Octokit prints warnings about deprecated routes to the console.
    log: { debug: () => {}, info: () => {}, warn: (message) => logger.debug(message), error: () => {} },
    // Replaces the `fetch` that the package made for the proxies of the environment.
    request: {
      // A renamed repository redirects. To follow would send the token to any address that the answer names.
      redirect: 'error',
      fetch: (url: string, init: RequestInit) => {
        // An answer links to its next page, which must be on the same host.
        if (new URL(url).origin !== apiUrl.origin) throw new TypeError('the answer leads to another host');
        return fetch(url, { ...init, dispatcher });
      },
    },
  });
  octokit.hook.wrap('request', (request, endpoint) => {
    const { method, url } = octokit.request.endpoint(endpoint);
    const what = `${method} ${new URL(url).pathname}`;
    // Among POST requests, only a GraphQL query may be repeated.
    const isSafe = method !== 'POST' || url.endsWith('/graphql');
    const attemptOnce = async (): Promise<AttemptOutcome<Awaited<ReturnType<typeof request>>>> => {
      // Sockets use real time, even if the caller injects another clock.
      const afterMs = Math.max(1, Math.min(attemptTimeoutMs, deadline.remainingMs()));
      using limit = startTimeLimit(systemClock, { afterMs, what, signal });
      try {
        // Octokit's hooks use the endpoint object that they were bound to, not the argument of `request`; so this changes the object.
        endpoint.request = { ...endpoint.request, signal: limit.signal };
        return { ok: true, answer: await request(endpoint) };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, ...readGitHubFailure(error, { what, host: apiUrl.host, isSafe, clock }) };
      }
    };
    return retryRequest(attemptOnce, { isSafe, maxAttempts, clock, random, logger, signal, deadlines: [deadline] });
  });
  return {
    octokit,
    [Symbol.asyncDispose]: async () => {
      closing.abort(new CancelledError('The connection to GitHub was closed.'));
      await dispatcher.destroy();
    },
  };
}

function parseApiUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && isProtected(url)) return url;
  const message = 'is no https URL, which alone protects the token; write one such as https://api.github.com';
  throw new ConfigurationError([{ code: 'invalid-github-url', input: 'GITHUB_API_URL', message }]);
}

function parseToken(token: Secret): string {
  const text = token.reveal();
  if (isHeaderSafe(text)) return text;
  const message = 'has a space, a line break or another character that no token has';
  throw new ConfigurationError([{ code: 'invalid-github-token', input: 'github-token', message }]);
}
