import * as fc from 'fast-check';
import { z } from 'zod';
import { describeSchema, type JsonSchema } from '../../../src/service/operations/fields.ts';
import type { Operation } from '../../../src/service/operations/operation.ts';
import { listOperations } from '../../../src/service/operations/table.ts';

/** One request to the API. `path` starts after the mount path and includes the query. */
export interface RandomRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Ids of existing records, by the name that paths and bodies use. */
export type KnownIds = Readonly<Record<string, string>>;

/** URLs that point only to this machine, where nothing listens. */
const urls = [
  'http://127.0.0.1:9/mcp',
  'http://127.0.0.1:9/mcp?k=1',
  'http://[::1]:9/',
  'ftp://127.0.0.1:9',
  'http://',
];
const numbers = [0, -1, 1, 0.5, 1e9, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE];
const texts = [
  '',
  ' ',
  'a',
  '\u0000',
  '\uD800',
  '__proto__',
  'constructor',
  '../..',
  '%',
  "' OR 1=1 --",
  '\u{1F600}',
  '{{env.HOME}}',
];

const randomText = fc.oneof(
  fc.constantFrom(...texts, ...urls),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer({ min: 100, max: 100_000 }).map((length) => 'a'.repeat(length)),
);
const randomValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: randomText },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {}, ...numbers) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const schemaShape = z.looseObject({
  type: z.unknown().exactOptional(),
  const: z.unknown().exactOptional(),
  enum: z.array(z.unknown()).exactOptional(),
  $ref: z.string().exactOptional(),
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional(),
  anyOf: z.array(z.record(z.string(), z.unknown())).exactOptional(),
  oneOf: z.array(z.record(z.string(), z.unknown())).exactOptional(),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).exactOptional(),
  required: z.array(z.string()).exactOptional(),
  items: z.record(z.string(), z.unknown()).exactOptional(),
});
const deepest = 6;

/** Draws mostly valid values of the schema, and sometimes any other value. */
function valueOf(
  given: JsonSchema,
  name: string,
  ids: KnownIds,
  defs: Readonly<Record<string, JsonSchema>>,
  depth = 0,
) {
  const fitting = fittingValue(given, name, ids, defs, depth);
  return fc.oneof({ weight: 60, arbitrary: fitting }, { weight: 1, arbitrary: randomValue });
}

function fittingValue(
  given: JsonSchema,
  name: string,
  ids: KnownIds,
  defs: Readonly<Record<string, JsonSchema>>,
  depth: number,
): fc.Arbitrary<unknown> {
  const schema = schemaShape.parse(given);
  if (depth > deepest) return randomValue;
  const next = (value: JsonSchema, inner: string) => valueOf(value, inner, ids, defs, depth + 1);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  if (schema.$ref !== undefined) {
    const target = defs[schema.$ref.replace('#/$defs/', '')];
    return target === undefined ? randomValue : next(target, name);
  }
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (choices.length > 0) return fc.oneof(...choices.map((choice) => next(choice, name)));
  switch (schema.type) {
    case 'string':
      return textOf(name, ids);
    case 'number':
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(...numbers));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(next(schema.items ?? {}, name.replace(/s$/, '')), { maxLength: 4 });
    case 'object': {
      const { properties = {}, required = [] } = schema;
      const values = Object.entries(properties).map(([key, property]) => [key, next(property, key)] as const);
      return fc.oneof(
        { weight: 9, arbitrary: fc.record(Object.fromEntries(values), { requiredKeys: required }) },
        { weight: 1, arbitrary: fc.record(Object.fromEntries(values), { requiredKeys: [] }) },
      );
    }
    default:
      return randomValue;
  }
}

function textOf(name: string, ids: KnownIds): fc.Arbitrary<string> {
  const known = ids[name];
  if (known !== undefined) return fc.oneof({ weight: 9, arbitrary: fc.constant(known) }, randomText);
  if (/url$/i.test(name)) return fc.constantFrom(...urls);
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom('echo', 'a name', 'none/none') }, randomText);
}

const brokenBodies = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('{', '[', '{"a":', 'null', '1', '"', '{"__proto__":{"a":1}}', '\uFEFF{}'),
  fc.integer({ min: 1, max: 6000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.integer({ min: 1, max: 6000 }).map((depth) => '['.repeat(depth)),
  fc.integer({ min: 1, max: 2_000_000 }).map((length) => JSON.stringify({ name: 'x'.repeat(length) })),
);

function bodyOf({ body }: Operation, ids: KnownIds): fc.Arbitrary<string | undefined> {
  const described = describeSchema(body, 'input');
  const { $defs = {} } = schemaShape.parse(described);
  const fitting = fittingValue(described, '', ids, $defs, 0).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 8, arbitrary: fitting },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: brokenBodies },
  );
}

/** A path segment as a client could send it, including malformed escapes. */
const brokenSegment = fc.oneof(
  fc.constantFrom('%', '%ZZ', '%00', '%C0%80', '..%2f..', '%2e%2e', '__proto__', 'a'.repeat(8000), ';', '*', ':id'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

function pathOf({ path, query }: Operation, ids: KnownIds): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return fc.constant(segment);
    const known = ids[name] ?? 'none';
    return fc.oneof({ weight: 30, arbitrary: fc.constant(known) }, { weight: 1, arbitrary: brokenSegment });
  });
  const value = fc.oneof(
    fc.constantFrom('1', '0', '-1', 'NaN', 'true', 'MTo5', 'cnVuczox', ...Object.values(ids), ...texts),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const names = fc.constantFrom('cursor', 'limit', ...Object.keys(query.shape));
  const pairs = fc.array(fc.tuple(names, value), { maxLength: 3 });
  return fc.tuple(fc.tuple(...segments), pairs).map(([parts, pair]) => {
    const search = new URLSearchParams();
    for (const [key, text] of pair) search.append(key, text.toWellFormed());
    return `${parts.join('/')}${search.size === 0 ? '' : `?${search.toString()}`}`;
  });
}

const headerValue = fc.string({
  unit: fc.constantFrom('a', 'B', '0', ' ', ',', ';', '=', '"', '/', '*', '\u00E9'),
  maxLength: 300,
});
const headers = fc.record(
  {
    authorization: fc.oneof({ weight: 30, arbitrary: fc.constant('Bearer sk_test') }, headerValue),
    'content-type': fc.constantFrom('application/json', 'text/plain', 'multipart/form-data', ''),
    accept: headerValue,
    'idempotency-key': fc.oneof(fc.constantFrom('k1', 'k2'), headerValue),
    'if-match': headerValue,
    cookie: headerValue,
  },
  { requiredKeys: ['authorization'] },
);

/** Draws a request: the method and path of an operation, or another method on its path. `ids` are those of existing records. */
export function drawRequest(ids: KnownIds): fc.Arbitrary<RandomRequest> {
  return fc.oneof(...listOperations().map((operation) => requestOf(operation, ids)));
}

function requestOf(operation: Operation, ids: KnownIds): fc.Arbitrary<RandomRequest> {
  const method = fc.oneof(
    { weight: 12, arbitrary: fc.constant(operation.method) },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS') },
  );
  return fc
    .record({ method, path: pathOf(operation, ids), headers, body: bodyOf(operation, ids) })
    .map((request) => (request.method === 'GET' ? { ...request, body: undefined } : request));
}
