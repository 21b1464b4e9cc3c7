/** Makes random JSON Schemas like those of servers, changes of them, and values near their limits. The same seed makes the same ones. */

export type Random = () => number;

/** Draws numbers from 0 to 1 (mulberry32, public domain, by Tommy Ettinger). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Schema = boolean | Record<string, unknown>;

const names = ['a', 'b', 'kind', 'limit'];
const words = ['', 'a', 'b', 'on', 'off', 'abc', '2026-01-01', 'a@b.c', 'aaaa'];
const numbers = [-1, 0, 0.5, 1, 1.5, 2, 3, 4, 6, 10];

function pick<T>(random: Random, list: readonly T[]): T {
  const found = list[Math.floor(random() * list.length)];
  if (found === undefined) throw new Error('A list to pick from is empty.');
  return found;
}

const chance = (random: Random, share: number) => random() < share;

/** Draws some of the members, each with the probability `share`. */
function some(random: Random, members: Record<string, () => unknown>, share: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, make]) => (chance(random, share) ? [[key, make()]] : [])),
  );
}

function createScalar(random: Random): Record<string, unknown> {
  const number = () => pick(random, numbers);
  const size = () => pick(random, [0, 1, 2, 3]);
  return pick(random, [
    () => ({
      type: pick(random, ['number', 'integer']),
      ...some(
        random,
        {
          minimum: number,
          maximum: number,
          exclusiveMinimum: number,
          multipleOf: () => pick(random, [0.5, 1, 2, 3, 4]),
        },
        0.2,
      ),
    }),
    () => ({
      type: 'string',
      ...some(
        random,
        {
          minLength: size,
          maxLength: size,
          pattern: () => pick(random, ['^a', 'b$', '^[a-z]*$']),
          format: () => pick(random, ['date', 'email']),
        },
        0.2,
      ),
    }),
    () => ({ type: 'string', enum: [...new Set([pick(random, words), pick(random, words), pick(random, words)])] }),
    () => ({ enum: [...new Set([pick(random, numbers), pick(random, words), null])] }),
    () => ({ const: pick<unknown>(random, [...words, ...numbers, true, null]) }),
    () => ({ type: 'boolean' }),
    () => ({ type: 'null' }),
    () => ({ type: [pick(random, ['string', 'integer', 'number']), 'null'] }),
    () => ({}),
  ])();
}

function createObject(random: Random, depth: number): Record<string, unknown> {
  const declared = names.filter(() => chance(random, 0.5));
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map((name) => [name, createSchema(random, depth - 1)])),
    ...some(
      random,
      {
        required: () => names.filter(() => chance(random, 0.35)),
        additionalProperties: () =>
          pick<() => Schema>(random, [() => false, () => false, () => true, () => createScalar(random)])(),
      },
      0.5,
    ),
    ...some(
      random,
      {
        minProperties: () => pick(random, [0, 1, 2]),
        maxProperties: () => pick(random, [1, 2, 3]),
        patternProperties: () => ({ [pick(random, ['^a', 'i'])]: createScalar(random) }),
        propertyNames: () => ({ maxLength: pick(random, [1, 4, 9]) }),
        dependentRequired: () => ({ a: [pick(random, names)] }),
        unevaluatedProperties: () => false,
      },
      0.05,
    ),
  };
}

function createArray(random: Random, depth: number): Record<string, unknown> {
  return {
    type: 'array',
    ...some(
      random,
      {
        items: () => createSchema(random, depth - 1),
        minItems: () => pick(random, [0, 1, 2]),
        maxItems: () => pick(random, [0, 1, 2, 3]),
        uniqueItems: () => chance(random, 0.7),
      },
      0.4,
    ),
    ...some(
      random,
      { prefixItems: () => [createSchema(random, depth - 1)], contains: () => createScalar(random) },
      0.1,
    ),
  };
}

