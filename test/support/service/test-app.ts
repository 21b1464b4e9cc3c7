import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { localCaller } from '../../../packages/eval-service/src/callers.ts';
import { createApp } from '../../../packages/eval-service/src/app.ts';
import { createBodyReader } from '../../../packages/eval-service/src/request.ts';
import { defaultRelayLimits } from '../../../src/tunnel/relay/relay-limits.ts';
import { contractLimits as limits } from '../../../src/service/api-limits.ts';
import { createExecutionRecord } from '../../../packages/eval-service/src/execution-record.ts';
import { createRelayEdge } from '../../../src/tunnel/relay/edge.ts';
import { createRunner } from '../../../src/runner/runner.ts';
import { openStore } from '../../../packages/eval-service/src/store/open-store.ts';

/** Makes the API of a service without a socket. `app` has its routes, `errors` is its log; the test must close `store` itself. */
export function createTestApp() {
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => errors.push(message) };
  const store = openStore(undefined);
  const runner = createRunner({
    record: createExecutionRecord(store, systemClock),
    clock: systemClock,
    logger,
    iterationTimeoutMs: 1000,
    runTimeoutMs: 1000,
    browser: null,
  });
  const readBody = createBodyReader(limits.maxBodyBytes);
  const relay = createRelayEdge({ clock: systemClock, limits: defaultRelayLimits });
  const services = {
    store,
    runner,
    concurrency: 1,
    relay,
    commands: null,
    models: null,
    defaultModel: null,
    plugins: [],
    chatboxes: null,
    containers: null,
  };
  const context = { clock: systemClock, logger, limits, readBody, ...services, iterationTimeoutMs: 1000 };
  const app = createApp(context, {
    keys: [{ secret: new Secret('sk_test'), caller: localCaller }],
    rateLimit: null,
  });
  const get = async (path: string): Promise<Response> =>
    app.fetch(new Request(`http://127.0.0.1${path}`, { headers: { authorization: 'Bearer sk_test' } }));
  return { app, get, store, errors, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}
