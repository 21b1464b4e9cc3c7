import { createHash } from 'node:crypto';

/** Where the spans of an iteration belong. The same for the same iteration, however often it is read. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Of the span of the iteration itself: 16 hexadecimal digits. */
  rootId: string;
}

export function identifyTrace({ runId, iterationId }: { runId: string; iterationId: string }): TraceIds {
  const digest = digestText(JSON.stringify([runId, iterationId]));
  return { traceId: digest.slice(0, 32), rootId: digest.slice(32, 48) };
}

/** The id of a span below that of the iteration, from its id in the iteration's trace. */
export function identifySpan({ rootId }: TraceIds, id: string): string {
  return digestText(`${rootId} ${id}`).slice(0, 16);
}

/**
 * Composes the header that puts a server's own spans below one of the gate's. W3C Trace Context §3.2, `traceparent`; in MCP it stands in a
 * request's `_meta` (SEP-414).
 */
export function composeTraceParent(ids: TraceIds, id: string): string {
  return `00-${ids.traceId}-${identifySpan(ids, id)}-01`;
}

function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
