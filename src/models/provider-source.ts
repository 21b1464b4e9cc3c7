import { CancelledError, describeError, ModelError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Redactor, Secret } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import { openRoute, type Route } from '../http/dispatcher.ts';
import type { ProxySettings } from '../http/proxy.ts';
import { createRetryQuota, type RetryQuota } from '../http/retry.ts';
import type { CallLimits } from './attempt-call.ts';
import { callProvider, defaultCallLimits, forwardToProvider } from './call-provider.ts';
import type { ModelRequest, ModelSession, ModelSource } from './language-model.ts';
import { loadModel } from './open-provider.ts';
import type { ProviderDirectory, ProviderSettings } from './providers.ts';
import { createProviderPacer, type ProviderPacer } from './rate-limits.ts';

export interface ProviderSourceOptions {
  providers: ProviderDirectory;
  /** The proxies of the connections; none by default, even if the environment names some. */
  proxy?: ProxySettings | undefined;
  clock: Clock;
  /** Draws in [0, 1) for the jitter of waits. */
  random: () => number;
  logger: Logger;
  /** Removes all provider keys, including keys that come with runs, from the providers' texts. */
  redactor: Redactor;
  /** Overrides single limits of a call. */
  limits?: Partial<CallLimits>;
  /** The number of calls per second that start with one key; 5 by default. */
  callsPerSecond?: number;
}

/** Models of providers, over the network. */
export interface ProviderSource extends ModelSource, AsyncDisposable {
  /** The warnings so far: tools that are offered in another form than their server's, and settings that models ignore. */
  listWarnings(): string[];
}

/** The state that all calls with one key share. */
interface Connection {
  route: Route;
  pacer: ProviderPacer;
  quota: RetryQuota;
}

/** The maximum number of retries in a row of all calls with one key. */
const retriesPerKey = 25;

/** Makes a source that calls providers. It sends nothing before the first call. Disposing it ends the open calls and all connections. */
export function createProviderSource(options: ProviderSourceOptions): ProviderSource {
  const { providers, proxy, clock, random, logger, redactor } = options;
  const limits = { ...defaultCallLimits, ...options.limits };
  const closing = new AbortController();
  const connections = new Map<string, Connection>();
  const warned = new Set<string>();
  for (const secret of providers.secrets) redactor.add(secret);

  const connect = ({ provider, baseUrl, apiKey }: ProviderSettings): Connection => {
    const id = JSON.stringify([provider, apiKey?.reveal() ?? null]);
    const existing = connections.get(id);
    if (existing !== undefined) return existing;
    const connection = {
      route: openRoute(baseUrl, { proxy, signal: closing.signal }),
      pacer: createProviderPacer(clock, random, options.callsPerSecond),
      quota: createRetryQuota(retriesPerKey),
    };
    connections.set(id, connection);
    return connection;
  };

  const findSettings = ({ model, apiKeys }: Pick<ModelRequest, 'model' | 'apiKeys'>): ProviderSettings => {
    const text = apiKeys.get(model.provider);
    const key = text === undefined ? undefined : new Secret(text);
    if (key !== undefined) redactor.add(key);
    return providers.find(model.provider, key);
  };

  return {
    findProblem: (request) => {
      try {
        findSettings(request);
        return null;
      } catch (error) {
        if (error instanceof ModelError) return describeError(error);
        throw error;
      }
    },
    openSession: async (request: ModelRequest): Promise<ModelSession> => {
      const { model } = request;
      const settings = findSettings(request);
      const createModel = await loadModel(settings, model);
      const shared = { limits, clock, random, logger, redactor, warned, ...connect(settings) };
      const caller = { settings, model, createModel, ...shared };
      return {
        model,
        answer: async (call, { signal, timeoutMs, hostRequest }) => {
          const bounds = { signal: AbortSignal.any([closing.signal, signal]), timeoutMs };
          return hostRequest === undefined
            ? await callProvider(caller, call, bounds)
            : await forwardToProvider(caller, hostRequest, bounds);
        },
      };
    },
    listWarnings: () => [...warned],
    [Symbol.asyncDispose]: async () => {
      closing.abort(new CancelledError('The connections to the providers of models were closed.'));
      await Promise.all([...connections.values()].map(({ route }) => route.dispatcher.destroy()));
    },
  };
}
