import { z } from 'zod';
import { isRecord } from '../base/json.ts';
import type { DocumentPath } from './source-document.ts';

/**
 * Says which alternative of a union a value was meant to be, so that a mistake in it is reported against that one
 * alone; undefined where none is recognisable. Text means an enumeration, a list an array. An object's alternative is
 * known by its first property: a literal the value must carry (`type`, `kind`), or a key it must have.
 */
export function chooseAlternative(union: z.ZodUnion, value: unknown): { schema: z.ZodType; index: number } | undefined {
  const alternatives = union.options.map((option, index) => ({ schema: unwrap(option), index }));
  const discriminators = new Set(
    alternatives
      .flatMap(({ schema }) => readSignature(schema))
      .flatMap(({ key, literals }) => (literals === undefined ? [] : key)),
  );
  // A number is meant as one, even where it is out of range; unless words are another way to write it.
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

/** What the alternatives of a union are, in words: `a list or a mapping`. */
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

/** The words by which the alternatives of a union go: bare names, values of `type` or `kind`, first keys. */
export function listAlternativeNames(union: z.ZodUnion): string[] {
  const names = union.options.map(unwrap).flatMap((schema) => {
    if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return listWords(schema);
    return readSignature(schema).flatMap(({ key, literals }) => literals ?? [key]);
  });
  return [...new Set(names)];
}

/** The key whose literal distinguishes the alternatives of a union, of those that `value` has. */
export function findDiscriminator(union: z.ZodUnion, value: Record<string, unknown>): string | undefined {
  return union.options
    .flatMap((option) => readSignature(unwrap(option)))
    .find(({ key, literals }) => literals !== undefined && Object.hasOwn(value, key))?.key;
}

/** The key whose literal distinguishes all the alternatives of a union; undefined where some are known otherwise. */
export function findOnlyDiscriminator(union: z.ZodUnion): string | undefined {
  const keys = union.options.map((option) => {
    const [signature] = readSignature(unwrap(option));
    return signature?.literals === undefined ? undefined : signature.key;
  });
  return keys.every((key) => key === keys[0]) ? keys[0] : undefined;
}

/** The schema that the part of `value` at `path` was meant for, if known. */
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

/** Like {@link findSchemaAt}, but stops at a union instead of choosing from it. */
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

function readSignature(schema: z.ZodType): Array<{ key: string; literals: string[] | undefined }> {
  if (!(schema instanceof z.ZodObject)) return [];
  const [key, property] = Object.entries(schema.shape)[0] ?? [];
  if (key === undefined) return [];
  // A key that is only ever `true` is known by its name.
  const isNamed = property instanceof z.ZodLiteral && [...property.values].every((value) => typeof value === 'string');
  return [{ key, literals: isNamed ? listWords(property) : undefined }];
}

function listWords(schema: z.ZodEnum | z.ZodLiteral): string[] {
  const values = schema instanceof z.ZodEnum ? schema.options : [...schema.values];
  return values.map(String);
}

/** Takes off what does not change which keys are known: optionality, transformation and a late reference. */
function unwrap(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (schema instanceof z.ZodLazy) return unwrap(schema.unwrap());
  return toSchema(schema) ?? z.never();
}

function own(shape: Record<string, unknown>, key: string): z.ZodType | undefined {
  return Object.hasOwn(shape, key) ? toSchema(shape[key]) : undefined;
}

/** Zod types the parts of a schema by its core; every one in this project is a full schema. */
function toSchema(schema: unknown): z.ZodType | undefined {
  return schema instanceof z.ZodType ? schema : undefined;
}
