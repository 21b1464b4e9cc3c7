import { isTooDeep, maxJsonDepth, tryParseJson } from '../base/json.ts';
import { isSensitiveKey } from '../base/redaction.ts';
import { type Evidence, listCalls, type ToolResult } from './evidence.ts';
import { type CheckContext, fail, type Judgement } from './judgement.ts';
import { describeAbsence, findByPointer } from './json-documents.ts';
import { printValue } from './reasons.ts';

/** The results that a check applies to. */
export interface Scope {
  results: readonly ToolResult[];
  /** The tool of the results; undefined for all tools. */
  toolName: string | undefined;
  /** The number of calls in scope without a result, for example because they were cut off. */
  missing: number;
}

/** The fields of a check that select results. */
export interface ResultScope {
  toolName?: string;
  latest?: boolean;
}

export function readScope({ toolName, latest = false }: ResultScope, evidence: Evidence): Scope {
  const results = evidence.toolResults.filter((result) => toolName === undefined || result.toolName === toolName);
  const missing = Math.max(0, listCalls(evidence, toolName).length - results.length);
  return latest ? { results: results.slice(-1), toolName, missing: 0 } : { results, toolName, missing };
}

export function describeNoAnswer(toolName: string | undefined): string {
  return toolName === undefined ? 'no tool has answered.' : `${toolName} has not answered.`;
}

/** Applies a judgement of one result to the latest result in scope. Fails if there is none. */
export function onLatestResult<Fields extends ResultScope>(
  judge: (fields: Fields, result: ToolResult, context: CheckContext) => Judgement,
) {
  return (fields: Fields, evidence: Evidence, context: CheckContext): Judgement => {
    const { toolName } = fields;
    const [result] = readScope({ ...(toolName !== undefined && { toolName }), latest: true }, evidence).results;
    return result === undefined ? fail(describeNoAnswer(toolName)) : judge(fields, result, context);
  };
}

/** Returns the result as a JSON document: its structuredContent, else its text if that is JSON. */
export function readDocument({
  structuredContent,
  text,
}: Pick<ToolResult, 'structuredContent' | 'text'>): { value: unknown } | undefined {
  if (structuredContent !== undefined) return { value: structuredContent };
  const value = tryParseJson(text);
  return value === undefined || isTooDeep(value) ? undefined : { value };
}

/** The part of a result's document at a JSON Pointer; or, if there is none, a reason: a sentence without its full stop. */
export type ResultPart =
  | { kind: 'found'; value: unknown }
  | { kind: 'absent'; reason: string }
  | { kind: 'no-document'; reason: string };

export function readPart(result: ToolResult, path: string): ResultPart {
  const document = readDocument(result);
  if (document === undefined) {
    const reason = isTooDeep(tryParseJson(result.text))
      ? `the result of ${result.toolName} is JSON that is nested deeper than ${maxJsonDepth} levels`
      : `${describeText(result)}, which is not JSON, and it has no structuredContent`;
    return { kind: 'no-document', reason };
  }
  const found = findByPointer(document.value, path);
  if (found.kind === 'found') return found;
  const what = describeAbsence(document.value, path);
  return { kind: 'absent', reason: `${nameSubject(result, path)} does not exist (${what})` };
}

/** Names the part of a result in a sentence. */
export function nameSubject({ toolName }: ToolResult, path: string): string {
  return path === '' ? `the result of ${toolName}` : `${path} in the result of ${toolName}`;
}

export function describeText(result: ToolResult): string {
  return `the result of ${result.toolName} is ${printValue(result.text)}`;
}

/** Prints the part at a path; masks it if a key on the path suggests a secret. */
export function printPart(value: unknown, path: string): string {
  return path.split('/').some(isSensitiveKey) ? '***' : printValue(value);
}
