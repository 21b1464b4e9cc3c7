import { z } from 'zod';
import { isRecord, type JsonObject } from '../base/json.ts';

/** RFC 6901 §3; the empty pointer is the whole document. */
export const jsonPointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** How the arguments of a call are compared with the expected ones. */
export const argumentMatching = z.enum(['ignore', 'partial', 'exact']);
export type ArgumentMatching = z.infer<typeof argumentMatching>;

/** Of the text that `toolResultContains` searches for, in characters: the API's limit. */
export const maxNeedleLength = 1000;

/** Of the schema of `toolResultMatchesSchema`, in bytes as JSON: the API's limit. */
export const maxSchemaBytes = 16 * 1024;

/** Whether the API takes a JSON Schema of this size. */
export function isSmallSchema(schema: JsonObject | boolean): boolean {
  return Buffer.byteLength(JSON.stringify(schema)) <= maxSchemaBytes;
}

/**
 * The values that checks consist of. The evals file and the wire share every shape, and differ in these: the file refuses what can
 * never hold and says why; the wire takes what the API takes, and a judgement refuses it.
 */
export interface CheckValues {
  /** Whether a field that the check does not have is refused. */
  isClosed: boolean;
  toolName: z.ZodType<string>;
  /** Text that is searched for or compared. */
  text: z.ZodType<string>;
  /** Text that is searched for in results, which the API limits. */
  needle: z.ZodType<string>;
  /** A regular expression of the platform. */
  pattern: z.ZodType<string>;
  /** A regular expression of RE2. */
  re2Pattern: z.ZodType<string>;
  /** The path of a snapshot. */
  snapshot: z.ZodType<string>;
  /** A JSON Pointer in which `*` is any segment, or a regular expression of RE2. */
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

/** What every check may say of its weight. */
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

/** The fields that are not about what a check asks for. */
export const policyFields: readonly string[] = Object.keys(policy);

/** What the fields of checks are made of: the values, and what several kinds have in the same words. */
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
    /** What an error is like. One instance, since its id stands once in a JSON Schema. */
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
      .meta({ id: 'tool-error', minProperties: 1, description: 'What the error of the latest result is like.' }),
  };
}

export type CheckParts = ReturnType<typeof createCheckParts>;

const filledText = z.string().min(1);

/** Checks as the wire has them, which is how they are judged: any value that can be judged at all. */
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
