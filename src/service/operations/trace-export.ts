import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';

/** The outer parts of an ExportTraceServiceRequest of OTLP/JSON. */
const traceExportSchema = z.looseObject({ resourceSpans: z.array(z.looseObject({})) });

/** Exports of traces for OpenTelemetry collectors. */
export const traceExportOperations = nameOperations({
  exportTracesOtlp: defineOperation({
    summary: 'Exports a page of traces as OTLP/JSON; the cursor of the next page is in a header.',
    method: 'GET',
    path: '/trace-exports/otlp',
    query: z.object({
      projectId: z.string(),
      cursor: z.string().exactOptional(),
      /** Traces per page, 1 to 200. Default: 50. */
      limit: z.number().exactOptional(),
      /** A list separated by commas: `eval`, `direct`, `scenario`. Default: all. */
      sourceTypes: z.string().exactOptional(),
      /** Adds messages, and arguments and results of tools, which may be confidential. */
      includeContent: z.boolean().exactOptional(),
    }),
    body: none,
    answer: traceExportSchema,
    status: 200,
    cursor: 'headers',
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
});
