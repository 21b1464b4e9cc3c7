import type { Attributes, SpanRecord } from './encode.ts';
import { cutName } from './iteration-spans.ts';
import { identifySpan, type TraceIds } from './ids.ts';

/** More of one iteration is a loop. */
const maxSpans = 500;

/** The last moment that a date can name, in epoch milliseconds. ECMA-262 §21.4.1.1. */
const latestMs = 8.64e15;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Builds the spans of a trace, below that of its iteration: names, times and outcomes, and nothing of what was said, asked
 * or answered. The trace is an open document: what is not as agreed is left out.
 */
export function buildTraceSpans(trace: unknown, ids: TraceIds): SpanRecord[] {
  const spans = isObject(trace) && Array.isArray(trace['spans']) ? trace['spans'].slice(0, maxSpans) : [];
  const known = spans.filter(isObject);
  const knownIds = new Set(known.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])));
  return known.flatMap((span, index) => {
    const { id, parentId, startMs, endMs } = span;
    if (!isTime(startMs) || !isTime(endMs)) return [];
    const hasParent = typeof parentId === 'string' && parentId !== id && knownIds.has(parentId);
    return [
      {
        traceId: ids.traceId,
        spanId: identifySpan(ids, typeof id === 'string' ? id : `number ${index}`),
        parentSpanId: hasParent ? identifySpan(ids, parentId) : ids.rootId,
        startMs,
        endMs: Math.max(startMs, endMs),
        ...describeSpan(span),
      },
    ];
  });
}

/** By the semantic conventions for generative AI and for MCP, where they have a name for it. */
function describeSpan(span: Fields): Pick<SpanRecord, 'name' | 'kind' | 'attributes' | 'failure'> {
  const { category, mcpErrorCode } = span;
  const text = (name: string) => readText(span[name]);
  const given = text('name') ?? text('category') ?? 'span';
  const isError = span['status'] === 'error' || category === 'error';
  const failure = isError ? 'failed' : null;
  if (category === 'tool') {
    const tool = text('toolName') ?? given;
    const attributes: Attributes = {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': text('toolCallId'),
      'error.type': isError ? (typeof mcpErrorCode === 'number' ? String(mcpErrorCode) : 'tool_error') : undefined,
    };
    return { name: `tools/call ${tool}`, kind: 'client', attributes, failure };
  }
  if (category === 'llm') {
    const model = text('modelId');
    const reason = text('finishReason');
    const attributes: Attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.provider.name': text('provider'),
      'gen_ai.response.id': text('responseId'),
      'gen_ai.response.finish_reasons': reason === undefined ? undefined : [reason],
      'gen_ai.usage.input_tokens': readCount(span['inputTokens']),
      'gen_ai.usage.output_tokens': readCount(span['outputTokens']),
    };
    return { name: model === undefined ? 'chat' : `chat ${model}`, kind: 'client', attributes, failure };
  }
  const attributes: Attributes = {
    'mcp_eval_ci.span.category': text('category'),
    'mcp_eval_ci.step.id': text('authoredStepId'),
    'mcp_eval_ci.step.index': readCount(span['stepIndex']),
  };
  return { name: given, kind: 'internal', attributes, failure };
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? cutName(value) : undefined;
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= latestMs;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