function createJoined(random: Random, depth: number): Record<string, unknown> {
  const parts = () => [createSchema(random, depth - 1), createSchema(random, depth - 1)];
  const kinds = ['x', 'y', 'z'].filter(() => chance(random, 0.7));
  const tagged = kinds.map((kind) => {
    const { properties, ...rest } = createObject(random, depth - 1);
    return { ...rest, properties: { ...Object(properties), kind: { const: kind } }, required: ['kind'] };
  });
  return pick<() => Record<string, unknown>>(random, [
    () => ({ anyOf: parts() }),
    () => ({ anyOf: [createSchema(random, depth - 1), { type: 'null' }] }),
    () => ({ [pick(random, ['anyOf', 'oneOf'])]: tagged.length === 0 ? [{ type: 'object' }] : tagged }),
    () => ({ oneOf: parts() }),
    () => ({ allOf: parts() }),
    () => ({ not: createScalar(random) }),
    () => Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, createScalar(random)])),
    () => ({ $ref: '#/$defs/shared' }),
  ])();
}

/** Creates a schema of at most `depth` levels. */
function createSchema(random: Random, depth: number): Record<string, unknown> {
  if (depth <= 0) return createScalar(random);
  return pick(random, [
    () => createScalar(random),
    () => createObject(random, depth),
    () => createObject(random, depth),
    () => createArray(random, depth),
    () => createJoined(random, depth),
  ])();
}

/** Creates a schema as in `tools/list`: an object, with definitions that it refers to. */
export function createRoot(random: Random): Record<string, unknown> {
  const base = chance(random, 0.7) ? createObject(random, 3) : createSchema(random, 3);
  const shared = chance(random, 0.3)
    ? { ...createObject(random, 1), properties: { child: { $ref: '#/$defs/shared' } } }
    : createSchema(random, 1);
  return { ...base, $defs: { shared: unref(shared) } };
}

/** Wraps a definition that refers to itself, because it needs a value in between. */
function unref(schema: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(schema).includes('"#/$defs/shared"') && schema['type'] !== 'object'
    ? { type: 'string' }
    : schema;
}

