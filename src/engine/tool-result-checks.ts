import { RE2JS } from 're2js';
import { isJsonEqual, isTooDeep, maxJsonDepth, tryParseJson } from '../base/json.ts';
import { endSentence, formatCount } from '../base/text.ts';
import type { CheckByType, ToolResultType } from '../model/assertion.ts';
import { findSchemaProblems } from '../suite/schema-problems.ts';
import { listCalls } from './call-checks.ts';
import {
  decide,
  type Evidence,
  fail,
  type Judgement,
  type Judgements,
  leaveUnmeasured,
  pass,
  refuse,
  type ToolResult,
} from './evidence.ts';
import { findByPointer, listDifferences } from './json-documents.ts';
import { judgePages } from './page-checks.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import { readDocument } from './result-documents.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';

/**
 * Checks of what tools answered. The kinds that the API has judge every result in scope, which may be one tool's, or the latest alone; the
 * others judge the latest, and fail where there is none.
 */
export const toolResultJudgements: Judgements<ToolResultType | 'toolResultSizeUnder' | 'fullPageHasContinuation'> = {
  toolResultContains: (fields, evidence) => {
    const { needle, caseSensitive } = fields;
    const fold = (text: string) => (caseSensitive === true ? text : text.toLowerCase());
    return judgeAny(readScope(fields, evidence), (text) => fold(text).includes(fold(needle)), {
      found: `contains ${printValue(needle)}`,
      missing: `does not contain ${printValue(needle)}`,
      none: `contains ${printValue(needle)}`,
    });
  },
  toolResultMatches: judgeMatches,
  toolResultMatchesSchema: judgeSchemas,
  toolLatencyUnder: (fields, evidence) =>
    judgeUnder(readScope(fields, evidence), {
      limit: fields.ms,
      measure: ({ latencyMs }) => latencyMs,
      say: ({ toolName }, latencyMs) =>
        `${toolName} took ${formatLatency(latencyMs)}; the limit is under ${formatLatency(fields.ms)}.`,
      unmeasured: ({ toolName }) => `how long ${toolName} took was not measured.`,
    }),
  toolResultSizeUnder: (fields, evidence) =>
    judgeUnder(readScope(fields, evidence), {
      limit: fields.maxBytes,
      measure: ({ sizeBytes }) => sizeBytes,
      say: ({ toolName }, sizeBytes) =>
        `the result of ${toolName} has ${formatCount(sizeBytes, 'byte')}; the limit is under ${fields.maxBytes}.`,
      unmeasured: ({ toolName }) => `the size of the result of ${toolName} was not measured.`,
    }),
  toolResultEquals: (fields, evidence) =>
    findByPointer(null, fields.path ?? '').kind === 'malformed'
      ? refuse(`the path ${printValue(fields.path)} is not a JSON Pointer, such as "/items/0/name".`)
      : onLatestResult(judgeEquals)(fields, evidence),
  toolResultIsError: onLatestResult(({ isError }, result) =>
    decide(
      result.isError === isError,
      `${describeText(result)} and is ${result.isError ? 'an error' : 'no error'}, expected ${isError ? 'an error' : 'none'}.`,
    ),
  ),
  toolNotFound: onLatestResult((_, result) => judgeNotFound(result)),
  fullPageHasContinuation: judgePages,
};

/** The results that a check is about. */
interface Scope {
  results: readonly ToolResult[];
  /** The tool that they are of; undefined for all tools. */
  toolName: string | undefined;
  /** How many calls in scope have no result, such as one that was cut off. */
  missing: number;
}

function readScope({ toolName, latest = false }: { toolName?: string; latest?: boolean }, evidence: Evidence): Scope {
  const results = evidence.toolResults.filter((result) => toolName === undefined || result.toolName === toolName);
  const missing = Math.max(0, listCalls(evidence, toolName).length - results.length);
  return latest ? { results: results.slice(-1), toolName, missing: 0 } : { results, toolName, missing };
}

function describeNoAnswer(toolName: string | undefined): string {
  return toolName === undefined ? 'no tool has answered.' : `${toolName} has not answered.`;
}

function leaveMissing({ missing, toolName }: Scope): Judgement {
  const calls = `${formatCount(missing, 'call')}${toolName === undefined ? '' : ` of ${toolName}`}`;
  return leaveUnmeasured(`the transcript has no result of ${calls}.`);
}

/** Judges whether the text of a result in scope, or its structured content as JSON, is what is meant. */
function judgeAny(
  scope: Scope,
  isMeant: (text: string) => boolean,
  say: { found: string; missing: string; none: string },
): Judgement {
  const { results, toolName } = scope;
  const found = results.findLast((result) => isMeant(result.text) || isMeant(printStructured(result)));
  if (found !== undefined) return pass(`${describeText(found)} and ${say.found}.`);
  if (scope.missing > 0) return leaveMissing(scope);
  const latest = results.at(-1);
  if (latest === undefined) return fail(describeNoAnswer(toolName));
  if (results.length === 1) return fail(`${describeText(latest)} and ${say.missing}.`);
  const all = `none of ${results.length} results${toolName === undefined ? '' : ` of ${toolName}`}`;
  return fail(`${all} ${say.none}; ${describeText(latest)}.`);
}

