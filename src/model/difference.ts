import { z } from 'zod';

const lineSchema = z.object({
  side: z.enum(['both', 'expected', 'actual', 'folded']),
  text: z.string(),
  pointer: z.string().exactOptional().describe('The JSON Pointer of the value on the line.'),
  marks: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .exactOptional()
    .describe('The ranges of the text that differ from the line on the other side, in UTF-16 units.'),
});

export const differenceSchema = z.object({
  what: z.string().describe('What is compared.'),
  lines: z
    .array(lineSchema)
    .describe('What differs, with a few lines around it. `folded` stands for lines that are left out.'),
});

/** A comparison of an expected value with the actual one, for a failed assertion. */
export type Difference = z.infer<typeof differenceSchema>;
