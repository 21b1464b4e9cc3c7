import { isRecord, tryParseJson } from '../../../src/base/json.ts';
import { z } from 'zod';
import type { IngestResult } from '../../../src/service/bodies/ingest-body.ts';
import { invalid } from './envelope.ts';
import type { Store } from './store/open-store.ts';

const artifactSchema = z.object({
  contentType: z.string(),
  /** SHA-256 of the bytes, in hexadecimal digits. */
  digest: z.string(),
  base64: z.string(),
});

/** Opens the uploads for results of runs, such as the HTML of a widget. They are never listed, because each may have megabytes. */
export function openArtifacts(store: Pick<Store, 'documents'>) {
  return store.documents.open('artifact', artifactSchema);
}

/**
 * Reads the trace of a result as a document, and inserts the uploads that it refers to: `{storageId}` refers to a whole trace, and
 * `widgetHtmlBlobId` to the HTML of a widget.
 *
 * @throws {ApiError} VALIDATION_ERROR for an artifact that the project does not have; `path` is the path of the result.
 */
export function readSentTrace(
  result: IngestResult,
  { store, projectId, path }: { store: Pick<Store, 'documents'>; projectId: string; path: string },
): object | undefined {
  const artifacts = openArtifacts(store);
  const load = (id: string, field: string): string => {
    const found = artifacts.get(projectId, id);
    if (found === undefined) throw invalid(`${path}.${field}: Artifact not found`);
    return Buffer.from(found.content.base64, 'base64').toString();
  };
  const { trace, widgetSnapshots } = result;
  const storageId = isRecord(trace) ? trace['storageId'] : undefined;
  const document =
    typeof storageId === 'string' ? readDocument(load(storageId, 'trace.storageId')) : readDocument(trace ?? undefined);
  if (!Array.isArray(widgetSnapshots) || widgetSnapshots.length === 0) return document;
  const snapshots = widgetSnapshots.map((snapshot: unknown, index) => {
    const id = isRecord(snapshot) ? snapshot['widgetHtmlBlobId'] : undefined;
    if (!isRecord(snapshot) || typeof id !== 'string') return snapshot;
    return { ...snapshot, widgetHtml: load(id, `widgetSnapshots.${index}.widgetHtmlBlobId`) };
  });
  return { ...document, widgetSnapshots: snapshots };
}

/** Reads a trace that may be a text: the JSON of a document, or a log. */
function readDocument(trace: IngestResult['trace']): object | undefined {
  if (trace === null || trace === undefined) return undefined;
  if (typeof trace !== 'string') return Array.isArray(trace) ? { messages: trace } : trace;
  const parsed = tryParseJson(trace);
  if (Array.isArray(parsed)) return { messages: parsed };
  return isRecord(parsed) ? { ...parsed } : { raw: trace };
}
