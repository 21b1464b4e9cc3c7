import { z } from 'zod';
import { count } from './quantities.ts';

/** How a change affects the users of the server, worst first. */
export const surfaceSeverities = ['breaking', 'review', 'additive', 'cosmetic'] as const;
export const surfaceSeveritySchema = z
  .enum(surfaceSeverities)
  .describe(
    '`breaking`: what worked may fail. `review`: a person has to decide. `additive`: more is possible. `cosmetic`: nothing depends on it.',
  );
export type SurfaceSeverity = z.infer<typeof surfaceSeveritySchema>;

const placeSchema = z.object({ file: z.string(), line: z.int().min(1) });

const changeSchema = z.object({
  id: z.string().describe('Stable, such as `tool.search.input.limit.typeNarrowed`.'),
  severity: surfaceSeveritySchema,
  rule: z.string().describe('The rule that decided the severity.'),
  reason: z.string().describe('Why the rule says so.'),
  message: z.string().describe('The change, in words.'),
  before: z.string().nullable(),
  after: z.string().nullable(),
  location: placeSchema.nullable().describe('In the surface file; null without one.'),
});

/** One difference between two surfaces. */
export type SurfaceChange = z.infer<typeof changeSchema>;

const findingSchema = z.object({
  id: z.string().describe('Stable, such as `tool.search.description.missing`.'),
  rule: z.string(),
  message: z.string(),
  reason: z.string(),
});

/** A problem in a surface for users of the server, whether it is new or not. */
export type SurfaceFinding = z.infer<typeof findingSchema>;

const toolSizeSchema = z.object({
  name: z.string(),
  bytes: count,
  bytesBefore: count.nullable().describe('Null where it is new, or nothing is compared.'),
});
export type ToolSize = z.infer<typeof toolSizeSchema>;

const configurationSchema = z.object({
  name: z.string(),
  bytes: count.describe(
    'The size of the texts that a model reads of the tools: names, descriptions and input schemas as JSON, in UTF-8.',
  ),
  bytesBefore: count.nullable().describe('Null where nothing is compared.'),
  tools: z.array(toolSizeSchema).describe('Largest first.'),
  changes: z.array(changeSchema).describe('Worst first.'),
  findings: z.array(findingSchema),
});
export type ConfigurationSurface = z.infer<typeof configurationSchema>;

export const surfaceReportSchema = z.object({
  against: z
    .string()
    .describe(
      "What the server's surface is compared with: the path of a surface file, or `base` for the server of the base.",
    ),
  unread: z
    .string()
    .nullable()
    .describe('Why the surface is not compared, if the server or the base did not list it; null where it is.'),
  configurations: z.array(configurationSchema),
});

/** The surface of the server under test, compared with the surface file or with the base. */
export type SurfaceReport = z.infer<typeof surfaceReportSchema>;
