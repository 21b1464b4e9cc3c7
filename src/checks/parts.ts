import { z } from 'zod';
import { isRecord, type JsonObject } from '../base/json.ts';

/** RFC 6901 §3. The empty pointer is the whole document. */
export const jsonPointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** How the arguments of a call are compared with the expected ones. */
export const argumentMatching = z.enum(['ignore', 'partial', 'exact']);
export type ArgumentMatching = z.infer<typeof argumentMatching>;

/** The API's limit for the search text of `toolResultContains`, in characters. */
export const maxNeedleLength = 1000;

/** The API's limit for the schema of `toolResultMatchesSchema`, in bytes as JSON. */
export const maxSchemaBytes = 16 * 1024;

/** Checks if a JSON Schema is within the API's size limit. */
export function isSmallSchema(schema: JsonObject | boolean): boolean {
  return Buffer.byteLength(JSON.stringify(schema)) <= maxSchemaBytes;
}

/**
 * The schemas of the values in checks. The evals file and the wire share every other part of a check. The file rejects values that can
 * never hold, with an explanation. The wire accepts what the API accepts, and judging rejects the rest.
 */
export interface CheckValues {
  /** True if unknown fields are rejected. */
  isClosed: boolean;
  toolName: z.ZodType<string>;
  /** Text to search for or to compare. */
  text: z.ZodType<string>;
  /** Text to search for in results; the API limits its length. */
  needle: z.ZodType<string>;
  /** A JavaScript regular expression. */
  pattern: z.ZodType<string>;
  /** A regular expression in RE2 syntax. */
  re2Pattern: z.ZodType<string>;
  /** The path of a snapshot. */
  snapshot: z.ZodType<string>;
  /** A JSON Pointer in which `*` is any segment, or a regular expression in RE2 syntax. */
  ignorePattern: z.ZodType<string>;
  /** A JSON Pointer. */
  pointer: z.ZodType<string>;
  jsonSchema: z.ZodType<JsonObject | boolean>;
  arguments: z.ZodType<JsonObject>;
  /** Any JSON value. */
  value: z.ZodType;
  /** A whole number from 1. */
  count: z.ZodType<number>;
  milliseconds: z.ZodType<number>;
  /** `provider/name`. */
  model: z.ZodType<string>;
}

/** The fields that set the weight of any check. */
export const policy = {
  role: z
    .enum(['gating', 'advisory'])
    .meta({
      id: 'role',
      description: '`advisory` reports the check, which then never changes a result. The default of a `judge`.',
    })
    .exactOptional(),
  severity: z.literal('warn').exactOptional().meta({ description: 'Only with `role: advisory`.' }),
};

/** The names of the fields that set the weight of a check. */
export const policyFields: readonly string[] = Object.keys(policy);

/** Creates the parts of the fields of checks: the value schemas, and the fields that several kinds share. */
export function createCheckParts(values: CheckValues) {
  const part = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> =>
    values.isClosed ? z.strictObject(shape) : z.object(shape);
  const toolName = values.toolName.meta({ description: 'Name of a tool.' });
  return {
    ...values,
    part,
    check: <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
      part({ type: z.literal(type), ...shape, ...policy }),
    toolName,
    ofTool: toolName.exactOptional().meta({ description: 'Judge this tool alone.' }),
    caseSensitive: z.boolean().exactOptional(),
    path: values.pointer.exactOptional(),
    /** The shape of an error. It exists once, because its id may occur only once in a JSON Schema. */
    error: part({
      code: z.int().exactOptional().meta({ description: 'Code of a JSON-RPC error, such as -32602.' }),
      contains: values.needle.exactOptional().meta({ description: 'Text of the error, in any case.' }),
      matches: values.re2Pattern
        .exactOptional()
        .meta({ description: 'RE2 regular expression that the error matches.' }),
    })
      .refine((error) => Object.keys(error).length > 0, {
        message: 'Write at least one of `code`, `contains` and `matches`',
        params: { code: 'empty-error' },
      })
      .meta({ id: 'tool-error', minProperties: 1, description: "The properties of the latest result's error." }),
  };
}

export type CheckParts = ReturnType<typeof createCheckParts>;

const filledText = z.string().min(1);

/** The parts of checks on the wire. They accept any value that can be judged. */
export const wireParts = createCheckParts({
  isClosed: false,
  toolName: filledText,
  text: filledText,
  needle: filledText.max(maxNeedleLength),
  pattern: filledText,
  re2Pattern: filledText,
  pointer: z.string().regex(jsonPointerPattern, 'expected a JSON Pointer, such as /items/0/name'),
  jsonSchema: z
    .custom<JsonObject | boolean>(
      (value) => typeof value === 'boolean' || isRecord(value),
      'expected a JSON Schema: an object or a boolean',
    )
    .refine(isSmallSchema, `expected at most ${maxSchemaBytes} bytes as JSON`),
  arguments: z.custom<JsonObject>(isRecord, 'expected an object'),
  snapshot: filledText,
  ignorePattern: filledText,
  value: z.unknown().refine((value) => value !== undefined, 'expected a value'),
  count: z.int().min(1),
  milliseconds: z.number().positive(),
  model: filledText,
});
