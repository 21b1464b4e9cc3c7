import { ProtocolError } from '../base/errors.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { type TraceExport, traceExportOperations, traceExportSchema } from './operations/trace-export.ts';
import { parseAs } from './parse.ts';

const parseExport = parseAs(traceExportSchema, 'an export of traces');

/** Where the traces come from. */
export type TraceSource = 'eval' | 'direct' | 'scenario';

/**
 * Exports the traces of a project as requests to a collector of OpenTelemetry, page by page until the service says that the export is
 * complete. `limit`: traces of a page, 1 to 200. `includeContent` adds messages, and arguments and results of tools, which may be
 * confidential.
 *
 * @throws {ProtocolError} when a page leads back to an earlier one, or is no export
 * @throws {ServiceError} when the service refuses, and {NetworkError} when no answer arrives
 */
export async function* exportTraces(
  client: ServiceClient,
  params: CallOptions & {
    projectId: string;
    limit?: number;
    sourceTypes?: readonly TraceSource[];
    includeContent?: boolean;
  },
): AsyncGenerator<TraceExport> {
  const { projectId, limit, sourceTypes, includeContent, ...options } = params;
  const { headerPrefix } = client.profile;
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.call({
      method: 'GET',
      path: traceExportOperations.exportTracesOtlp.path.split('/').slice(1),
      query: {
        projectId,
        cursor,
        limit,
        sourceTypes: sourceTypes?.join(','),
        includeContent: includeContent === undefined ? undefined : String(includeContent),
      },
      parse: (answer, headers) => ({
        content: parseExport(answer),
        isComplete: headers[`${headerPrefix}export-complete`]?.toString() === 'true',
        next: headers[`${headerPrefix}next-cursor`]?.toString() ?? '',
      }),
      ...options,
    });
    yield page.content;
    if (page.isComplete || page.next === '') return;
    if (seen.has(page.next)) {
      const message = 'The export of traces does not end: a page leads back to an earlier one.';
      throw new ProtocolError(message, { path: `${headerPrefix}next-cursor` });
    }
    seen.add(page.next);
    cursor = page.next;
  } while (cursor !== undefined);
}
