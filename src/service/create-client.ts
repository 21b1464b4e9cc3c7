import { z } from 'zod';
import { silentLogger, type Logger } from '../base/logger.ts';
import { Secret } from '../base/redaction.ts';
import { type Clock, systemClock } from '../base/time.ts';
import { ConfigurationError } from '../base/errors.ts';
import { readProxySettings } from '../http/proxy.ts';
import { callOperation, type OperationFields, type OperationOptions, walkOperation } from './call-operation.ts';
import { openServiceClient, type ServiceClient } from './client.ts';
import type { CursorPlace, Operation } from './operations/operation.ts';
import { operations } from './operations/table.ts';
import { type ServiceProfile, serviceProfiles } from './profile.ts';

type Operations = typeof operations;

/** The fields may be left out where none is required. */
type Parameters<Fields> =
  Partial<Fields> extends Fields
    ? [fields?: Fields, options?: OperationOptions]
    : [fields: Fields, options?: OperationOptions];

type ItemOf<Answer> = Answer extends { items: ReadonlyArray<infer Item> } ? Item : Answer;

/** One operation as a function. A paged one gives its pages: the new items of each. */
export type OperationFunction<Described> =
  Described extends Operation<infer Path, infer Query, infer Body, infer Answer, infer Cursor>
    ? (
        ...parameters: Parameters<OperationFields<Path, Query, Body>>
      ) => [Cursor] extends [CursorPlace] ? AsyncGenerator<Array<ItemOf<z.output<Answer>>>> : Promise<z.output<Answer>>
    : never;

/** Every operation of the API as a typed function, by area. Disposing it ends the calls under way and its connections. */
export type EvalServiceClient = {
  readonly [Area in keyof Operations]: {
    readonly [Name in keyof Operations[Area]]: OperationFunction<Operations[Area][Name]>;
  };
} & AsyncDisposable;

export interface EvalServiceClientOptions {
  /** Ends in the API's version, such as `https://host/api/v1`. By default where the vendor of the profile hosts it. */
  baseUrl?: string;
  apiKey: string | Secret;
  /** Whose service it is; `svc` unless given. Decides the vendor's headers and the pace of requests. */
  profile?: ServiceProfile['name'];
  clock?: Clock;
  /** Hears of repeated requests. Silent unless given. */
  logger?: Logger;
  /** Ends every call that is under way when it aborts. */
  signal?: AbortSignal;
  /** Of one call. By default 10, and 5 where the service connects to servers or models before it answers. */
  maxAttempts?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read from. Without it, no proxy is used. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates a client of the eval API, hosted or served by `mcp-eval-ci serve`: `client.servers.listProjectServers({ projectId })`.
 * Nothing is sent before the first call.
 *
 * - Answers are checked. Unknown fields are dropped; unknown codes and statuses pass, and an optional field may be absent or null.
 * - Times are milliseconds since 1970. Pass rates are fractions, 0..1, except `minimumPassRate` and `minimumAccuracy`, in percent.
 * - A request is repeated after a failure of the network, 429 and 5xx if that can do no harm: GET, DELETE, changes of single
 *   fields, and any request with an idempotency key. One attempt takes at most a minute, or two where the service connects to
 *   servers or models first.
 * - A hosted service allows 60 requests a minute; the client spreads its requests.
 *
 * Each function rejects with a `ServiceError` (`status`, `code`, `details`) when the service refuses, a `NetworkError` when no
 * answer arrives, and a `ProtocolError` when the answer is not the agreed one.
 *
 * @throws {ConfigurationError} when the base URL or the key cannot be used
 */
export function createServiceClient(options: EvalServiceClientOptions): EvalServiceClient {
  const { apiKey, profile: name = 'svc', clock = systemClock, logger = silentLogger, signal, maxAttempts } = options;
  const profile = serviceProfiles[name];
  const baseUrl = options.baseUrl ?? profile.defaultBaseUrl;
  if (baseUrl === null) {
    const message = `the profile ${name} has no default; give the URL that ends in the API's version`;
    throw new ConfigurationError([{ input: 'base-url', code: 'missing-base-url', message }]);
  }
  const client = openServiceClient({
    baseUrl,
    apiKey: typeof apiKey === 'string' ? new Secret(apiKey) : apiKey,
    profile,
    clock,
    logger,
    signal,
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(options.environment !== undefined && { proxy: readProxySettings(options.environment) }),
  });
  const areas = Object.entries(operations).map(([area, described]) => [
    area,
    Object.fromEntries(
      Object.entries<Operation>(described).map(([key, operation]) => [key, bindOperation(client, operation)]),
    ),
  ]);
  return ofTable.parse({
    ...Object.fromEntries(areas),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  });
}

/** Built from the table, so that it has a function for each of its operations. */
const ofTable = z.custom<EvalServiceClient>();

function bindOperation(client: ServiceClient, operation: Operation) {
  return operation.cursor === undefined
    ? (fields: Record<string, string> = {}, options: OperationOptions = {}) =>
        callOperation(client, operation, fields, options)
    : (fields: Record<string, unknown> = {}, options: OperationOptions = {}) =>
        walkOperation(client, operation, fields, options);
}
