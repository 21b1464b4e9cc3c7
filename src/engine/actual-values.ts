import type { CheckByType } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import { judgeEquals } from '../checks/equality.ts';
import type { ToolResult } from '../checks/evidence.ts';
import { readPart, readScope } from '../checks/result-documents.ts';
import { findTraceEvidence } from './trace-evidence.ts';
import { readTrace } from './trace-reader.ts';

/** The value that a failed assertion could expect instead, or a clause that says why there is none. */
export type ActualValue = { kind: 'found'; value: unknown } | { kind: 'none'; reason: string };

/**
 * Reads the value that `toolResultEquals` got at its step from a trace; null if the assertion passes. Suggests no value for a tool error,
 * or for a part that the result does not have.
 */
export function readActualValue(
  check: CheckByType['toolResultEquals'],
  trace: unknown,
  viewpoint: { steps: readonly Step[]; position: number },
): ActualValue | null {
  const record = readTrace(trace);
  if (record === null) return { kind: 'none', reason: 'no trace is stored' };
  const found = findTraceEvidence(check, record, viewpoint);
  if (found.kind === 'unknown') return { kind: 'none', reason: found.reason };
  const { toolName } = check;
  const [result] = readScope({ ...(toolName !== undefined && { toolName }), latest: true }, found.evidence).results;
  if (result === undefined) return { kind: 'none', reason: 'no tool answered before it' };
  if (judgeEquals(check, result).state === 'passed') return null;
  if (result.isError) return { kind: 'none', reason: `${result.toolName} answered with an error` };
  return readActual(check, result);
}

function readActual({ value, path = '' }: CheckByType['toolResultEquals'], result: ToolResult): ActualValue {
  const isText = typeof value === 'string' && path === '' && result.structuredContent === undefined;
  const part = readPart(result, path);
  if (isText || (part.kind === 'no-document' && path === '')) return { kind: 'found', value: result.text };
  return part.kind === 'found' ? part : { kind: 'none', reason: part.reason };
}
