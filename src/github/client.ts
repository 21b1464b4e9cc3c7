import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
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
import { readGitHubFailure } from './failure.ts';

const GitHubOctokit = Octokit.plugin(paginateRest);

/** A connection to GitHub's API with one token. The operations in this folder take it as their first argument. */
export interface GitHubClient extends AsyncDisposable {
  /**
   * Typed requests, and pages of them. What is refused throws a `GitHubError`, what is not answered a `NetworkError`;
   * neither holds headers or bodies.
   */
  readonly octokit: InstanceType<typeof GitHubOctokit>;
}

export interface GitHubClientOptions {
  /** `https://api.github.com`, or `https://host/api/v3` of a GitHub Enterprise Server. */
  apiUrl: string;
  token: Secret;
  clock: Clock;
  logger: Logger;
  /** No attempt and no wait goes beyond it. */
  deadline: Deadline;
  /** Ends every request that is under way when it aborts. */
  signal?: AbortSignal | undefined;
  proxy?: ProxySettings | undefined;
  /** Draws in [0, 1) for the jitter of waits. */
  random?: () => number;
}

const attemptTimeoutMs = 30_000;
const maxAttempts = 4;
/** A page of a hundred comments of 64 KiB each fits several times. */
const maxResponseBytes = 32 * 2 ** 20;

/**
 * Opens a client. Nothing is sent before the first request; disposing it ends the requests under way and its connections.
 *
 * @throws {ConfigurationError} when the URL or the token cannot be used
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

  const octokit = new GitHubOctokit({
    auth: parseToken(options.token),
    baseUrl: apiUrl.href.replace(/\/$/, ''),
    userAgent: `${generator.name}/${generator.version}`,
    // Without a `log` here, Octokit prints warnings about deprecated routes to the console.
    log: { debug: () => {}, info: () => {}, warn: (message) => logger.debug(message), error: () => {} },
    request: {
      // A renamed repository redirects; following would take the token to wherever the answer points.
      redirect: 'error',
      fetch: (url: string, init: RequestInit) => {
        // Pages are followed by links in answers.
        if (new URL(url).origin !== apiUrl.origin) throw new TypeError('the answer leads to another host');
        return fetch(url, { ...init, dispatcher });
      },
    },
  });
  octokit.hook.wrap('request', (request, endpoint) => {
    const { method, url } = octokit.request.endpoint(endpoint);
    const what = `${method} ${new URL(url).pathname}`;
    // Of what is posted, only a query of GraphQL may be posted twice.
    const isSafe = method !== 'POST' || url.endsWith('/graphql');
    const attemptOnce = async (): Promise<AttemptOutcome<Awaited<ReturnType<typeof request>>>> => {
      // Sockets live in real time, whatever the clock of the caller says.
      const afterMs = Math.max(1, Math.min(attemptTimeoutMs, deadline.remainingMs()));
      using limit = startTimeLimit(systemClock, { afterMs, what, signal });
      try {
        // The hooks below take the endpoint as it was when they were bound, and not what is passed here.
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
