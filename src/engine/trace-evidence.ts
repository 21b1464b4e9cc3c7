import { isRecord, tryParseJson } from '../base/json.ts';
import type { GatingCheck } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import { emptyEvidence, type Evidence, type ToolResult } from './evidence.ts';
import { type AnsweredCall, findAnsweredCalls, findNamedCalls } from './trace-calls.ts';
import type { TraceRecord } from './trace-reader.ts';

/** What a kind of check asks about, which a trace may lack. */
type Subject = 'results' | 'calls' | 'response' | 'other';

const subjects: { readonly [Type in GatingCheck['type']]: Subject } = {
  toolCalledWith: 'calls',
  toolCalledAtLeastOnce: 'calls',
  toolNeverCalled: 'calls',
  firstToolWas: 'calls',
  toolCalledBefore: 'calls',
  toolCallCountUnder: 'calls',
  onlyToolsCalled: 'calls',
  noToolErrors: 'results',
  toolResultContains: 'results',
  toolResultMatches: 'results',
  toolResultMatchesSchema: 'results',
  toolLatencyUnder: 'results',
  toolResultEquals: 'results',
  toolResultIsError: 'results',
  toolResultContent: 'results',
  toolError: 'results',
  toolNotFound: 'results',
  responseContains: 'response',
  responseMatches: 'response',
  responseCloseTo: 'response',
  finalAssistantMessageNonEmpty: 'response',
  turnCountUnder: 'response',
  // Hosted services offer nothing.
  elicitationRequested: 'other',
  samplingRequested: 'other',
  // No trace has the list of tools, the whole size of results, all tokens, notifications, resources, or what a browser rendered.
  argumentsMatchToolSchema: 'other',
  noDestructiveToolCalled: 'other',
  toolResultSizeUnder: 'other',
  tokenBudgetUnder: 'other',
  // Snapshots are known to the service in this process alone.
  toMatchFile: 'other',
  resourceContains: 'other',
  promptContains: 'other',
  completionContains: 'other',
  resourceMatches: 'other',
  promptMatches: 'other',
  resourceEquals: 'other',
  promptEquals: 'other',
  completionEquals: 'other',
  resourceMatchesSchema: 'other',
  promptMatchesSchema: 'other',
  resourceMimeType: 'other',
  requestError: 'other',
  widgetRendered: 'other',
  widgetRenderLatencyUnder: 'other',
  widgetNoConsoleErrors: 'other',
  progressReported: 'other',
  logged: 'other',
  listChanged: 'other',
  appResourceValid: 'other',
  // Services do not keep what a provider says of a refusal in one form.
  modelRefused: 'other',
};

type FoundEvidence = { kind: 'found'; evidence: Evidence } | { kind: 'unknown'; reason: string };

/** Collects what a trace says about a check at a position among the steps; `reason` is half a sentence about what is missing. */
export function findTraceEvidence(
  check: GatingCheck,
  record: TraceRecord,
  { steps, position }: { steps: readonly Step[]; position: number },
): FoundEvidence {
  const subject = subjects[check.type];
  if (subject === 'calls') {
    const found = findNamedCalls(record, steps, position);
    if (found.kind === 'unknown') return found;
    const toolCalls = found.calls.flatMap(({ toolName, arguments: args }) =>
      args === null ? [] : { toolName, arguments: args },
    );
    return toolCalls.length === found.calls.length
      ? { kind: 'found', evidence: { ...emptyEvidence, toolCalls } }
      : { kind: 'unknown', reason: 'the trace does not have the arguments of one of the tool calls' };
  }
  if (subject === 'results') return findResults(check, record, { steps, position });
  const isLast = steps.slice(position).every(({ kind }) => kind === 'assert');
  if (subject === 'other' || !isLast) {
    return { kind: 'unknown', reason: 'the trace does not have what it is about' };
  }
  const { finalAssistantMessage, userMessages } = record;
  return { kind: 'found', evidence: { ...emptyEvidence, finalAssistantMessage, userMessages } };
}

function findResults(
  check: GatingCheck,
  record: TraceRecord,
  { steps, position }: { steps: readonly Step[]; position: number },
): FoundEvidence {
  const toolName = 'toolName' in check ? check.toolName : undefined;
  const found = findAnsweredCalls(record, steps, { position, toolName });
  if (found.kind === 'unknown') return found;
  const judged = judgesLatest(check) ? found.calls.slice(-1) : found.calls;
  const gap = judged.map((call) => findGap(check, call)).find((reason) => reason !== null);
  if (gap !== undefined) return { kind: 'unknown', reason: gap };
  return { kind: 'found', evidence: { ...emptyEvidence, toolResults: judged.map(toToolResult) } };
}

function judgesLatest(check: GatingCheck): boolean {
  if ('latest' in check && check.latest !== undefined) return check.latest;
  return ['toolResultEquals', 'toolResultIsError', 'toolResultContent', 'toolError', 'toolNotFound'].includes(
    check.type,
  );
}

/** What a check asks about and the trace does not say of this call. */
function findGap(check: GatingCheck, call: AnsweredCall): string | null {
  const { toolName, output, latencyMs } = call;
  const { type } = check;
  if (type === 'toolNotFound' && output.isError) return `the trace does not tell whether the server lists ${toolName}`;
  if (type === 'toolLatencyUnder' && latencyMs === null) return `the trace does not tell how long ${toolName} took`;
  const { text, structuredContent, isError, isVerbatim } = output;
  if (type === 'toolResultContent') return findContentGap(call);
  if (type === 'toolError' && check.error.code !== undefined && isError && !isVerbatim && call.errorCode === null) {
    return `the trace does not tell with which JSON-RPC code ${toolName} failed`;
  }
  const path = 'path' in check ? (check.path ?? '') : '';
  if (type === 'toolResultEquals' && path === '' && check.value === text) return null;
  const asksForDocument = type === 'toolResultEquals' || type === 'toolResultMatchesSchema' || path !== '';
  return asksForDocument &&
    !isVerbatim &&
    !isError &&
    structuredContent === undefined &&
    tryParseJson(text) === undefined
    ? `the trace has only the text of what ${toolName} answered, and that is not JSON`
    : null;
}

/** Services may keep a result without the data of its images. */
function findContentGap({ toolName, output: { content, isError } }: AnsweredCall): string | null {
  if (content === null) return isError ? null : `the trace has only the text of what ${toolName} answered`;
  const isCut = content.some((block) => {
    const isData = isRecord(block) && (block['type'] === 'image' || block['type'] === 'audio');
    return isData && typeof block['data'] !== 'string';
  });
  return isCut ? `the trace lacks the data of what ${toolName} answered` : null;
}

function toToolResult({ toolName, arguments: args, output, latencyMs, errorCode }: AnsweredCall): ToolResult {
  const { text, structuredContent, content, isError } = output;
  return {
    toolName,
    arguments: args,
    text,
    structuredContent,
    content: content ?? (isError ? [] : null),
    errorCode,
    sizeBytes: null,
    isError,
    toolError: isError ? `${toolName} answered with an error.` : null,
    latencyMs,
    isListed: null,
  };
}
