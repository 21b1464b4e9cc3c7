import { z } from 'zod';
import { count } from './quantities.ts';

export const sourceFrameSchema = z.object({
  file: z.string().describe('Below the directory of the gate.'),
  line: count.describe('Counted from 1.'),
  first: count.describe('The line at which `code` begins.'),
  code: z.array(z.string()),
});

/** A line of the server's own code, with the lines around it. */
export type SourceFrame = z.infer<typeof sourceFrameSchema>;