/** Copies a schema and changes one or a few of its parts. */
export function mutate(random: Random, root: Record<string, unknown>): Record<string, unknown> {
  let mutant = structuredClone(root);
  const times = pick(random, [1, 1, 1, 2, 3]);
  for (let time = 0; time < times; time += 1) mutant = mutateAt(random, mutant, 3);
  return { ...mutant, $defs: { shared: unref(Object(Object(mutant['$defs'])['shared'] ?? {})) } };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function mutateAt(random: Random, schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const inner = Object.entries(schema).filter(
    ([key, value]) =>
      /^(?:properties|\$defs|items|additionalProperties|anyOf|oneOf|allOf|not|if|then|else|patternProperties|prefixItems|contains)$/.test(
        key,
      ) && typeof value === 'object',
  );
  if (inner.length > 0 && chance(random, 0.6)) {
    const [key, value] = pick(random, inner);
    return { ...schema, [key]: mutateInner(random, key, { value, depth }) };
  }
  const keys = Object.keys(schema).filter((key) => key !== '$defs');
  const fresh = (schema['type'] === 'object' ? createObject : createSchema)(random, Math.max(0, depth - 1));
  const added = Object.keys(fresh).filter((key) => schema[key] === undefined);
  return pick<() => Record<string, unknown>>(random, [
    () => {
      const key = keys.length === 0 ? undefined : pick(random, keys);
      return Object.fromEntries(Object.entries(schema).filter(([each]) => each !== key));
    },
    () => (added.length === 0 ? schema : addKey(schema, fresh, pick(random, added))),
    () => (added.length === 0 ? schema : addKey(schema, fresh, pick(random, added))),
    () => shift(random, schema),
    () => shift(random, schema),
    () => ({ ...fresh, ...(schema['$defs'] !== undefined && { $defs: schema['$defs'] }) }),
    () => ({
      anyOf: [without(schema, '$defs'), createScalar(random)],
      ...(schema['$defs'] !== undefined && { $defs: schema['$defs'] }),
    }),
  ])();
}

const without = (schema: Record<string, unknown>, key: string) =>
  Object.fromEntries(Object.entries(schema).filter(([each]) => each !== key));

const addKey = (schema: Record<string, unknown>, from: Record<string, unknown>, key: string) => ({
  ...schema,
  [key]: from[key],
});

/** Changes a limit, a list of values, a type or a list of names slightly. */
function shift(random: Random, schema: Record<string, unknown>): Record<string, unknown> {
  const [key, value] = pick(random, [...Object.entries(schema), ['', null] as const]);
  if (typeof value === 'number')
    return { ...schema, [key]: Math.max(key.startsWith('m') ? 0 : -2, value + pick(random, [-1, 1])) || 1 };
  if (key === 'required') return { ...schema, required: names.filter(() => chance(random, 0.5)) };
  if (key === 'enum' && Array.isArray(value))
    return { ...schema, enum: [...new Set([...value.slice(1), pick(random, words)])] };
  if (key === 'type')
    return {
      ...schema,
      type: pick(random, ['string', 'integer', 'number', 'object', ['string', 'null'], ['integer', 'string']]),
    };
  if (typeof value === 'boolean') return { ...schema, [key]: !value };
  return schema;
}

function mutateInner(random: Random, key: string, { value, depth }: { value: unknown; depth: number }): unknown {
  if (Array.isArray(value)) {
    const index = Math.floor(random() * value.length);
    if (chance(random, 0.25)) return [...value, createScalar(random)];
    if (value.length > 1 && chance(random, 0.25)) return value.filter((_, at) => at !== index);
    return value.map((part: unknown, at) =>
      at === index && isObject(part) ? mutateAt(random, part, depth - 1) : part,
    );
  }
  if (!isObject(value)) return value;
  if (!/^(?:properties|patternProperties|\$defs)$/.test(key)) return mutateAt(random, value, depth - 1);
  const keys = Object.keys(value);
  if (key === 'properties' && (keys.length === 0 || chance(random, 0.3))) {
    return { ...value, [pick(random, names)]: createSchema(random, depth - 1) };
  }
  if (key === 'properties' && chance(random, 0.3)) return without(value, pick(random, keys));
  const name = keys.length === 0 ? undefined : pick(random, keys);
  if (name === undefined) return value;
  const part = value[name];
  return { ...value, [name]: isObject(part) ? mutateAt(random, part, depth - 1) : part };
}

/** Creates a value that one of the schemas may allow, or that it narrowly refuses. */
export function sampleValue(
  random: Random,
  { schema, root, depth }: { schema: unknown; root: Record<string, unknown>; depth: number },
): unknown {
  const again = (part: unknown) => sampleValue(random, { schema: part, root, depth: depth - 1 });
  if (!isObject(schema) || depth <= 0 || chance(random, 0.08))
    return pick<unknown>(random, [...words, ...numbers, null, true, {}, []]);
  if (schema['$ref'] !== undefined) return again(Object(root['$defs'])['shared']);
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[key];
    if (Array.isArray(parts) && parts.length > 0 && chance(random, 0.8)) return again(pick(random, parts));
  }
  if (schema['const'] !== undefined) return schema['const'];
  const { enum: values, type = pick(random, ['object', 'string', 'number', 'array', 'null', 'boolean']) } = schema;
  if (Array.isArray(values) && values.length > 0) return pick<unknown>(random, values);
  const chosen = Array.isArray(type) ? pick<unknown>(random, type) : type;
  if (chosen === 'object') return sampleObject(random, schema, again);
  if (chosen === 'array') {
    const prefix: unknown[] = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    return Array.from({ length: pick(random, [0, 1, 2, 3]) }, (_, index) =>
      again(prefix[index] ?? schema['items'] ?? true),
    );
  }
  const limits = Object.values(schema).filter((value) => typeof value === 'number');
  if (chosen === 'integer' || chosen === 'number') {
    const near =
      limits.length > 0 && chance(random, 0.7)
        ? pick(random, limits) + pick(random, [-1, -0.5, 0, 0.5, 1])
        : pick(random, numbers);
    return chosen === 'integer' ? Math.round(near) : near;
  }
  if (chosen === 'string') {
    const length = limits.length > 0 ? Math.max(0, pick(random, limits) + pick(random, [-1, 0, 1])) : 0;
    return limits.length > 0 && chance(random, 0.7) ? pick(random, ['a', 'b']).repeat(length) : pick(random, words);
  }
  return chosen === 'null' ? null : chance(random, 0.5);
}

function sampleObject(random: Random, schema: Record<string, unknown>, again: (part: unknown) => unknown): unknown {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const keys = [...new Set([...Object.keys(properties), ...names, 'extra'])];
  const kept = keys.filter((key) => {
    if (required.includes(key)) return chance(random, 0.95);
    return chance(random, Object.hasOwn(properties, key) ? 0.6 : 0.1);
  });
  return Object.fromEntries(kept.map((key) => [key, again(properties[key] ?? schema['additionalProperties'] ?? true)]));
}
