import { isRecord } from '../base/json.ts';
import type { Iteration } from '../model/run.ts';
import { flattenText, stripControls } from '../report/escape/plain.ts';
import { truncateText } from '../report/truncate.ts';
import type { Attributes, SpanRecord } from './encode.ts';
import { identifySpan, identifyTrace, type TraceIds } from './ids.ts';

/** An iteration with its suite, case and run. */
export interface TracedIteration {
  suite: { id: string; name: string };
  /** The gate's id of the case, from the evals file. */
  caseId: string;
  runId: string;
  iteration: Iteration;
  outcome: 'passed' | 'failed' | 'unscored';
  /** 0 for the first time; counts from 1 each time it was run again. */
  round: number;
}

const maxNameLength = 200;
const maxMessageLength = 1000;

/** Builds the span of an iteration, the root of its trace. `readAtMs` replaces a missing start time of the service. */
export function buildIterationSpan(traced: TracedIteration, { readAtMs }: { readAtMs: number }): SpanRecord {
  const { suite, caseId, runId, iteration, outcome, round } = traced;
  const { id, title, iterationNumber, startedAtMs, durationMs, status, model, tokensUsed, error } = iteration;
  const { traceId, rootId } = identifyTrace({ runId, iterationId: id });
  const name = cutName(title === null || title === '' ? caseId : title);
  const lengthMs = Math.max(0, durationMs ?? 0);
  const startMs = startedAtMs ?? Math.max(0, readAtMs - lengthMs);
  return {
    traceId,
    spanId: rootId,
    parentSpanId: null,
    name,
    kind: 'internal',
    startMs,
    endMs: startMs + lengthMs,
    attributes: {
      'test.suite.name': cutName(suite.name),
      'test.case.name': name,
      // An unscored iteration says nothing about the case.
      'test.case.result.status': outcome === 'unscored' ? undefined : outcome === 'passed' ? 'pass' : 'fail',
      'gen_ai.request.model': model === null ? undefined : cutName(model),
      'mcp_eval_ci.suite.id': suite.id,
      'mcp_eval_ci.case.id': caseId,
      'mcp_eval_ci.run.id': runId,
      'mcp_eval_ci.iteration.id': id,
      'mcp_eval_ci.iteration.number': iterationNumber ?? undefined,
      'mcp_eval_ci.iteration.status': cutName(status),
      'mcp_eval_ci.iteration.tokens': tokensUsed ?? undefined,
      'mcp_eval_ci.retry.round': round === 0 ? undefined : round,
    },
    failure: outcome === 'passed' ? null : cutMessage(error ?? (outcome === 'failed' ? 'failed' : 'not scored')),
  };
}

/** Cuts a name that another program or a user chose. */
function cutName(text: string): string {
  return truncateText(flattenText(text), maxNameLength);
}

function cutMessage(text: string): string {
  return truncateText(stripControls(text), maxMessageLength);
}

/** An iteration with more spans is probably in a loop. */
const maxSpans = 500;

/** The last moment that a Date can represent, in epoch milliseconds. ECMA-262 §21.4.1.1. */
const latestMs = 8.64e15;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Builds the spans of a trace, below the span of its iteration: names, times and outcomes, without the content of messages, calls and
 * answers. The trace is an open document: invalid parts are left out.
 */
export function buildTraceSpans(trace: unknown, ids: TraceIds): SpanRecord[] {
  const spans = isRecord(trace) && Array.isArray(trace['spans']) ? trace['spans'].slice(0, maxSpans) : [];
  const known = spans.filter(isRecord);
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

/** Follows the semantic conventions for generative AI and for MCP, as far as they name an attribute. */
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
  if (category === 'request') {
    const method = text('mcpMethod') ?? given;
    const prompt = text('promptName');
    const attributes: Attributes = {
      'mcp.method.name': method,
      'mcp.resource.uri': text('resourceUri'),
      'gen_ai.prompt.name': prompt,
      // Without a code, the conventions ask for `_OTHER`.
      'error.type': isError ? (typeof mcpErrorCode === 'number' ? String(mcpErrorCode) : '_OTHER') : undefined,
    };
    return { name: prompt === undefined ? method : `${method} ${prompt}`, kind: 'client', attributes, failure };
  }
  if (category === 'llm') {
    const model = text('modelId');
    const reason = text('finishReason');
    const attributes: Attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.provider.name': text('provider'),
      'mcp_eval_ci.model.role': text('role'),
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
