import type { Iteration } from '../model/run.ts';
import { flattenText, stripControls } from '../report/escape/plain.ts';
import { truncateText } from '../report/truncate.ts';
import type { SpanRecord } from './encode.ts';
import { identifyTrace } from './ids.ts';

/** Which iteration of what it is. */
export interface TracedIteration {
  suite: { id: string; name: string };
  /** The gate's id, as in the evals file. */
  caseId: string;
  runId: string;
  iteration: Iteration;
  standing: 'passed' | 'failed' | 'unscored';
  /** From 1 where it was run again; 0 the first time. */
  round: number;
}

const maxNameLength = 200;
const maxMessageLength = 1000;

/** Builds the span of an iteration, the first one of its trace. `readAtMs` stands in where no service says when it began. */
export function buildIterationSpan(traced: TracedIteration, { readAtMs }: { readAtMs: number }): SpanRecord {
  const { suite, caseId, runId, iteration, standing, round } = traced;
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
      // One that was not scored says nothing of the case.
      'test.case.result.status': standing === 'unscored' ? undefined : standing === 'passed' ? 'pass' : 'fail',
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
    failure: standing === 'passed' ? null : cutMessage(error ?? (standing === 'failed' ? 'failed' : 'not scored')),
  };
}

/** A foreign name. */
export function cutName(text: string): string {
  return truncateText(flattenText(text), maxNameLength);
}

function cutMessage(text: string): string {
  return truncateText(stripControls(text), maxMessageLength);
}
