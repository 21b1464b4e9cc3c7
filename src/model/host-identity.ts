import { z } from 'zod';

/** A host and the version that its profile describes. */
export const hostIdentitySchema = z.strictObject({
  id: z.string(),
  version: z.string().nullable().describe('The version that its profile describes; null where that is not known.'),
  program: z
    .literal(true)
    .exactOptional()
    .describe('True if the program of the host held the conversation; absent for its profile.'),
});
export type HostIdentity = z.infer<typeof hostIdentitySchema>;
