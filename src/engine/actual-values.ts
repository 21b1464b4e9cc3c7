import type { CheckByType } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import { judgeEquals } from '../checks/equality.ts';
import type { Evidence, ToolResult } from '../checks/evidence.ts';
import { judgeContains, judgeError } from '../checks/tool-result.ts';
import { readPart, readScope } from '../checks/result-documents.ts';
import { findTraceEvidence } from './trace-evidence.ts';
import { readTrace } from './trace-reader.ts';

/** What a failed assertion could expect instead, or a clause that says why there is nothing. */
export type ActualValue = { kind: 'found'; value: unknown } | { kind: 'none'; reason: string };

/** The assertions of tool results whose expected value can be read from a result. */
export const renewableTypes = ['toolResultEquals', 'toolResultContains', 'toolError', 'toolResultIsError'] as const;

export type RenewableCheck = CheckByType[(typeof renewableTypes)[number]];

/**
 * Reads what an assertion got at its step from a trace; null if the assertion passes. For `toolResultEquals` it is the value, for
 * `toolResultContains` the text, and for `toolError` its code and text. Suggests nothing for a tool that answered with an error and should
 * not have, and for a part that the result does not have.
 */
export function readActualValue(
  check: RenewableCheck,
  trace: unknown,
  viewpoint: { steps: readonly Step[]; position: number },
): ActualValue | null {
  const none = (reason: string): ActualValue => ({ kind: 'none', reason });
  const record = readTrace(trace);
  if (record === null) return none('no trace is stored');
  const found = findTraceEvidence(check, record, viewpoint);
  if (found.kind === 'unknown') return none(found.reason);
  const { toolName } = check;
  const [result] = readScope({ ...(toolName !== undefined && { toolName }), latest: true }, found.evidence).results;
  if (result === undefined) return none('no tool answered before it');
  if (hasPassed(check, result, found.evidence)) return null;
  if (check.type === 'toolResultIsError' || (check.type === 'toolError' && !result.isError)) {
    const state = result.isError ? 'answered with an error' : 'no longer answers with an error';
    return none(`${result.toolName} ${state}; change the case by hand if that is meant`);
  }
  if (check.type === 'toolError') {
    if (check.error.matches !== undefined) return none('a regular expression is not renewed');
    return { kind: 'found', value: { code: result.errorCode, text: result.text } };
  }
  if (result.isError) return none(`${result.toolName} answered with an error`);
  return readActual(check, result);
}

function hasPassed(check: RenewableCheck, result: ToolResult, evidence: Evidence): boolean {
  switch (check.type) {
    case 'toolResultEquals':
      return judgeEquals(check, result).state === 'passed';
    case 'toolResultContains':
      return judgeContains(check, evidence).state === 'passed';
    case 'toolError':
      return judgeError(check.error, result).state === 'passed';
    case 'toolResultIsError':
      return result.isError === check.isError;
  }
}

function readActual(
  check: CheckByType['toolResultEquals'] | CheckByType['toolResultContains'],
  result: ToolResult,
): ActualValue {
  const { path = '' } = check;
  const isContained = check.type === 'toolResultContains';
  if (isContained && path === '') return { kind: 'found', value: result.text };
  const part = readPart(result, path);
  const isText =
    !isContained && typeof check.value === 'string' && path === '' && result.structuredContent === undefined;
  if (isText || (part.kind === 'no-document' && path === '')) return { kind: 'found', value: result.text };
  if (part.kind !== 'found') return { kind: 'none', reason: part.reason };
  return isContained && typeof part.value !== 'string' ? { kind: 'found', value: JSON.stringify(part.value) } : part;
}
