import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../../../src/base/time.ts';
import type { FoundChromium } from '../../../src/browser/find-chromium.ts';
import { createBrowserPool } from '../../../src/browser/pool.ts';
import { NetworkError } from '../../../src/base/errors.ts';
import type { Logger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import type { ConcurrencySetting } from '../../../src/model/concurrency.ts';
import type { ModelName, ModelSource } from '../../../src/models/language-model.ts';
import { contractLimits } from '../../../src/service/api-limits.ts';
import { apiPath, createApp } from './app.ts';
import type { ContainerEngines } from '../../../src/server/container-engine.ts';
import type { ChatboxContent } from './chats/chatboxes.ts';
import type { Plugin } from './plugins/inventory.ts';
import { type AcceptedKey, localCaller } from './callers.ts';
import type { CommandServers } from './server-reach.ts';
import { answerRawRefusals } from './raw-refusals.ts';
import { createBodyReader } from './request.ts';
import { createId } from '../../../src/base/ids.ts';
import { defaultRelayLimits, type RelayLimits } from '../../../src/tunnel/relay/relay-limits.ts';
import { defaultIterationTimeoutMs, defaultRunTimeoutMs, type ServedLimits } from './service-limits.ts';
import type { RateLimit } from './access.ts';
import { createRelayEdge } from '../../../src/tunnel/relay/edge.ts';
import { createExecutionRecord } from './execution-record.ts';
import { createRunner } from '../../../src/runner/runner.ts';
import { openStore, type Store } from './store/open-store.ts';

/**
 * Longer than any computation of the service between two checks of its connections. With Node's 5 s, a service that is busy with large
 * bodies closes connections on which the next request has already arrived, and its clients see a reset.
 */
const keepAliveTimeoutMs = 60_000;

export interface EmbeddedOptions {
  clock: Clock;
  logger: Logger;
  /** 0, the default, takes a free port. */
  port?: number;
  /** Random by default. Not accepted together with `keys`. */
  apiKey?: Secret;
  /** The keys of several users. Each of their organizations gets a first project. By default, `apiKey` of one local user. */
  keys?: readonly AcceptedKey[];
  /** None by default. */
  plugins?: readonly Plugin[];
  /** Replace the chatboxes of the store if they are given. */
  chatboxes?: readonly ChatboxContent[] | null;
  /** Build and boot sandbox images. None by default. */
  containers?: Pick<ContainerEngines, 'find'> | null;
  /** The directory of the store; without it, all data is lost when the service is disposed. */
  dataDir?: string;
  /** The number of iterations of a run that execute at the same time; `auto` by default. */
  concurrency?: ConcurrencySetting;
  /** The limits of the contract by default. */
  limits?: ServedLimits;
  /** None by default. */
  rateLimit?: RateLimit | null;
  /** The time limit of a case that sets none, and the maximum that a case may set; the contract's limit by default. */
  iterationTimeoutMs?: number;
  runTimeoutMs?: number;
  /** The total time limit of all schema checks of an iteration; 10 s by default. */
  schemaTimeMs?: number;
  /** The source of models for prompts. None by default: cases with prompts are then refused. */
  models?: ModelSource | null;
  /** The model of the agent, of case generation, and of prompts whose case and suite name none. None by default. */
  defaultModel?: ModelName | null;
  /** The browser that renders apps, or the reason why there is none. None by default. */
  chromium?: FoundChromium | { reason: string } | null;
  /** Starts stdio servers of records. None by default: such servers are then refused. */
  commands?: CommandServers | null;
  /** Overrides single limits of the relay. */
  relayLimits?: Partial<RelayLimits>;
}

/** A running eval service; disposing it cancels its runs and closes everything. */
export interface EmbeddedService extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** The first project of the first key's organization. */
  readonly projectId: string;
  readonly projectName: string;
}

/**
 * Serves the eval API on 127.0.0.1 until it is disposed.
 *
 * @throws {NetworkError} if the port is not available.
 * @throws {ConfigurationError} if another process uses the data directory, or if the store has another schema.
 */
export async function openEmbeddedService(options: EmbeddedOptions): Promise<EmbeddedService> {
  const { clock, logger, limits = contractLimits } = options;
  const iterationTimeoutMs = options.iterationTimeoutMs ?? defaultIterationTimeoutMs;
  const runTimeoutMs = options.runTimeoutMs ?? defaultRunTimeoutMs;
  const apiKey = options.apiKey ?? new Secret(`sk_local_${randomBytes(24).toString('base64url')}`);

  const store = openStore(options.dataDir);
  const keys = options.keys ?? [{ secret: apiKey, caller: localCaller }];
  const project = prepareStore(store, keys, clock.now());
  const { models = null, defaultModel = null, concurrency = 'auto' } = options;
  const browser = options.chromium == null ? null : createBrowserPool(options.chromium, clock);
  const runner = createRunner({
    record: createExecutionRecord(store, clock),
    clock,
    logger,
    iterationTimeoutMs,
    runTimeoutMs,
    schemaTimeMs: options.schemaTimeMs,
    browser,
  });
  const readBody = createBodyReader(limits.maxBodyBytes);
  const relay = createRelayEdge({ clock, limits: { ...defaultRelayLimits, ...options.relayLimits } });
  const app = createApp(
    {
      clock,
      logger,
      limits,
      iterationTimeoutMs,
      readBody,
      store,
      runner,
      concurrency,
      models,
      defaultModel,
      relay,
      commands: options.commands ?? null,
      plugins: options.plugins ?? [],
      chatboxes: options.chatboxes ?? null,
      containers: options.containers ?? null,
    },
    { keys, rateLimit: options.rateLimit ?? null },
  );
  // By default, the adaptor replaces the global Request and Response of the process, which other code uses too.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  // The relay streams in both directions, so it uses Node's own requests.
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    if (!relay.serve({ request, response })) void listener(request, response);
  });
  server.on('upgrade', (request, stream, head) => relay.upgrade(request, stream, head));
  answerRawRefusals(server);
  try {
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await app[Symbol.asyncDispose]();
    store.close();
    throw new NetworkError(`The eval service could not listen on port ${options.port ?? 0} of 127.0.0.1.`, {
      cause: error,
      hint: 'Choose another port, or none to take a free one.',
    });
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    baseUrl: `http://127.0.0.1:${port}${apiPath}`,
    apiKey,
    projectId: project.id,
    projectName: project.name,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      relay[Symbol.dispose]();
      server.closeAllConnections();
      await app[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
      await browser?.[Symbol.asyncDispose]();
      await closed;
      store.close();
    },
  };
}

/**
 * Creates the first project of each organization without one, and ends the runs that an earlier process left, because no process continues
 * them. Returns the oldest project of the first key's organization.
 */
function prepareStore(store: Store, keys: readonly AcceptedKey[], now: number): { id: string; name: string } {
  store.transact(() => {
    store.runs.endAll('The service stopped while the run was executing.', now);
    store.iterations.cancelAll();
  });
  const requireFirst = (organizationId: string) => {
    const existing = store.projects.list().find(({ content }) => content.organizationId === organizationId);
    if (existing !== undefined) return existing;
    const project = { id: createId('prj'), name: 'Default' };
    const content = { organizationId, description: null, icon: null, visibility: 'private' as const };
    store.projects.insert({ ...project, content, now });
    return project;
  };
  const first = requireFirst(keys[0]?.caller.organizationId ?? localCaller.organizationId);
  for (const { caller } of keys) requireFirst(caller.organizationId);
  return first;
}
