import { z } from 'zod';

export const fingerprintSchema = z.string().regex(/^[\da-f]{32}$/);

/** A long value is stored as its beginning, for messages, and the fingerprint of the whole. `length` is the length of its JSON. */
const shortenedShape = { clipped: z.string(), length: z.int(), fingerprint: fingerprintSchema };

const shortenedSchema = z.object(shortenedShape);

/** Builds the schema of a value with the members of `shape`, whole or shortened. */
export function storedSchema<T extends z.ZodRawShape>(shape: T) {
  return z.union([z.strictObject({ ...shape, value: z.unknown() }), z.strictObject({ ...shape, ...shortenedShape })]);
}

/** A sent value, whole or shortened. */
export type StoredValue = { value: unknown } | z.infer<typeof shortenedSchema>;
