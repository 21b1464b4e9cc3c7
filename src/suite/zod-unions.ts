import { z } from 'zod';
import { isRecord } from '../base/json.ts';
import type { DocumentPath } from './source-document.ts';

/**
 * Chooses the alternative of a union that a value is meant to be, so that its mistakes are reported against that alternative only;
 * undefined if none is recognizable. A text means an enumeration, a list an array. An object's alternative is known by its first property:
 * a literal that the value must have (`type`, `kind`), or a required key.
 */
export function chooseAlternative(union: z.ZodUnion, value: unknown): { schema: z.ZodType; index: number } | undefined {
  const alternatives = union.options.map((option, index) => ({ schema: unwrap(option), index }));
  const discriminators = new Set(
    alternatives
      .flatMap(({ schema }) => readSignature(schema))
      .flatMap(({ key, literals }) => (literals === undefined ? [] : key)),
  );
  // Chooses the number for any number, even if it is out of range, unless words are another way to write it.
  const others = alternatives.filter(({ schema }) => !(schema instanceof z.ZodNumber));
  const isOnlyNumber = others.every(({ schema }) => schema instanceof z.ZodObject);
  const needsLiteral = isRecord(value) && Object.keys(value).some((key) => discriminators.has(key));
  return alternatives.find(({ schema }) => {
    if (schema instanceof z.ZodObject) {
      const [signature] = readSignature(schema);
      if (!isRecord(value) || signature === undefined) return false;
      if (signature.literals !== undefined) return signature.literals.some((word) => word === value[signature.key]);
      return !needsLiteral && Object.hasOwn(value, signature.key);
    }
    if (schema instanceof z.ZodNumber && isOnlyNumber) return typeof value === 'number';
    if (schema instanceof z.ZodRecord) return isRecord(value);
    if (schema instanceof z.ZodArray) return Array.isArray(value);
    return schema.safeParse(value).success;
  });
}

/** Describes the alternatives of a union in words: `a list or a mapping`. */
export function describeAlternatives(union: z.ZodUnion): string {
  const descriptions = union.options.map(unwrap).map((schema) => {
    if (schema instanceof z.ZodArray) return 'a list';
    if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return 'a mapping';
    if (schema instanceof z.ZodNumber) return 'a whole number';
    if (schema instanceof z.ZodBoolean) return 'true or false';
    if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return `\`${listWords(schema).join('`, `')}\``;
    return 'text';
  });
  return [...new Set(descriptions)].join(' or ');
}

/** Lists the names of the alternatives of a union: bare names, values of `type` or `kind`, first keys. */
export function listAlternativeNames(union: z.ZodUnion): string[] {
  const names = union.options.map(unwrap).flatMap((schema) => {
    if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return listWords(schema);
    return readSignature(schema).flatMap(({ key, literals }) => literals ?? [key]);
  });
  return [...new Set(names)];
}

/** Finds the key of `value` that has a literal to distinguish alternatives of a union. */
export function findDiscriminator(union: z.ZodUnion, value: Record<string, unknown>): string | undefined {
  return union.options
    .flatMap((option) => readSignature(unwrap(option)))
    .find(({ key, literals }) => literals !== undefined && Object.hasOwn(value, key))?.key;
}

/** Finds the one key that has a literal in every alternative of a union; undefined if an alternative has none. */
export function findOnlyDiscriminator(union: z.ZodUnion): string | undefined {
  const keys = union.options.map((option) => {
    const [signature] = readSignature(unwrap(option));
    return signature?.literals === undefined ? undefined : signature.key;
  });
  return keys.every((key) => key === keys[0]) ? keys[0] : undefined;
}

/** Finds the schema that the part of `value` at `path` is meant for; undefined if unknown. */
export function findSchemaAt(root: z.ZodType, value: unknown, path: DocumentPath): z.ZodType | undefined {
  let schema: z.ZodType | undefined = choose(unwrap(root), value);
  let part = value;
  for (const key of path) {
    if (schema instanceof z.ZodObject) schema = own(schema.shape, String(key));
    else if (schema instanceof z.ZodArray) schema = toSchema(schema.element);
    else if (schema instanceof z.ZodRecord) schema = toSchema(schema.valueType);
    else return undefined;
    part = readPart(part, key);
    schema = schema && choose(unwrap(schema), part);
  }
  return schema;
}

/** Works like {@link findSchemaAt}, but returns a union instead of choosing from it. */
export function findUnionAt(root: z.ZodType, value: unknown, path: DocumentPath): z.ZodUnion | undefined {
  const last = path.at(-1);
  const holder = last === undefined ? undefined : findSchemaAt(root, value, path.slice(0, -1));
  const schema =
    last === undefined
      ? root
      : holder instanceof z.ZodObject
        ? own(holder.shape, String(last))
        : holder instanceof z.ZodArray
          ? toSchema(holder.element)
          : holder instanceof z.ZodRecord
            ? toSchema(holder.valueType)
            : undefined;
  const inner = schema && unwrap(schema);
  return inner instanceof z.ZodUnion ? inner : undefined;
}

export function readPart(value: unknown, key: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRecord(value) && Object.hasOwn(value, key) ? value[String(key)] : undefined;
}

function choose(schema: z.ZodType, value: unknown): z.ZodType {
  return schema instanceof z.ZodUnion ? (chooseAlternative(schema, value)?.schema ?? schema) : schema;
}

export function readSignature(schema: z.ZodType): Array<{ key: string; literals: string[] | undefined }> {
  if (!(schema instanceof z.ZodObject)) return [];
  const [key, property] = Object.entries(schema.shape)[0] ?? [];
  if (key === undefined) return [];
  // A key that is always `true` is known by its name.
  const isNamed = property instanceof z.ZodLiteral && [...property.values].every((value) => typeof value === 'string');
  return [{ key, literals: isNamed ? listWords(property) : undefined }];
}

function listWords(schema: z.ZodEnum | z.ZodLiteral): string[] {
  const values = schema instanceof z.ZodEnum ? schema.options : [...schema.values];
  return values.map(String);
}

/** Unwraps what does not change the known keys: optionality, transformation and lazy references. */
export function unwrap(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (schema instanceof z.ZodLazy) return unwrap(schema.unwrap());
  return toSchema(schema) ?? z.never();
}

function own(shape: Record<string, unknown>, key: string): z.ZodType | undefined {
  return Object.hasOwn(shape, key) ? toSchema(shape[key]) : undefined;
}

/** Narrows a part of a schema, which zod types by its core. Every part in this project is a full schema. */
function toSchema(schema: unknown): z.ZodType | undefined {
  return schema instanceof z.ZodType ? schema : undefined;
}
