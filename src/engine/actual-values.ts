import type { CheckByType } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import { judgeEquals } from '../checks/equality.ts';
import { emptyEvidence, type Evidence, type ToolResult } from '../checks/evidence.ts';
import { toToolResult } from '../checks/reply.ts';
import { judgeContains, judgeError } from '../checks/tool-result.ts';
import { readPart, readScope } from '../checks/result-documents.ts';
import { findTraceEvidence } from './trace-evidence.ts';
import { readTrace } from './trace-reader.ts';
import { readTracedReplies } from './traced-replies.ts';

/** What a failed assertion could expect instead, or a clause that says why there is nothing. */
export type ActualValue = { kind: 'found'; value: unknown } | { kind: 'none'; reason: string };

/** The assertions whose expected value can be read from an answer. */
export const renewableTypes = [
  'toolResultEquals',
  'toolResultContains',
  'toolError',
  'toolResultIsError',
  'resourceContains',
  'promptContains',
  'requestError',
] as const;

export type RenewableCheck = CheckByType[(typeof renewableTypes)[number]];

type ReplyCheck = CheckByType['resourceContains' | 'promptContains' | 'requestError'];
type ResultCheck = Exclude<RenewableCheck, ReplyCheck>;

interface Viewpoint {
  steps: readonly Step[];
  position: number;
}

/** The answer that a check judges, or a clause that says why there is none. */
type Answer = { result: ToolResult; evidence: Evidence } | { reason: string };

/**
 * Reads what an assertion got at its step from a trace; null if the assertion passes. For `toolResultEquals` it is the value, for checks
 * that a text is contained the text, and for `toolError` and `requestError` the code and text. Suggests nothing for a request that was
 * answered with an error and should not have been, and for a part that the result does not have.
 */
export function readActualValue(check: RenewableCheck, trace: unknown, viewpoint: Viewpoint): ActualValue | null {
  const none = (reason: string): ActualValue => ({ kind: 'none', reason });
  const answer = isReplyCheck(check) ? findReply(check, trace, viewpoint) : findResult(check, trace, viewpoint);
  if ('reason' in answer) return none(answer.reason);
  const { result, evidence } = answer;
  if (hasPassed(check, result, evidence)) return null;
  const isRefusal = check.type === 'toolError' || check.type === 'requestError';
  if (check.type === 'toolResultIsError' || (isRefusal && !result.isError)) {
    const state = result.isError ? 'answered with an error' : 'no longer answers with an error';
    return none(`${result.toolName} ${state}; change the case by hand if that is meant`);
  }
  if (isRefusal) {
    if (check.error.matches !== undefined) return none('a regular expression is not renewed');
    return { kind: 'found', value: { code: result.errorCode, text: result.text } };
  }
  if (result.isError) return none(`${result.toolName} answered with an error`);
  return readActual(check, result);
}

function isReplyCheck(check: RenewableCheck): check is ReplyCheck {
  return check.type === 'resourceContains' || check.type === 'promptContains' || check.type === 'requestError';
}

function findResult(check: ResultCheck, trace: unknown, viewpoint: Viewpoint): Answer {
  const record = readTrace(trace);
  if (record === null) return { reason: 'no trace is stored' };
  const found = findTraceEvidence(check, record, viewpoint);
  if (found.kind === 'unknown') return { reason: found.reason };
  const { evidence } = found;
  const { toolName } = check;
  const [result] = readScope({ ...(toolName !== undefined && { toolName }), latest: true }, evidence).results;
  return result === undefined ? { reason: 'no tool answered before it' } : { result, evidence };
}

/** Finds the latest answer to a request that is no tool call. */
function findReply(check: ReplyCheck, trace: unknown, { steps, position }: Viewpoint): Answer {
  const replies = readTracedReplies(trace, steps, position);
  if (replies === null) return { reason: 'the trace does not have the answer' };
  const latest = replies.findLast(({ kind, subject }) => {
    switch (check.type) {
      case 'resourceContains':
        return kind === 'resource' && (check.uri ?? subject) === subject;
      case 'promptContains':
        return kind === 'prompt' && (check.name ?? subject) === subject;
      case 'requestError':
        return true;
    }
  });
  if (latest === undefined) return { reason: 'no request was answered before it' };
  const result = toToolResult(latest);
  return { result, evidence: { ...emptyEvidence, toolResults: [result] } };
}

function hasPassed(check: RenewableCheck, result: ToolResult, evidence: Evidence): boolean {
  switch (check.type) {
    case 'toolResultEquals':
      return judgeEquals(check, result).state === 'passed';
    case 'toolResultContains':
    case 'resourceContains':
    case 'promptContains':
      return judgeContains(check, evidence).state === 'passed';
    case 'toolError':
    case 'requestError':
      return judgeError(check.error, result).state === 'passed';
    case 'toolResultIsError':
      return result.isError === check.isError;
  }
}

function readActual(
  check: CheckByType['toolResultEquals' | 'toolResultContains' | 'resourceContains' | 'promptContains'],
  result: ToolResult,
): ActualValue {
  const { path = '' } = check;
  const isContained = check.type !== 'toolResultEquals';
  if (isContained && path === '') return { kind: 'found', value: result.text };
  const part = readPart(result, path);
  const isText =
    !isContained && typeof check.value === 'string' && path === '' && result.structuredContent === undefined;
  if (isText || (part.kind === 'no-document' && path === '')) return { kind: 'found', value: result.text };
  if (part.kind !== 'found') return { kind: 'none', reason: part.reason };
  return isContained && typeof part.value !== 'string' ? { kind: 'found', value: JSON.stringify(part.value) } : part;
}
