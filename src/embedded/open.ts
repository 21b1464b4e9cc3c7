import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../base/time.ts';
import type { FoundChromium } from '../browser/find-chromium.ts';
import { createBrowserPool } from '../browser/pool.ts';
import { NetworkError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { Secret } from '../base/redaction.ts';
import type { ConcurrencySetting } from '../model/concurrency.ts';
import type { ServerWitnesses } from '../model/process-end.ts';
import type { Snapshots } from '../engine/evidence.ts';
import type { ModelName, ModelSource } from '../models/language-model.ts';
import { contractLimits, type ServiceLimits } from '../service/limits.ts';
import { apiPath, createApp, type InventoryFactory } from './app.ts';
import { type AcceptedKey, localCaller } from './callers.ts';
import type { CommandServers } from './server-reach.ts';
import { answerRawRefusals } from './raw-refusals.ts';
import { createBodyReader } from './request.ts';
import { createBodySchemas } from './bodies/suite.ts';
import { createId } from './id.ts';
import { defaultIterationTimeoutMs, defaultRelayLimits, defaultRunTimeoutMs, type RelayLimits } from './limits.ts';
import { createProtocolTable, type ProtocolTable } from './connect.ts';
import type { RateLimit } from './access.ts';
import { createRelayEdge } from './relay/edge.ts';
import { type AnswersOfIteration, createRunner } from './runner.ts';
import type { RunScheduling } from './schedule.ts';
import { openStore, type Store } from './store/open.ts';

/** For a service inside the gate's own process, where only the evals file bounds what is asked. */
export const localLimits: ServiceLimits = {
  ...contractLimits,
  iterationsPerCase: 100,
  testsPerRequest: 5000,
  // A budget of the policy bounds them.
  llmCallsPerRun: 1_000_000,
  concurrentRuns: 16,
  maxBodyBytes: 64 * 1024 * 1024,
};

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
  /** Chooses the concurrency of each suite; overrides `concurrency`. */
  scheduling?: RunScheduling;
  /** The contract's own unless given. */
  limits?: ServiceLimits;
  /** None unless given. */
  rateLimit?: RateLimit | null;
  /** The longest time that a case may ask for, and what one gets that asks for none; the contract's own unless given. */
  iterationTimeoutMs?: number;
  runTimeoutMs?: number;
  /** How long all schema checks of an iteration may take together; 10 s unless given. */
  schemaTimeMs?: number;
  /** Whether each call carries its span to the server under test, so that the server's own spans come below it. Off by default. */
  propagatesTraces?: boolean;
  /** Where prompts get their models from. None unless given: cases with prompts are refused then. */
  models?: ModelSource | null;
  /** Answers the agent's turns and generates cases, and runs prompts of suites and cases that name no model. None unless given. */
  defaultModel?: ModelName | null;
  /** Variables of the job that cases may use as `{{env.NAME}}`. None unless given. */
  variables?: ReadonlyMap<string, Secret>;
  /** Makes the `{{uuid}}` of an iteration; a random one unless given. */
  createUuid?: () => string;
  /** Know the processes of the servers that were started here. None unless given. */
  witnesses?: ServerWitnesses | null;
  /** Hears which scripted answers of the client iterations used. */
  onAnswers?: (answers: AnswersOfIteration) => void;
  /** What `toMatchFile` compares with. None unless given: such checks are not measured then. */
  snapshots?: Snapshots | null;
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
  /** What the gate in this process knows and hears of how its servers are spoken to. */
  readonly protocols: ProtocolTable;
  /** Resolves once no run, or not this one, executes any more, the teardown of its cases included. */
  waitForRuns(runId?: string): Promise<void>;
}

/**
 * Serves the eval API on 127.0.0.1 until it is disposed.
 *
 * @throws {NetworkError} when the port cannot be taken.
 * @throws {ConfigurationError} when another process uses the data directory, or a newer version wrote it.
 */
export async function openEmbeddedService(options: EmbeddedOptions): Promise<EmbeddedService> {
  const { clock, logger, limits = contractLimits } = options;
  const iterationTimeoutMs = options.iterationTimeoutMs ?? defaultIterationTimeoutMs;
  const runTimeoutMs = options.runTimeoutMs ?? defaultRunTimeoutMs;
  const apiKey = options.apiKey ?? new Secret(`sk_local_${randomBytes(24).toString('base64url')}`);

  const store = openStore(options.dataDir);
  const keys = options.keys ?? [{ secret: apiKey, caller: localCaller }];
  const project = prepareStore(store, keys, clock.now());
  const { propagatesTraces = false, witnesses = null, models = null, defaultModel = null } = options;
  const scheduling = options.scheduling ?? createUniformScheduling(options.concurrency ?? 'auto');
  const { variables = new Map<string, Secret>(), createUuid = randomUUID, snapshots = null } = options;
  const browser = options.chromium == null ? null : createBrowserPool(options.chromium, clock);
  const behavior = {
    scheduling,
    iterationTimeoutMs,
    runTimeoutMs,
    schemaTimeMs: options.schemaTimeMs,
    propagatesTraces,
    witnesses,
    snapshots,
    variables,
    createUuid,
    browser,
    onAnswers: options.onAnswers,
  };
  const protocols = createProtocolTable();
  const runner = createRunner({ store, protocols, clock, logger, ...behavior });
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
      protocols,
      scheduling,
      witnesses,
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
  const server = createServer((request, response) => {
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
    protocols,
    waitForRuns: (runId) => runner.waitForRuns(runId),
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

function createUniformScheduling(setting: ConcurrencySetting): RunScheduling {
  return {
    getConcurrency: () => ({ setting, source: 'default', isIndependent: false, hasOneProcess: false }),
    onScheduled: () => {},
    onBatch: () => {},
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
