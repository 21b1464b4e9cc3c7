import { z } from 'zod';

/**
 * The values that checks consist of. The evals file and the wire share every shape below, and differ in these: the file refuses
 * what can never hold and says why; the wire takes what the API takes, and the engine judges it.
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
  jsonSchema: z.ZodType<Record<string, unknown> | boolean>;
  arguments: z.ZodType<Record<string, unknown>>;
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

/** What the kinds of checks are made of. */
export function createSharedParts(values: Pick<CheckValues, 'isClosed' | 'toolName'>) {
  const part = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> =>
    values.isClosed ? z.strictObject(shape) : z.object(shape);
  const toolName = values.toolName.meta({ description: 'Name of a tool.' });
  return {
    part,
    object: <Shape extends z.ZodRawShape>(shape: Shape) => part({ ...shape, ...policy }),
    toolName,
    ofTool: toolName.exactOptional().meta({ description: 'Judge this tool alone.' }),
    caseSensitive: z.boolean().exactOptional(),
  };
}

export type SharedParts = ReturnType<typeof createSharedParts>;
