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
import { contractLimits, type ServiceLimits } from '../../../src/service/limits.ts';
import { apiPath, createApp, type InventoryFactory } from './app.ts';
import { type AcceptedKey, localCaller } from './callers.ts';
import type { CommandServers } from './server-reach.ts';
import { answerRawRefusals } from './raw-refusals.ts';
import { createBodyReader } from './request.ts';
import { createBodySchemas } from './bodies/suite.ts';
import { createId } from '../../../src/base/ids.ts';
import { defaultRelayLimits, type RelayLimits } from '../../../src/tunnel/relay/limits.ts';
import { defaultIterationTimeoutMs, defaultRunTimeoutMs } from './limits.ts';
import type { RateLimit } from './access.ts';
import { createRelayEdge } from '../../../src/tunnel/relay/edge.ts';
import { createExecutionRecord } from './execution-record.ts';
import { createRunner } from '../../../src/runner/runner.ts';
import { openStore, type Store } from './store/open.ts';

/**
 * Longer than the service computes between two checks of its connections: with Node's 5 s, one that is busy with large bodies closes
 * connections on which the next request has arrived, and their clients see a reset.
 */
const keepAliveTimeoutMs = 60_000;

export interface EmbeddedOptions {
  clock: Clock;
  logger: Logger;
  /** 0, the default, takes a free one. */
  port?: number;
  /** A random one unless given. Not accepted where `keys` are given. */
  apiKey?: Secret;
  /** The keys of several users; each of their organizations gets a first project. By default `apiKey`, of one local user. */
  keys?: readonly AcceptedKey[];
  /** Adds the operations that a gate never calls. None unless given. */
  createInventory?: InventoryFactory;
  /** Where the store is kept; without it, everything is gone when the service is disposed. */
  dataDir?: string;
  /** How many iterations of a run execute at the same time; `auto` unless given. */
  concurrency?: ConcurrencySetting;
  /** The contract's own unless given. */
  limits?: ServiceLimits;
  /** None unless given. */
  rateLimit?: RateLimit | null;
  /** The longest time that a case may ask for, and what one gets that asks for none; the contract's own unless given. */
  iterationTimeoutMs?: number;
  runTimeoutMs?: number;
  /** How long all schema checks of an iteration may take together; 10 s unless given. */
  schemaTimeMs?: number;
  /** Where prompts get their models from. None unless given: cases with prompts are refused then. */
  models?: ModelSource | null;
  /** Answers the agent's turns and generates cases, and runs prompts of suites and cases that name no model. None unless given. */
  defaultModel?: ModelName | null;
  /** What shows the apps of servers, or why nothing does. Nothing unless given. */
  chromium?: FoundChromium | { reason: string } | null;
  /** Starts the servers of records over stdio. None unless given: such servers are refused then. */
  commands?: CommandServers | null;
  /** Replaces single limits of the relay. */
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
 * @throws {NetworkError} when the port cannot be taken.
 * @throws {ConfigurationError} when another process uses the data directory, or the store has another schema.
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
  const bodies = createBodySchemas(limits);
  const relay = createRelayEdge({ clock, limits: { ...defaultRelayLimits, ...options.relayLimits } });
  const app = createApp(
    {
      clock,
      logger,
      limits,
      iterationTimeoutMs,
      readBody,
      bodies,
      store,
      runner,
      concurrency,
      models,
      defaultModel,
      relay,
      commands: options.commands ?? null,
    },
    { keys, rateLimit: options.rateLimit ?? null, createInventory: options.createInventory ?? null },
  );
  // The adaptor would replace the process's own Request and Response, which are others' too.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  // The relay streams both ways, so it works with Node's own requests.
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
 * Gives each organization without a project its first one, and ends the runs that an earlier process left behind: no process executes
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
