import { RE2JS } from 're2js';
import { isTooDeep } from '../base/json.ts';
import { endSentence, formatCount } from '../base/text.ts';
import type { CheckByType, ToolResultType } from '../checks/assertion.ts';
import { findSchemaProblems } from '../suite/schema-problems.ts';
import { judgeContent } from './content-checks.ts';
import { judgeEquals } from './equality-checks.ts';
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
import { judgeSnapshot } from './snapshot-checks.ts';
import { judgePages } from './page-checks.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import {
  describeNoAnswer,
  describeText,
  nameSubject,
  onLatestResult,
  printPart,
  readPart,
  readScope,
  type Scope,
} from './result-documents.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';

/**
 * Checks of what tools answered. The kinds that the API has judge every result in scope, which may be one tool's, or the latest alone; the
 * others judge the latest, and fail where there is none.
 */
export const toolResultJudgements: Judgements<ToolResultType | 'toolResultSizeUnder' | 'fullPageHasContinuation'> = {
  toolResultContains: (fields, evidence) => {
    const { needle, caseSensitive } = fields;
    const fold = (text: string) => (caseSensitive === true ? text : text.toLowerCase());
    return judgeAny(fields, evidence, {
      isMeant: (text) => fold(text).includes(fold(needle)),
      found: `contains ${printValue(needle)}`,
      missing: `does not contain ${printValue(needle)}`,
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
  toolResultEquals: onLatestResult(judgeEquals),
  toolResultIsError: onLatestResult(({ isError }, result) =>
    decide(
      result.isError === isError,
      `${describeText(result)} and is ${result.isError ? 'an error' : 'no error'}, expected ${isError ? 'an error' : 'none'}.`,
    ),
  ),
  toolResultContent: onLatestResult(judgeContent),
  toolError: onLatestResult(judgeError),
  toMatchFile: onLatestResult(judgeSnapshot),
  toolNotFound: onLatestResult((_, result) => judgeNotFound(result)),
  fullPageHasContinuation: judgePages,
};

function leaveMissing({ missing, toolName }: Scope): Judgement {
  const calls = `${formatCount(missing, 'call')}${toolName === undefined ? '' : ` of ${toolName}`}`;
  return leaveUnmeasured(`the transcript has no result of ${calls}.`);
}

/**
 * Judges whether the text of a result in scope, or its structured content as JSON, is what is meant; with a path, the text at it, or what
 * else is there as JSON.
 */
function judgeAny(
  { path = '', ...fields }: { path?: string; toolName?: string; latest?: boolean },
  evidence: Evidence,
  { isMeant, found, missing }: { isMeant: (text: string) => boolean; found: string; missing: string },
): Judgement {
  const scope = readScope(fields, evidence);
  const { results, toolName } = scope;
  const meant = results.findLast((result) => listTexts(result, path).some(isMeant));
  if (meant !== undefined) return pass(`${describePart(meant, path)} and ${found}.`);
  if (scope.missing > 0) return leaveMissing(scope);
  const latest = results.at(-1);
  if (latest === undefined) return fail(describeNoAnswer(toolName));
  const hasText = path === '' || readPart(latest, path).kind === 'found';
  if (results.length === 1) return fail(`${describePart(latest, path)}${hasText ? ` and ${missing}` : ''}.`);
  const all = `none of ${results.length} results${toolName === undefined ? '' : ` of ${toolName}`}`;
  return fail(`${all} ${found}${path === '' ? '' : ` at ${path}`}; ${describePart(latest, path)}.`);
}

function listTexts(result: ToolResult, path: string): string[] {
  if (path === '') {
    const { text, structuredContent } = result;
    return structuredContent === undefined ? [text] : [text, printJson(structuredContent)];
  }
  const part = readPart(result, path);
  if (part.kind !== 'found') return [];
  return [typeof part.value === 'string' ? part.value : printJson(part.value)];
}

function printJson(value: unknown): string {
  return isTooDeep(value) ? '' : JSON.stringify(value);
}

function describePart(result: ToolResult, path: string): string {
  if (path === '') return describeText(result);
  const part = readPart(result, path);
  return part.kind === 'found' ? `${nameSubject(result, path)} is ${printPart(part.value, path)}` : part.reason;
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

function judgeMatches(fields: CheckByType['toolResultMatches'], evidence: Evidence): Judgement {
  const { pattern } = fields;
  const expression = compilePattern(pattern);
  if (expression === null) return refusePattern(pattern);
  return judgeAny(fields, evidence, {
    isMeant: (text) => expression.matcher(text).find(),
    found: `matches ${printValue(pattern)}`,
    missing: `does not match ${printValue(pattern)}`,
  });
}

function compilePattern(pattern: string): RE2JS | null {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return null;
  }
}

function refusePattern(pattern: string): Judgement {
  return refuse(
    `the pattern ${printValue(pattern)} is not an RE2 regular expression, which has no look-around and no back-references.`,
  );
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
  { schema, path = '' }: CheckByType['toolResultMatchesSchema'],
  result: ToolResult,
  schemas: SchemaBudget | undefined,
): Promise<Judgement> {
  const part = readPart(result, path);
  if (part.kind !== 'found') return fail(`${part.reason}.`);
  const check = await checkSchema(schema, part.value, {
    checksFormats: true,
    ...(schemas !== undefined && { budget: schemas }),
  });
  const subject = nameSubject(result, path);
  if (check.kind === 'unusable') return refuse(`the schema cannot be used: ${check.reason}.`);
  if (check.kind === 'stopped') {
    return leaveUnmeasured(
      `${subject} could not be checked: ${check.reason}. Simplify the schema, or check a part of the result with toolResultEquals.`,
    );
  }
  if (check.kind === 'valid') return pass(`${subject} fits the schema.`);
  return fail(
    `${subject} does not fit the schema: ${joinWithin(check.mismatches, maxListLength)}. It is ${printPart(part.value, path)}.`,
  );
}

function judgeError({ error }: CheckByType['toolError'], result: ToolResult): Judgement {
  const { code, contains, matches } = error;
  const expression = matches === undefined ? undefined : compilePattern(matches);
  if (expression === null) return refusePattern(matches ?? '');
  const { toolName, text, isError, errorCode } = result;
  if (!isError) return fail(`${describeText(result)} and is no error, expected an error.`);
  const kind = errorCode === null ? 'an error without a JSON-RPC code' : `JSON-RPC error ${errorCode}`;
  const problems = [
    ...(code === undefined || code === errorCode ? [] : [`expected code ${code}`]),
    ...(contains === undefined || text.toLowerCase().includes(contains.toLowerCase())
      ? []
      : [`it does not contain ${printValue(contains)}`]),
    ...(expression === undefined || expression.matcher(text).find()
      ? []
      : [`it does not match ${printValue(matches)}`]),
  ];
  const answer = `${toolName} answered with ${kind}: ${printValue(text)}`;
  return decide(problems.length === 0, problems.length === 0 ? `${answer}.` : `${answer}; ${problems.join(', ')}.`);
}

function judgeNotFound({ toolName, isListed, isError }: ToolResult): Judgement {
  if (isListed === true) return fail(`the server lists ${toolName}.`);
  if (!isError) return fail(`${toolName} answered the call without an error.`);
  return isListed === null
    ? leaveUnmeasured(`whether the server lists ${toolName} was not captured.`)
    : pass(`the server does not list ${toolName}, and answered with an error.`);
}

function formatLatency(latencyMs: number): string {
  return `${Number(latencyMs.toFixed(1))} ms`;
}
