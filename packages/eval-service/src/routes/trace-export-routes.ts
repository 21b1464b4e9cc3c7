import type { HonoRequest } from 'hono';
import { generator } from '../../../../src/base/version.ts';
import { appendAll } from '../../../../src/base/lists.ts';
import { tryParseJson } from '../../../../src/base/json.ts';
import { addContent } from '../../../../src/otlp/content.ts';
import { renderSpans, type SpanRecord } from '../../../../src/otlp/encode.ts';
import { identifyTrace } from '../../../../src/otlp/ids.ts';
import { buildIterationSpan, buildTraceSpans } from '../../../../src/otlp/spans.ts';
import { traceExportOperations } from '../../../../src/service/operations/trace-export.ts';
import { invalid } from '../envelope.ts';
import { requireMemberProject } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readLimit } from '../request.ts';
import type { EndedIteration, EndPosition } from '../store/ended-iterations.ts';
import type { Store } from '../store/open-store.ts';

/** The sources of traces that the API defines. Here, only evals write traces. */
const knownSources: readonly string[] = ['eval', 'direct', 'scenario'];

/** Serves traces of ended runs as OTLP/JSON, ordered by the end of the runs, so that a later page never belongs before an earlier one. */
export function serveTraceExport(serve: ServeOperation, { store }: { store: Store }): void {
  serve(traceExportOperations.exportTracesOtlp, ({ request, caller }) => {
    const projectId = request.query('projectId') ?? '';
    if (projectId === '') throw invalid('projectId: Required');
    requireMemberProject(store, projectId, caller);
    const limit = readLimit(request, { max: 200, standard: 50 });
    const withContent = readFlag(request, 'includeContent');
    const after = readEndCursor(request, projectId);
    const found = readSources(request).has('eval') ? store.endedIterations.list(projectId, after, limit + 1) : [];
    const page = found.slice(0, limit);
    const spans: SpanRecord[] = [];
    for (const iteration of page) appendAll(spans, buildSpans(store, iteration, withContent));
    const last = page.at(-1);
    const isComplete = found.length <= limit || last === undefined;
    const paging = isComplete ? { 'export-complete': 'true' } : { 'next-cursor': renderEndCursor(projectId, last) };
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const [name, value] of Object.entries(paging)) {
      for (const prefix of ['x-svc-', 'x-mcpjam-']) headers.set(`${prefix}${name}`, value);
    }
    const source = { ...generator, resource: { 'service.name': generator.name, 'mcp_eval_ci.project.id': projectId } };
    return new Response(spans.length === 0 ? '{"resourceSpans":[]}\n' : renderSpans(spans, source), { headers });
  });
}

/** Builds the same spans that a gate writes for the iteration. */
function buildSpans(store: Store, ended: EndedIteration, withContent: boolean): SpanRecord[] {
  const { runId, suiteId, runEndedAt, id, caseId, caseKey, result, startedAt: startedAtMs, ...iteration } = ended;
  const trace = tryParseJson(store.iterations.getTrace(runId, id) ?? 'null');
  const traced = {
    suite: { id: suiteId, name: store.suites.get(ended.projectId, suiteId)?.content.name ?? suiteId },
    caseId: caseKey ?? caseId ?? iteration.title,
    runId,
    iteration: { ...iteration, id, result, startedAtMs },
    outcome: result ?? ('unscored' as const),
    round: 0,
  };
  const spans = [
    buildIterationSpan(traced, { readAtMs: runEndedAt }),
    ...buildTraceSpans(trace, identifyTrace({ runId, iterationId: id })),
  ];
  return withContent ? addContent(spans, trace) : spans;
}

function readSources(request: HonoRequest): ReadonlySet<string> {
  const text = request.query('sourceTypes') ?? '';
  const asked = text === '' ? knownSources : text.split(',').map((name) => name.trim());
  const unknown = asked.find((name) => !knownSources.includes(name));
  if (unknown === undefined) return new Set(asked);
  throw invalid(`sourceTypes: Expected ${knownSources.join(', ')}, not ${JSON.stringify(unknown)}`);
}

function readFlag(request: HonoRequest, name: string): boolean {
  const text = request.query(name) ?? '';
  if (!['', 'true', 'false'].includes(text)) throw invalid(`${name}: Expected true or false`);
  return text === 'true';
}

function renderEndCursor(projectId: string, { runEndedAt, runId, position }: EndPosition): string {
  return Buffer.from(JSON.stringify([projectId, runEndedAt, runId, position])).toString('base64url');
}

/** @throws {ApiError} VALIDATION_ERROR for a cursor that the export of this project never returned. */
function readEndCursor(request: HonoRequest, projectId: string): EndPosition | null {
  const cursor = request.query('cursor') ?? '';
  if (cursor === '') return null;
  const read = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  const [project, runEndedAt, runId, position]: unknown[] = Array.isArray(read) ? read : [];
  const isOwn =
    project === projectId &&
    typeof runEndedAt === 'number' &&
    typeof runId === 'string' &&
    typeof position === 'number';
  if (!isOwn || renderEndCursor(projectId, { runEndedAt, runId, position }) !== cursor) {
    throw invalid('cursor: Not a cursor of this list');
  }
  return { runEndedAt, runId, position };
}
