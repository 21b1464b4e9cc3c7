import { z } from 'zod';

/** A text column of JSON that was checked before this store wrote it; what comes out is trusted to be what went in. */
export function jsonColumn<Value>() {
  return z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.custom<Value>());
}
