import { resolveLocalReference } from '../base/json-pointer.ts';
import { isRecord, type JsonObject } from '../base/json.ts';

/** A value that a schema allows, or the reason why none was found. */
export type Sample = { value: unknown } | { reason: string };

/** The limit for recursive schemas, for which a small value needs no deeper level. */
const maxDepth = 12;

/** One value for each format of RFC 3339, RFC 5321, RFC 3986, RFC 4122 and the like. RFC 2606 reserves the domain. */
const formats: Readonly<Record<string, string>> = {
  date: '2024-01-01',
  time: '12:00:00Z',
  'date-time': '2024-01-01T12:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/example',
  'uri-template': '/example/{id}',
  uuid: '00000000-0000-4000-8000-000000000000',
  regex: 'a',
  'json-pointer': '/a',
};

const plainText = 'example';

/**
 * Samples the arguments of a call from the input schema of a tool: only the required properties. Each value is the `const`, the `default`,
 * the first of `examples` or the first of `enum`, or otherwise a small one of its type, format and limits. A text is the example that its
 * description quotes. The same schema always gives the same arguments. Returns the reason if there are none, for example a `pattern`
 * without an example.
 */
export function sampleArguments(inputSchema: JsonObject): { arguments: JsonObject } | { reason: string } {
  const sample = sampleValue(inputSchema, { root: inputSchema, name: 'the arguments', depth: 0 });
  if ('reason' in sample) return sample;
  return isRecord(sample.value) ? { arguments: sample.value } : { reason: 'its input schema describes no object' };
}

interface Position {
  root: JsonObject;
  /** The name of the value in a reason. */
  name: string;
  depth: number;
}

function sampleValue(written: unknown, position: Position): Sample {
  if (written === false) return { reason: `the schema allows no value for ${position.name}` };
  if (!isRecord(written)) return { value: plainText };
  if (position.depth > maxDepth) return { reason: `the schema of ${position.name} is nested too deeply` };
  const schema = resolveReference(written, position.root);
  if (schema === null) return { reason: `a \`$ref\` of the schema of ${position.name} leads nowhere` };
  const given = readGiven(schema);
  if (given !== null) return given;
  const joined = joinAll(schema, position.root);
  const options = [joined['anyOf'], joined['oneOf']].find((list) => Array.isArray(list));
  if (Array.isArray(options)) return sampleFirst(options, joined, position);
  return sampleType(joined, position);
}

/** Returns a value that the schema names. Prefers other values of an enum to null, which may mean "none" and tests less. */
function readGiven(schema: JsonObject): { value: unknown } | null {
  if (schema['const'] !== undefined) return { value: schema['const'] };
  if (schema['default'] !== undefined && schema['default'] !== null) return { value: schema['default'] };
  const { examples, enum: members } = schema;
  if (Array.isArray(examples) && examples.length > 0) return { value: examples[0] };
  if (!Array.isArray(members) || members.length === 0) return null;
  return { value: members.find((member) => member !== null) ?? null };
}

/** Samples the first alternative that has a value; `null` is the last one. */
function sampleFirst(options: readonly unknown[], schema: JsonObject, position: Position): Sample {
  const base = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'anyOf' && key !== 'oneOf'));
  const isNull = (option: unknown) => isRecord(option) && option['type'] === 'null';
  const sorted = [...options.filter((option) => !isNull(option)), ...options.filter(isNull)];
  let refused: Sample = { reason: `the schema allows no value for ${position.name}` };
  for (const option of sorted) {
    const resolved = isRecord(option) ? resolveReference(option, position.root) : null;
    const sample = sampleValue(resolved === null ? option : mergeSchemas(base, resolved), {
      ...position,
      depth: position.depth + 1,
    });
    if ('value' in sample) return sample;
    refused = sample;
  }
  return refused;
}

function sampleType(schema: JsonObject, position: Position): Sample {
  switch (readType(schema)) {
    case 'object':
      return sampleObject(schema, position);
    case 'array':
      return sampleArray(schema, position);
    case 'number':
      return sampleNumber(schema, position, false);
    case 'integer':
      return sampleNumber(schema, position, true);
    case 'boolean':
      return { value: false };
    case 'null':
      return { value: null };
    default:
      return sampleText(schema, position);
  }
}

function readType(schema: JsonObject): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((each) => each !== 'null') ?? 'null';
  if (type !== undefined) return type;
  return isRecord(schema['properties']) || Array.isArray(schema['required']) ? 'object' : 'string';
}

function sampleObject(schema: JsonObject, { root, name, depth }: Position): Sample {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const entries: Array<[string, unknown]> = [];
  for (const key of new Set(required)) {
    if (typeof key !== 'string') continue;
    const inside = depth === 0 ? `\`${key}\`` : `\`${key}\` of ${name}`;
    const property = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
    const sample = sampleValue(property, { root, name: inside, depth: depth + 1 });
    if ('reason' in sample) return sample;
    entries.push([key, sample.value]);
  }
  const least = schema['minProperties'];
  if (typeof least === 'number' && least > entries.length) {
    return { reason: `the schema does not say which members ${name} must have` };
  }
  return { value: Object.fromEntries(entries) };
}

