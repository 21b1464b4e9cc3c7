import { RE2JS } from 're2js';
import { isJsonEqual, isTooDeep, maxJsonDepth } from '../base/json.ts';
import { endSentence } from '../base/text.ts';
import type { CheckByType, ToolResultType } from '../model/assertion.ts';
import { findSchemaProblems } from '../suite/schema-problems.ts';
import { decide, type Evidence, fail, type Judgement, type Judgements, pass, type ToolResult } from './evidence.ts';
import { findByPointer, listDifferences } from './json-documents.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';

/** Checks of what a tool answered: the latest result, or the latest of `toolName`. Where there is none they fail. */
export const toolResultJudgements: Judgements<ToolResultType> = {
  toolResultContains: onLatestResult(({ text, caseSensitive }, result) => {
    const passed =
      caseSensitive === true ? result.text.includes(text) : result.text.toLowerCase().includes(text.toLowerCase());
    return decide(
      passed,
      `${describeText(result)} and ${passed ? 'contains' : 'does not contain'} ${printValue(text)}.`,
    );
  }),
  toolResultMatches: onLatestResult(judgeMatches),
  toolResultEquals: onLatestResult(judgeEquals),
  toolResultSchema: onLatestResult(judgeSchema),
  toolResultIsError: onLatestResult(({ isError }, result) =>
    decide(
      result.isError === isError,
      `${describeText(result)} and is ${result.isError ? 'an error' : 'no error'}, expected ${isError ? 'an error' : 'none'}.`,
    ),
  ),
  toolLatencyUnder: onLatestResult(({ ms }, result) =>
    decide(
      result.latencyMs < ms,
      `${result.toolName} took ${formatLatency(result.latencyMs)}; the limit is under ${formatLatency(ms)}.`,
    ),
  ),
  toolNotFound: onLatestResult((_, result) => judgeNotFound(result)),
};

function onLatestResult<Fields extends { toolName?: string }>(
  judge: (fields: Fields, result: ToolResult, schemas: SchemaBudget | undefined) => Judgement | Promise<Judgement>,
) {
  return (fields: Fields, evidence: Evidence, schemas: SchemaBudget | undefined): Judgement | Promise<Judgement> => {
    const result = findLatestResult(evidence, fields.toolName);
    if (result !== undefined) return judge(fields, result, schemas);
    const who = fields.toolName === undefined ? 'no tool has answered' : `${fields.toolName} has not answered`;
    return fail(`${who}.`);
  };
}

function findLatestResult({ toolResults }: Evidence, toolName: string | undefined): ToolResult | undefined {
  return toolName === undefined ? toolResults.at(-1) : toolResults.findLast((result) => result.toolName === toolName);
}

function judgeMatches({ pattern }: CheckByType['toolResultMatches'], result: ToolResult): Judgement {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch {
    return fail(
      `the pattern ${printValue(pattern)} is not an RE2 regular expression, which has no look-around and no back-references.`,
    );
  }
  const passed = expression.matcher(result.text).find();
  return decide(passed, `${describeText(result)} and ${passed ? 'matches' : 'does not match'} ${printValue(pattern)}.`);
}

function judgeEquals({ value, path = '' }: CheckByType['toolResultEquals'], result: ToolResult): Judgement {
  const isText = typeof value === 'string' && path === '';
  if (isText && value === result.text) {
    return pass(`${describeText(result)}, as expected.`);
  }
  const document = readDocument(result) ?? (isText ? { value: result.text } : undefined);
  if (document === undefined) return judgeNoDocument(result);
  const found = findByPointer(document.value, path);
  if (found.kind === 'malformed') {
    return fail(`the path ${printValue(path)} is not a JSON Pointer, such as "/items/0/name".`);
  }
  const subject = path === '' ? `the result of ${result.toolName}` : `${path} in the result of ${result.toolName}`;
  if (found.kind === 'absent') {
    return fail(`${subject} does not exist, expected ${printValue(value)}.`);
  }
  if (isJsonEqual(value, found.value)) {
    return pass(`${subject} is ${printValue(found.value)}, as expected.`);
  }
  // Next to the text "6", the text `5` is shown as a text too, although it is read as a number.
  const isReadAsOther = found.value === null || typeof found.value === 'number' || typeof found.value === 'boolean';
  const actual = isText && isReadAsOther && result.structuredContent === undefined ? result.text : found.value;
  return fail(`${subject} ${describeDifferences({ expected: value, actual }, path)}.`);
}

function describeDifferences(documents: { expected: unknown; actual: unknown }, path: string): string {
  const differences = listDifferences(documents, path);
  const [first] = differences;
  if (differences.length === 1 && first?.pointer === path) return first.description;
  const parts = differences.map(({ pointer, description }) => `${pointer} ${description}`);
  return `is not as expected: ${joinWithin(parts, maxListLength)}`;
}

function judgeNotFound({ toolName, isListed, isError }: ToolResult): Judgement {
  if (isListed === true) return fail(`the server lists ${toolName}.`);
  if (!isError) return fail(`${toolName} answered the call without an error.`);
  return decide(isListed === false, `the server does not list ${toolName}, and answered with an error.`);
}

async function judgeSchema(
  { schema }: CheckByType['toolResultSchema'],
  result: ToolResult,
  schemas: SchemaBudget | undefined,
): Promise<Judgement> {
  const document = readDocument(result);
  if (document === undefined) return judgeNoDocument(result);
  const [problem] = findSchemaProblems(schema);
  if (problem !== undefined) return fail(`the schema cannot be used: ${endSentence(problem.message)}`);
  const check = await checkSchema(schema, document.value, {
    checksFormats: true,
    ...(schemas !== undefined && { budget: schemas }),
  });
  const subject = `the result of ${result.toolName}`;
  if (check.kind === 'unusable') return fail(`the schema cannot be used: ${check.reason}.`);
  if (check.kind === 'stopped') {
    const reason = `${subject} could not be checked: ${check.reason}. Simplify the schema, or check a part of the result with toolResultEquals.`;
    return { state: 'unmeasured', reason };
  }
  if (check.kind === 'valid') return pass(`${subject} fits the schema.`);
  return fail(
    `${subject} does not fit the schema: ${joinWithin(check.mismatches, maxListLength)}. It is ${printValue(document.value)}.`,
  );
}

/** The result as a JSON document: its structuredContent, else its text where that parses. */
function readDocument(result: ToolResult): { value: unknown } | undefined {
  if (result.structuredContent !== undefined) return { value: result.structuredContent };
  const value = parseText(result.text);
  return value === undefined || isTooDeep(value) ? undefined : { value };
}

/** Undefined where the text is not JSON. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function judgeNoDocument(result: ToolResult): Judgement {
  if (isTooDeep(parseText(result.text))) {
    const reason = `the result of ${result.toolName} is JSON that is nested deeper than ${maxJsonDepth} levels.`;
    return fail(reason);
  }
  return fail(`${describeText(result)}, which is not JSON, and it has no structuredContent.`);
}

function describeText(result: ToolResult): string {
  return `the result of ${result.toolName} is ${printValue(result.text)}`;
}

function formatLatency(latencyMs: number): string {
  return `${Number(latencyMs.toFixed(1))} ms`;
}