function printStructured({ structuredContent }: ToolResult): string {
  return structuredContent === undefined || isTooDeep(structuredContent) ? '' : JSON.stringify(structuredContent);
}

/** Judges whether every result in scope measures less than a limit. Without a call there is none above it. */
function judgeUnder(
  scope: Scope,
  {
    limit,
    measure,
    say,
    unmeasured,
  }: {
    limit: number;
    measure: (result: ToolResult) => number | null;
    say: (result: ToolResult, value: number) => string;
    unmeasured: (result: ToolResult) => string;
  },
): Judgement {
  const measured = scope.results.flatMap((result) => {
    const value = measure(result);
    return value === null ? [] : { result, value };
  });
  const [largest] = measured.toSorted((left, right) => right.value - left.value);
  if (largest !== undefined && largest.value >= limit) return fail(say(largest.result, largest.value));
  const gap = scope.results.find((result) => measure(result) === null);
  if (gap !== undefined) return leaveUnmeasured(unmeasured(gap));
  if (scope.missing > 0) return leaveMissing(scope);
  return pass(largest === undefined ? describeNoAnswer(scope.toolName) : say(largest.result, largest.value));
}

function onLatestResult<Fields extends { toolName?: string }>(
  judge: (fields: Fields, result: ToolResult) => Judgement,
) {
  return (fields: Fields, evidence: Evidence): Judgement => {
    const { toolName } = fields;
    const [result] = readScope({ ...(toolName !== undefined && { toolName }), latest: true }, evidence).results;
    return result === undefined ? fail(describeNoAnswer(toolName)) : judge(fields, result);
  };
}

function judgeMatches(fields: CheckByType['toolResultMatches'], evidence: Evidence): Judgement {
  const { pattern } = fields;
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch {
    return refuse(
      `the pattern ${printValue(pattern)} is not an RE2 regular expression, which has no look-around and no back-references.`,
    );
  }
  return judgeAny(readScope(fields, evidence), (text) => expression.matcher(text).find(), {
    found: `matches ${printValue(pattern)}`,
    missing: `does not match ${printValue(pattern)}`,
    none: `matches ${printValue(pattern)}`,
  });
}

async function judgeSchemas(
  fields: CheckByType['toolResultMatchesSchema'],
  evidence: Evidence,
  schemas: SchemaBudget | undefined,
): Promise<Judgement> {
  const [problem] = findSchemaProblems(fields.schema);
  if (problem !== undefined) return refuse(`the schema cannot be used: ${endSentence(problem.message)}`);
  const scope = readScope(fields, evidence);
  let last: Judgement = fail(describeNoAnswer(fields.toolName));
  let unmeasured = scope.missing > 0 ? leaveMissing(scope) : null;
  for (const result of scope.results) {
    last = await judgeSchema(fields, result, schemas);
    if (last.state === 'failed') return last;
    if (last.state === 'unmeasured') unmeasured ??= last;
  }
  return unmeasured ?? last;
}

async function judgeSchema(
  { schema }: CheckByType['toolResultMatchesSchema'],
  result: ToolResult,
  schemas: SchemaBudget | undefined,
): Promise<Judgement> {
  const document = readDocument(result);
  if (document === undefined) return judgeNoDocument(result);
  const check = await checkSchema(schema, document.value, {
    checksFormats: true,
    ...(schemas !== undefined && { budget: schemas }),
  });
  const subject = `the result of ${result.toolName}`;
  if (check.kind === 'unusable') return refuse(`the schema cannot be used: ${check.reason}.`);
  if (check.kind === 'stopped') {
    return leaveUnmeasured(
      `${subject} could not be checked: ${check.reason}. Simplify the schema, or check a part of the result with toolResultEquals.`,
    );
  }
  if (check.kind === 'valid') return pass(`${subject} fits the schema.`);
  return fail(
    `${subject} does not fit the schema: ${joinWithin(check.mismatches, maxListLength)}. It is ${printValue(document.value)}.`,
  );
}

function judgeEquals({ value, path = '' }: CheckByType['toolResultEquals'], result: ToolResult): Judgement {
  const isText = typeof value === 'string' && path === '';
  if (isText && value === result.text) {
    return pass(`${describeText(result)}, as expected.`);
  }
  const document = readDocument(result) ?? (isText ? { value: result.text } : undefined);
  if (document === undefined) return judgeNoDocument(result);
  const found = findByPointer(document.value, path);
  const subject = path === '' ? `the result of ${result.toolName}` : `${path} in the result of ${result.toolName}`;
  if (found.kind !== 'found') {
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
  return isListed === null
    ? leaveUnmeasured(`whether the server lists ${toolName} was not captured.`)
    : pass(`the server does not list ${toolName}, and answered with an error.`);
}

function judgeNoDocument(result: ToolResult): Judgement {
  return isTooDeep(tryParseJson(result.text))
    ? fail(`the result of ${result.toolName} is JSON that is nested deeper than ${maxJsonDepth} levels.`)
    : fail(`${describeText(result)}, which is not JSON, and it has no structuredContent.`);
}

function describeText(result: ToolResult): string {
  return `the result of ${result.toolName} is ${printValue(result.text)}`;
}

function formatLatency(latencyMs: number): string {
  return `${Number(latencyMs.toFixed(1))} ms`;
}
