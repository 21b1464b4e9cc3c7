import { z } from 'zod';
import { describeOperation, none } from './operation.ts';

/** An ExportTraceServiceRequest of OTLP/JSON, as far as its outer parts go. */
const traceExportSchema = z.looseObject({ resourceSpans: z.array(z.looseObject({})) });

/** Traces for collectors of OpenTelemetry. */
export const traceExportOperations = {
  exportTracesOtlp: describeOperation({
    name: 'exportTracesOtlp',
    summary: 'Exports a page of traces as OTLP/JSON; the cursor of the next page is in a header.',
    method: 'GET',
    path: '/trace-exports/otlp',
    query: z.object({
      projectId: z.string(),
      cursor: z.string().exactOptional(),
      /** Traces of a page, 1 to 200; 50 unless given. */
      limit: z.number().exactOptional(),
      /** Separated by commas: `eval`, `direct`, `scenario`. All unless given. */
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
};
