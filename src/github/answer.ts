import type { z } from 'zod';
import { ProtocolError } from '../base/errors.ts';

/**
 * Reads the used part of a response of GitHub.
 *
 * @throws {ProtocolError} with the path of the first mismatch
 */
export function parseAnswer<T extends z.ZodType>(schema: T, answer: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ProtocolError(
    `GitHub's answer to ${what} is not the documented one: ${path || 'value'}: ${issue?.message}`,
    {
      path,
      cause: parsed.error,
    },
  );
}
