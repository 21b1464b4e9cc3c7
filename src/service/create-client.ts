import { z } from 'zod';
import { silentLogger, type Logger } from '../base/logger.ts';
import { Secret } from '../base/redaction.ts';
import { type Clock, systemClock } from '../base/time.ts';
import { ConfigurationError } from '../base/errors.ts';
import { readProxySettings } from '../http/proxy.ts';
import { callOperation, type OperationFields, type OperationOptions, walkOperation } from './call-operation.ts';
import { openServiceClient, type ServiceClient } from './client.ts';
import type { CursorPlace, Operation } from './operations/operation.ts';
import { type OperationTable, operations } from './operations/table.ts';
import { type ServiceProfile, serviceProfiles } from './profile.ts';

/** The parameters of an operation. The fields are optional if none is required. */
type Parameters<Fields> =
  Partial<Fields> extends Fields
    ? [fields?: Fields, options?: OperationOptions]
    : [fields: Fields, options?: OperationOptions];

type ItemOf<Answer> = Answer extends { items: ReadonlyArray<infer Item> } ? Item : Answer;

/** The function of an operation. A paged operation yields pages with the new items of each. */
export type OperationFunction<Described> =
  Described extends Operation<infer Path, infer Query, infer Body, infer Answer, infer Cursor>
    ? (
        ...parameters: Parameters<OperationFields<Path, Query, Body>>
      ) => [Cursor] extends [CursorPlace] ? AsyncGenerator<Array<ItemOf<z.output<Answer>>>> : Promise<z.output<Answer>>
    : never;

/** Every operation of the API as a typed function, by area. Disposing it aborts the calls in progress and closes its connections. */
export type EvalServiceClient = OperationFunctions<typeof operations> & AsyncDisposable;

type OperationFunctions<Table> = {
  readonly [Area in keyof Table]: {
    readonly [Name in keyof Table[Area]]: OperationFunction<Table[Area][Name]>;
  };
};

/** How the client reaches the service. */
export interface EvalServiceClientOptions {
  /** Ends in the API's version, such as `https://host/api/v1`. Default: the vendor's own deployment, if the profile has one. */
  baseUrl?: string;
  apiKey: string | Secret;
  /** The kind of service. It determines the vendor's headers and the pace of requests. Default: `svc`. */
  profile?: ServiceProfile['name'];
  clock?: Clock;
  /** Logs repeated requests. Default: silent. */
  logger?: Logger;
  /** Aborts every call in progress. */
  signal?: AbortSignal;
  /** The most attempts of one call. Default: 10, or 5 if the service connects to servers or models before it answers. */
  maxAttempts?: number;
  /** The environment with `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Without it, no proxy is used. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates a client of the eval API, hosted or served by `mcp-eval-ci serve`: `client.servers.listProjectServers({ projectId })`. Nothing is
 * sent before the first call.
 *
 * - The client checks answers. It drops unknown fields and accepts unknown codes and statuses. An optional field may be absent or null.
 * - Times are milliseconds since 1970. Pass rates are fractions, 0..1, except `minimumPassRate` and `minimumAccuracy`, in percent.
 * - The client repeats a request after a network failure, 429 or 5xx if that does no harm: GET, DELETE, changes of single fields, and any
 *   request with an idempotency key. One attempt takes at most a minute, or two if the service connects to servers or models first.
 * - A hosted service allows 60 requests a minute, so the client spreads its requests.
 *
 * Each function rejects with a `ServiceError` (`status`, `code`, `details`) when the service refuses, a `NetworkError` when no answer
 * arrives, and a `ProtocolError` when the answer does not match the operation.
 *
 * @throws {ConfigurationError} when the base URL or the key is invalid
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
  return Object.assign(bindOperations(client, operations), {
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  });
}

/** Makes a function of each operation of a table, which calls it through the client. */
export function bindOperations<Table extends OperationTable>(
  client: ServiceClient,
  table: Table,
): OperationFunctions<Table> {
  const areas = Object.entries(table).map(([area, described]) => [
    area,
    Object.fromEntries(Object.entries(described).map(([key, operation]) => [key, bindOperation(client, operation)])),
  ]);
  return z.custom<OperationFunctions<Table>>().parse(Object.fromEntries(areas));
}

function bindOperation(client: ServiceClient, operation: Operation) {
  return operation.cursor === undefined
    ? (fields: Record<string, string> = {}, options: OperationOptions = {}) =>
        callOperation(client, operation, fields, options)
    : (fields: Record<string, unknown> = {}, options: OperationOptions = {}) =>
        walkOperation(client, operation, fields, options);
}
