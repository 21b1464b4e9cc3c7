import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { Agent, EnvHttpProxyAgent, fetch, type RequestInit } from 'undici';
import type { Clock, Deadline } from '../base/time.ts';
import { CancelledError, ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/loopback.ts';
import type { ProxySettings } from '../base/proxy.ts';
import type { Secret } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import { repeatPatiently } from './patience.ts';

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
  const dispatcher = openDispatcher(apiUrl, options.proxy);

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
        const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs, Math.ceil(deadline.remainingMs())));
        return fetch(url, { ...init, dispatcher, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
      },
    },
  });
  octokit.hook.wrap('request', (request, endpoint) => {
    const { method, url } = octokit.request.endpoint(endpoint);
    return repeatPatiently(async () => await request(endpoint), {
      what: `${method} ${new URL(url).pathname}`,
      // Of what is posted, only a query of GraphQL may be posted twice.
      isSafe: method !== 'POST' || url.endsWith('/graphql'),
      host: apiUrl.host,
      clock,
      deadline,
      signal,
      random,
      logger,
    });
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
  if (url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return url;
  const message = 'is no https URL, which alone protects the token; write one such as https://api.github.com';
  throw new ConfigurationError([{ code: 'invalid-github-url', input: 'GITHUB_API_URL', message }]);
}

/** HTTP clients quote a header that they refuse, so it is checked here. */
function parseToken(token: Secret): string {
  const text = token.reveal();
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  const message = 'has a space, a line break or another character that no token has';
  throw new ConfigurationError([{ code: 'invalid-github-token', input: 'github-token', message }]);
}

/** An API on this machine is reached directly unless the proxy is here too, since one elsewhere has another loopback. */
function openDispatcher(apiUrl: URL, proxy: ProxySettings | undefined): Agent | EnvHttpProxyAgent {
  // Certificates are checked even where the environment asks Node not to.
  const connect = { timeout: 10_000, rejectUnauthorized: true };
  const limits = { connect, maxResponseSize: maxResponseBytes };
  const proxyUrl = apiUrl.protocol === 'https:' ? proxy?.httpsProxy : proxy?.httpProxy;
  if (proxyUrl == null || (isLoopback(apiUrl.hostname) && !isLoopback(new URL(proxyUrl).hostname))) {
    return new Agent(limits);
  }
  const noProxy = proxy?.noProxy ?? '';
  // All three are given, even empty: what is left out would be read from the environment of the process.
  return new EnvHttpProxyAgent({ ...limits, httpProxy: proxyUrl, httpsProxy: proxyUrl, noProxy, requestTls: connect });
}
