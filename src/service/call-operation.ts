import { z } from 'zod';
import type { CallOptions, ServiceCall, ServiceClient } from './client.ts';
import { listPathFields, type Operation } from './operations/operation.ts';
import { type Page, parseAs } from './parse.ts';
import { fillPath, type PathFields } from './paths.ts';
import type { ServiceProfile } from './profile.ts';
import { walkPages } from './walk-pages.ts';

/** The fields of an operation in one object: the ids of its path, its query and its body. */
export type OperationFields<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> = Record<
  PathFields<Path>,
  string
> &
  InputOf<Query> &
  InputOf<Body>;

/** An empty zod object would forbid every property, including those of the path, the query and the body. */
type InputOf<Schema extends z.ZodObject> = keyof Schema['shape'] extends never
  ? unknown
  : ReadonlyDeep<z.input<Schema>>;

type ReadonlyDeep<Value> =
  Value extends ReadonlyArray<infer Item>
    ? ReadonlyArray<ReadonlyDeep<Item>>
    : Value extends object
      ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
      : Value;

/** Options that every operation accepts in addition to its fields. */
export interface OperationOptions extends CallOptions {
  /** At most 256 characters. The service answers a repeated request with the first answer, so that the client may send the request again. */
  idempotencyKey?: string;
}

/** Options of a call that depend on when the gate makes it, and not only on the operation. */
interface CallManner<Answer> extends Partial<Pick<ServiceCall<unknown>, 'priority' | 'isSetup' | 'isRepeatable'>> {
  /** Throws a `ProtocolError` for an answer of the right shape that belongs to another request. */
  check?: (answer: Answer) => void;
}

/**
 * Calls an operation of the API and returns its checked answer.
 *
 * @throws {ServiceError} when the service refuses
 * @throws {NetworkError} when no answer arrives
 * @throws {ProtocolError} when the answer does not match the operation
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
  { check = () => {}, ...options }: OperationOptions & CallManner<z.output<Answer>> = {},
): Promise<z.output<Answer>> {
  const read = parseAs(operation.answer, `that of ${operation.name}`);
  const parse = (sent: unknown) => {
    const answer = read(sent);
    check(answer);
    return answer;
  };
  return client.call({ ...planCall(operation, fields, client.profile), parse, ...options });
}

/**
 * Walks a paged operation to its end and yields the new items of each page, like `walkPages`. If the cursor is in the headers, each item is
 * a whole answer. With `isRaw`, items are as the service sent them; otherwise they have only the described fields.
 *
 * @throws {ProtocolError} when the service's cursors lead nowhere
 */
export function walkOperation(
  client: ServiceClient,
  operation: Operation,
  fields: Readonly<Record<string, unknown>>,
  { isRaw = false, ...options }: OperationOptions & { isRaw?: boolean } = {},
): AsyncGenerator<unknown[]> {
  const check = parseAs(operation.answer, `that of ${operation.name}`);
  const parse = (answer: unknown) => (isRaw ? (check(answer), answer) : check(answer));
  const loadPage = async (cursor: string | undefined): Promise<Page<unknown>> =>
    client.call({
      ...planCall(operation, cursor === undefined ? fields : { ...fields, cursor }, client.profile),
      parse: (answer, headers) =>
        operation.cursor === 'headers'
          ? { items: [parse(answer)], nextCursor: headers[`${client.profile.headerPrefix}next-cursor`]?.toString() }
          : toPage(parse(answer)),
      ...options,
    });
  let documents = 0;
  return walkPages(loadPage, {
    what: operation.name,
    idOf: (item) => (operation.cursor === 'headers' ? String((documents += 1)) : identify(item)),
    contentOf: (item) => (operation.cursor === 'headers' ? '' : JSON.stringify(item)),
  });
}

const pageSchema = z.looseObject({ items: z.array(z.unknown()), nextCursor: z.string().nullish() });
const identitySchema = z
  .looseObject({
    id: z.unknown().optional(),
    uri: z.unknown().optional(),
    name: z.unknown().optional(),
    stepId: z.unknown().optional(),
  })
  .catch({});

/** Reads a page; all paged operations list their items under `items`. */
function toPage(answer: unknown): Page<unknown> {
  return pageSchema.parse(answer);
}

/** Returns the identity of an item of a list. Items without any of these fields are compared as a whole. */
function identify(item: unknown): string {
  const { id, uri, name, stepId } = identitySchema.parse(item);
  return JSON.stringify(id ?? uri ?? name ?? stepId ?? item);
}

/** Plans the request of an operation. Fields that are neither in the path nor in the query go into the body. */
export function planCall(
  operation: Pick<Operation, 'method' | 'path' | 'query' | 'isRepeatable' | 'isSlow'>,
  fields: object,
  profile: Pick<ServiceProfile, 'segments'>,
): Omit<ServiceCall<unknown>, 'parse'> {
  const given: Record<string, unknown> = { ...fields };
  const { method, isRepeatable = false, isSlow = false } = operation;
  const names = new Set([...listPathFields(operation.path), ...Object.keys(operation.query.shape)]);
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)));
  const query = Object.keys(operation.query.shape).map((name) => [name, given[name]] as const);
  const { idempotencyKey } = rest;
  return {
    method,
    path: fillPath(translatePath(operation.path, profile), given),
    query: Object.fromEntries(
      query.map(([name, value]) => [name, value === undefined ? undefined : printField(value)]),
    ),
    ...(Object.keys(rest).length > 0 && { body: rest }),
    ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
    isRepeatable,
    isSlow,
  };
}

/** Translates the segments of a path into the names that the service uses. */
function translatePath(path: string, { segments }: Pick<ServiceProfile, 'segments'>): string {
  return path
    .split('/')
    .map((segment) => segments[segment] ?? segment)
    .join('/');
}

/** Formats a value of the path or the query for the request. */
export function printField(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