/** Samples one item, because a call with an empty list tests little. */
function sampleArray(schema: JsonObject, { root, name, depth }: Position): Sample {
  const { items, prefixItems, minItems, maxItems } = schema;
  const least = typeof minItems === 'number' ? minItems : 0;
  const most = typeof maxItems === 'number' ? maxItems : Infinity;
  const heads: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const count = Math.min(Math.max(least, heads.length, 1), most);
  if (count > 100) return { reason: `the schema wants ${count} items in ${name}` };
  if (count > 1 && schema['uniqueItems'] === true && heads.length < count) {
    return { reason: `the schema wants ${count} different items in ${name}` };
  }
  const values: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const item = index < heads.length ? heads[index] : items;
    const sample = sampleValue(item, { root, name: `an item of ${name}`, depth: depth + 1 });
    if ('reason' in sample) return least === 0 && heads.length === 0 ? { value: [] } : sample;
    values.push(sample.value);
  }
  return { value: values };
}

function sampleNumber(schema: JsonObject, { name }: Position, isInteger: boolean): Sample {
  const read = (key: string) => {
    const limit = schema[key];
    return typeof limit === 'number' ? limit : null;
  };
  const step = read('multipleOf') ?? (isInteger ? 1 : null);
  const above = read('exclusiveMinimum');
  const below = read('exclusiveMaximum');
  const least = Math.max(read('minimum') ?? -Infinity, above ?? -Infinity);
  const most = Math.min(read('maximum') ?? Infinity, below ?? Infinity);
  const isAllowed = (value: number) =>
    value >= least &&
    value <= most &&
    (above === null || value > above) &&
    (below === null || value < below) &&
    (step === null || Number.isInteger(value / step)) &&
    (!isInteger || Number.isInteger(value));
  const unit = step ?? 1;
  const lowest = Number.isFinite(least) ? Math.ceil(least / unit) * unit : unit;
  const highest = Number.isFinite(most) ? Math.floor(most / unit) * unit : unit;
  const candidates = [1, unit, lowest, lowest + unit, highest, highest - unit, least, (least + most) / 2, 0];
  const found = candidates.find((value) => Number.isFinite(value) && isAllowed(value));
  return found === undefined ? { reason: `no number for ${name} was found within its limits` } : { value: found };
}

function sampleText(schema: JsonObject, { name }: Position): Sample {
  const { format, pattern, minLength, maxLength } = schema;
  if (typeof pattern === 'string') return { reason: `${name} has a \`pattern\` and no example` };
  const known = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Infinity;
  const text = known ?? findQuotedExample(schema['description'], { least, most }) ?? plainText;
  if (text.length >= least && text.length <= most) return { value: text };
  if (known !== undefined || least > 1000 || most < least) {
    return { reason: `no text for ${name} was found within its limits` };
  }
  return {
    value: text
      .repeat(Math.ceil(Math.max(least, 1) / text.length))
      .slice(0, Math.min(most, Math.max(least, text.length))),
  };
}

/** Finds an example in a description, since schemas often lack one: `IANA name (e.g. 'Europe/London')`. */
function findQuotedExample(description: unknown, { least, most }: { least: number; most: number }): string | undefined {
  if (typeof description !== 'string') return undefined;
  const [, , example] =
    /\b(?:e\.g\.|for example|example|such as)[,:]?\s*(['"`])([^'"`\n]{1,200})\1/i.exec(description) ?? [];
  return example !== undefined && example.length >= least && example.length <= most ? example : undefined;
}

/** Follows references within the schema; null if one leads nowhere, outside or in a circle. */
function resolveReference(schema: JsonObject, root: JsonObject): JsonObject | null {
  let current = schema;
  for (let hops = 0; hops < maxDepth; hops += 1) {
    const { $ref: reference, ...others } = current;
    if (reference === undefined) return current;
    const target = resolveLocalReference(reference, root);
    if (!isRecord(target)) return null;
    current = mergeSchemas(target, others);
  }
  return null;
}

function joinAll(schema: JsonObject, root: JsonObject): JsonObject {
  const { allOf, ...base } = schema;
  if (!Array.isArray(allOf)) return schema;
  const listed: unknown[] = allOf;
  const parts = listed.flatMap((part): JsonObject[] => {
    const resolved = isRecord(part) ? resolveReference(part, root) : null;
    return resolved === null ? [] : [resolved];
  });
  return parts.reduce<JsonObject>((joined, part) => mergeSchemas(joined, part), base);
}

/** Merges two schemas: properties and required names of both, and otherwise the second one's keywords before the first one's. */
function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const merged: JsonObject = { ...first, ...second };
  if (isRecord(first['properties']) && isRecord(second['properties'])) {
    merged['properties'] = { ...first['properties'], ...second['properties'] };
  }
  if (Array.isArray(first['required']) && Array.isArray(second['required'])) {
    merged['required'] = [...first['required'], ...second['required']];
  }
  return merged;
}
