import { createHash } from 'node:crypto';

/** Identifies the trace of an iteration and its root span. The same iteration always gets the same ids. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The id of the iteration's own span: 16 hexadecimal digits. */
  rootId: string;
}

export function identifyTrace({ runId, iterationId }: { runId: string; iterationId: string }): TraceIds {
  const digest = digestText(JSON.stringify([runId, iterationId]));
  return { traceId: digest.slice(0, 32), rootId: digest.slice(32, 48) };
}

/** Derives the id of a span below the iteration's span from its id in the iteration's trace. */
export function identifySpan({ rootId }: TraceIds, id: string): string {
  return digestText(`${rootId} ${id}`).slice(0, 16);
}

/**
 * Composes the header that makes a server's own spans children of a span of the gate. W3C Trace Context §3.2, `traceparent`; MCP carries
 * it in the `_meta` of a request (SEP-414).
 */
export function composeTraceParent(ids: TraceIds, id: string): string {
  return `00-${ids.traceId}-${identifySpan(ids, id)}-01`;
}

function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
