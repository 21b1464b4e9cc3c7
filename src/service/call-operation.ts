import type { z } from 'zod';
import type { CallOptions, ServiceClient } from './client.ts';
import { listPathFields, type Operation, type PathFields } from './operations/operation.ts';
import { parseAs } from './parse.ts';

/** What a caller gives to an operation: the ids of its path, its query and its body, in one object. */
export type OperationFields<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> = Record<
  PathFields<Path>,
  string
> &
  z.input<Query> &
  z.input<Body>;

/**
 * Calls an operation of the API as it is described and gives its checked answer.
 *
 * @throws {ServiceError} when the service refuses
 * @throws {NetworkError} when no answer arrives
 * @throws {ProtocolError} when the answer is not the agreed one
 */
export async function callOperation<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
>(
  client: ServiceClient,
  operation: Operation<Path, Query, Body, Answer>,
  fields: OperationFields<Path, Query, Body>,
  options: CallOptions & { idempotencyKey?: string } = {},
): Promise<z.output<Answer>> {
  const given: Record<string, unknown> = { ...fields };
  const { method, isRepeatable = false, isSlow = false } = operation;
  const names = new Set([...listPathFields(operation.path), ...Object.keys(operation.query.shape)]);
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)));
  const query = Object.keys(operation.query.shape).map((name) => [name, given[name]] as const);
  return client.call({
    method,
    path: buildPath(operation.path, given),
    query: Object.fromEntries(
      query.map(([name, value]) => [name, value === undefined ? undefined : printField(value)]),
    ),
    ...(Object.keys(rest).length > 0 && { body: rest }),
    isRepeatable,
    isSlow,
    parse: parseAs(operation.answer, `that of ${operation.name}`),
    ...options,
  });
}

/** The segments of a path with its ids in place. */
function buildPath(path: string, fields: Readonly<Record<string, unknown>>): string[] {
  return path
    .split('/')
    .slice(1)
    .map((segment) => {
      const [name] = listPathFields(segment);
      return name === undefined ? segment : printField(fields[name] ?? '');
    });
}

/** A value of the path or the query as it travels. */
export function printField(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
