import { z } from 'zod';
import { count } from './quantities.ts';

/** The kinds of surface items that evals can cover. */
export const coverageKinds = ['tools', 'parameters', 'values', 'errors', 'prompts', 'resources', 'templates'] as const;
export type CoverageKind = (typeof coverageKinds)[number];

const coverageItemSchema = z.object({
  kind: z.enum(coverageKinds),
  path: z
    .array(z.string())
    .describe('Names it: a tool, then its parameter, then a value as JSON; a prompt; a URI; a URI template.'),
  isCovered: z.boolean(),
});
export type CoverageItem = z.infer<typeof coverageItemSchema>;

export const coverageReportSchema = z.object({
  unread: z.string().nullable().describe('Why the surface is not known; null where it is.'),
  isPartial: z.boolean().describe('True if only a part of the cases ran, so that no minimum is judged.'),
  unreadTraces: count.describe(
    'Cases without a trace that was read; their error paths, prompts and resources are unknown.',
  ),
  items: z.array(coverageItemSchema).describe('The items that the servers show, each with its use by evals.'),
});

/** The surface items of the servers, each with whether the evals used it. */
export type CoverageReport = z.infer<typeof coverageReportSchema>;
