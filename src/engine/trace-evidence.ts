import { isRecord } from '../base/json.ts';
import type { Step } from '../cases/step.ts';
import { emptyEvidence, type Evidence, type ToolResult } from '../checks/evidence.ts';
import type { ReadCheck } from '../checks/define-check.ts';
import { checkRegistry, type GatingCheck } from '../checks/registry.ts';
import { type AnsweredCall, findAnsweredCalls, findNamedCalls } from './trace-calls.ts';
import type { TraceRecord } from './trace-reader.ts';

type FoundEvidence = { kind: 'found'; evidence: Evidence } | { kind: 'unknown'; reason: string };

/** Collects the evidence of a trace for a check at a position among the steps. `reason` is a clause that says what is missing. */
export function findTraceEvidence(
  check: GatingCheck,
  record: TraceRecord,
  { steps, position }: { steps: readonly Step[]; position: number },
): FoundEvidence {
  const read = checkRegistry.find(check.type)?.read(check);
  // A malformed check fails on any evidence.
  if (read === undefined || 'problem' in read) return { kind: 'found', evidence: emptyEvidence };
  const needed = read.trace;
  if (needed === 'calls') return findCalls(record, steps, position);
  if (needed !== null && needed !== 'response') return findResults(needed, record, { steps, position });
  const isLast = steps.slice(position).every(({ kind }) => kind === 'assert');
  if (needed === null || !isLast) return { kind: 'unknown', reason: 'the trace does not have what it is about' };
  const { finalAssistantMessage, userMessages } = record;
  return { kind: 'found', evidence: { ...emptyEvidence, finalAssistantMessage, userMessages } };
}

function findCalls(record: TraceRecord, steps: readonly Step[], position: number): FoundEvidence {
  const found = findNamedCalls(record, steps, position);
  if (found.kind === 'unknown') return found;
  const toolCalls = found.calls.flatMap(({ toolName, arguments: args }) =>
    args === null ? [] : { toolName, arguments: args },
  );
  return toolCalls.length === found.calls.length
    ? { kind: 'found', evidence: { ...emptyEvidence, toolCalls } }
    : { kind: 'unknown', reason: 'the trace does not have the arguments of one of the tool calls' };
}

function findResults(
  { toolName, latest, findGap }: Exclude<ReadCheck['trace'], string | null>,
  record: TraceRecord,
  { steps, position }: { steps: readonly Step[]; position: number },
): FoundEvidence {
  const found = findAnsweredCalls(record, steps, { position, toolName });
  if (found.kind === 'unknown') return found;
  const judged = latest ? found.calls.slice(-1) : found.calls;
  const gap = judged.map((call) => findGap(call)).find((reason) => reason !== null);
  if (gap !== undefined) return { kind: 'unknown', reason: gap };
  return { kind: 'found', evidence: { ...emptyEvidence, toolResults: judged.map(toToolResult) } };
}

function toToolResult({ toolName, arguments: args, output, latencyMs, errorCode }: AnsweredCall): ToolResult {
  const { text, structuredContent, content, isError } = output;
  return {
    toolName,
    arguments: args,
    text,
    structuredContent,
    content: content?.filter(isRecord) ?? (isError ? [] : null),
    errorCode,
    sizeBytes: null,
    isError,
    toolError: isError ? `${toolName} answered with an error.` : null,
    latencyMs,
    isListed: null,
  };
}
