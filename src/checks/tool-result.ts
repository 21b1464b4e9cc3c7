import { RE2JS } from 're2js';
import { z } from 'zod';
import { isRecord, isTooDeep, type JsonObject, tryParseJson } from '../base/json.ts';
import { endSentence, formatCount } from '../base/text.ts';
import { blockOf, judgeContent } from './content-blocks.ts';
import { defineCheck, type ExpectedError, type TracedAnswer } from './define-check.ts';
import { judgeEquals } from './equality.ts';
import type { Evidence, ToolResult } from './evidence.ts';
import {
  type CheckContext,
  type Compared,
  decide,
  fail,
  type Judgement,
  leaveUnmeasured,
  pass,
  refuse,
} from './judgement.ts';
import type { CheckParts } from './parts.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import {
  describeNoAnswer,
  describeText,
  nameSubject,
  onLatestResult,
  printPart,
  readPart,
  readScope,
  type ResultScope,
  type Scope,
} from './result-documents.ts';
import { judgeSnapshot } from './snapshot.ts';

const latestOf = () =>
  z.boolean().exactOptional().meta({ description: 'Judge the latest result alone instead of every result so far.' });

/** The fields of `toolResultContains`, `toolResultMatches`, … that describe a result, without those that select it. */
export const containsFields = ({ needle, caseSensitive, path }: CheckParts) => ({
  needle: needle.meta({ description: 'Text that a result, or the part of it at `path`, contains.' }),
  caseSensitive,
  path,
});
export const matchesFields = ({ re2Pattern, path }: CheckParts) => ({
  pattern: re2Pattern.meta({
    description: 'RE2 regular expression that a result, or the part of it at `path`, matches.',
  }),
  path,
});
export const fitsFields = ({ jsonSchema, path }: CheckParts) => ({
  schema: jsonSchema.meta({
    description: 'JSON Schema 2020-12 that every result, or the part of it at `path`, conforms to.',
  }),
  path,
});
export const equalsFields = ({ value, path }: CheckParts) => ({
  value: value.meta({ description: 'The value that the latest result, or the part of it at `path`, equals.' }),
  path,
  tolerance: z.number().min(0).exactOptional().meta({ description: 'By how much numbers may differ, at every depth.' }),
  unordered: z
    .boolean()
    .exactOptional()
    .meta({ description: 'True compares lists at every depth, and the lines of a text, in any order.' }),
  partial: z.boolean().exactOptional().meta({ description: 'True lets objects have more members, at every depth.' }),
});

/**
 * Checks of tool results. The kinds of the API judge every result in scope: of all tools, of one tool, or only the latest. The other kinds
 * judge the latest result, and fail if there is none.
 */
export const toolResultChecks = [
  defineCheck({
    name: 'noToolErrors',
    docs: 'no tool answered with an error',
    service: 'contract',
    schema: () => ({}),
    sample: {},
    judge: (_, { toolResults }) => {
      const errors = toolResults.flatMap((result) => result.toolError ?? []);
      if (errors.length === 0) return pass('no tool answered with an error.');
      const sentences = errors.map((error) => error.replace(/\.$/, ''));
      return fail(`${joinWithin(sentences, maxListLength)}.`);
    },
    final: 'failed',
    trace: {},
  }),
  defineCheck({
    name: 'toolResultSizeUnder',
    docs: 'every result has less than this many bytes as JSON',
    service: 'newer',
    schema: ({ count, ofTool }) => ({
      maxBytes: count.meta({ description: 'Bytes of a result as JSON.' }),
      toolName: ofTool,
    }),
    sample: { maxBytes: 1 },
    judge: ({ maxBytes, ...scope }, evidence) =>
      judgeUnder(readScope(scope, evidence), {
        limit: maxBytes,
        measure: ({ sizeBytes }) => sizeBytes,
        say: ({ toolName }, sizeBytes) =>
          `the result of ${toolName} has ${formatCount(sizeBytes, 'byte')}; the limit is under ${maxBytes}.`,
        unmeasured: ({ toolName }) => `the size of the result of ${toolName} was not measured.`,
      }),
    final: 'failed',
  }),
  defineCheck({
    name: 'toolResultContains',
    docs: 'a result contains this text of up to 1,000 characters; the comparison ignores case unless `caseSensitive: true`',
    schema: (parts) => ({ ...containsFields(parts), toolName: parts.ofTool, latest: latestOf() }),
    sample: { needle: 'a' },
    judge: (fields, evidence) => judgeContains(fields, evidence),
    // If any result may match, a match stays. The latest result can be replaced by a later one.
    final: ({ latest = false }) => (latest ? 'none' : 'passed'),
    trace: { findGap: findPartGap },
  }),
  defineCheck({
    name: 'toolResultMatches',
    docs: 'a result matches this regular expression in [RE2 syntax](https://github.com/google/re2/wiki/Syntax), which has no look-around and no back-references',
    schema: (parts) => ({ ...matchesFields(parts), toolName: parts.ofTool, latest: latestOf() }),
    sample: { pattern: 'a' },
    judge: (fields, evidence) => judgeMatches(fields, evidence),
    final: ({ latest = false }) => (latest ? 'none' : 'passed'),
    trace: { findGap: findPartGap },
  }),
  defineCheck({
    name: 'toolResultMatchesSchema',
    docs: 'there is a result, and every result matches this JSON Schema (2020-12) of up to 16 KiB: the structured content, or otherwise the text parsed as JSON',
    schema: (parts) => ({ ...fitsFields(parts), toolName: parts.ofTool, latest: latestOf() }),
    sample: { schema: true },
    judge: async (fields, evidence, context) => await judgeFits(fields, evidence, context),
    // Without a result, the check fails now but may pass later, so the state is not final.
    final: ({ latest = false, toolName }, { toolResults }) =>
      !latest && toolResults.some((result) => toolName === undefined || result.toolName === toolName)
        ? 'failed'
        : 'none',
    trace: { findGap: (_, answer) => findDocumentGap(answer) },
  }),
  defineCheck({
    name: 'toolLatencyUnder',
    docs: 'every call took less than this many milliseconds',
    schema: ({ milliseconds, ofTool }) => ({
      ms: milliseconds.meta({ description: 'Milliseconds that every call took less than.' }),
      toolName: ofTool,
      latest: latestOf(),
    }),
    sample: { ms: 1 },
    judge: ({ ms, ...scope }, evidence) =>
      judgeUnder(readScope(scope, evidence), {
        limit: ms,
        measure: ({ latencyMs }) => latencyMs,
        say: ({ toolName }, latencyMs) =>
          `${toolName} took ${formatLatency(latencyMs)}; the limit is under ${formatLatency(ms)}.`,
        unmeasured: ({ toolName }) => `how long ${toolName} took was not measured.`,
      }),
    final: ({ latest = false }) => (latest ? 'none' : 'failed'),
    trace: {
      findGap: (_, { toolName, latencyMs }) =>
        latencyMs === null ? `the trace does not tell how long ${toolName} took` : null,
    },
  }),
  defineCheck({
    name: 'toolResultEquals',
    docs: 'in the latest result, the structured content, or otherwise the text parsed as JSON, equals this value; with `path`, the part at that JSON Pointer. A string also equals the same text',
    schema: (parts) => ({ ...equalsFields(parts), toolName: parts.ofTool }),
    sample: { value: 1 },
    judge: onLatestResult(judgeEquals),
    trace: {
      latest: true,
      findGap: ({ value, path = '' }, answer) =>
        path === '' && value === answer.output.text ? null : findDocumentGap(answer),
    },
  }),
  defineCheck({
    name: 'toolResultIsError',
    docs: 'the latest result is an error (`true`), or is not (`false`)',
    schema: ({ ofTool }) => ({
      isError: z.boolean().meta({ description: 'True if the latest result must be an error.' }),
      toolName: ofTool,
    }),
    sample: { isError: true },
    judge: onLatestResult(({ isError }: ResultScope & { isError: boolean }, result) =>
      decide(
        result.isError === isError,
        `${describeText(result)} and is ${result.isError ? 'an error' : 'no error'}, expected ${isError ? 'an error' : 'none'}.`,
      ),
    ),
    trace: { latest: true },
    expectError: ({ isError, toolName }, isNegated) => (isError === isNegated ? null : ofTool(toolName)),
  }),
  defineCheck({
    name: 'toolResultContent',
    docs: 'the content of the latest result has a block like this, or exactly `count` of them; see below',
    schema: (parts) => ({
      block: blockOf(parts),
      count: parts.count
        .exactOptional()
        .meta({ description: 'The number of blocks like this; at least one by default.' }),
      toolName: parts.ofTool,
    }),
    sample: { block: { type: 'image', mimeType: 'image/png' } },
    judge: onLatestResult(judgeContent),
    trace: { latest: true, findGap: (_, answer) => findContentGap(answer) },
  }),
  defineCheck({
    name: 'toolError',
    docs: 'the latest result is an error with this `code`, which `contains` this text or `matches` this RE2 expression',
    schema: ({ error, ofTool }) => ({ error, toolName: ofTool }),
    sample: { error: { code: -32602 } },
    judge: onLatestResult(({ error }: ResultScope & { error: ErrorLike }, result) => judgeError(error, result)),
    trace: {
      latest: true,
      findGap: ({ error }, { toolName, errorCode, output: { isError, isVerbatim } }) =>
        error.code !== undefined && isError && !isVerbatim && errorCode === null
          ? `the trace does not tell with which JSON-RPC code ${toolName} failed`
          : null,
    },
    expectError: ({ toolName }, isNegated) => (isNegated ? null : ofTool(toolName)),
  }),
  defineCheck({
    name: 'toMatchFile',
    docs: 'the latest result is as in this file; see [snapshots](#snapshots)',
    schema: ({ snapshot, path, ignorePattern, ofTool }) => ({
      file: snapshot.meta({
        description:
          'A snapshot that the latest result, or the part of it at `path`, equals; a path from the folder of the evals file.',
      }),
      path,
      ignore: z.array(ignorePattern).exactOptional().meta({
        description: 'Parts that are not compared: JSON Pointers with `*` as any segment, or RE2 expressions.',
      }),
      toolName: ofTool,
    }),
    sample: { file: 'snapshots/a.json', path: '/a', ignore: ['/b/*', '[0-9]+'] },
    judge: onLatestResult(judgeSnapshot),
    // Has no `trace`, because only this process knows the snapshots.
  }),
  defineCheck({
    name: 'toolNotFound',
    docs: 'the server does not list this tool, and answers its latest call with an error',
    schema: ({ toolName }) => ({
      toolName: toolName.meta({ description: 'A tool that the server does not list, and whose call it refuses.' }),
    }),
    sample: { toolName: 'a' },
    judge: onLatestResult((_: ResultScope, { toolName, isListed, isError }) => {
      if (isListed === true) return fail(`the server lists ${toolName}.`);
      if (!isError) return fail(`${toolName} answered the call without an error.`);
      return isListed === null
        ? leaveUnmeasured(`whether the server lists ${toolName} was not captured.`)
        : pass(`the server does not list ${toolName}, and answered with an error.`);
    }),
    trace: {
      latest: true,
      findGap: (_, { toolName, output }) =>
        output.isError ? `the trace does not tell whether the server lists ${toolName}` : null,
    },
    expectError: ({ toolName }, isNegated) => (isNegated ? null : { ...ofTool(toolName), mayBeMissing: true }),
  }),
];

function ofTool(toolName: string | undefined): ExpectedError {
  return { of: 'tool', toolName, mayBeMissing: false };
}

interface TextFields extends ResultScope {
  path?: string;
}

export function judgeContains(
  { needle, caseSensitive = false, ...fields }: TextFields & { needle: string; caseSensitive?: boolean },
  evidence: Evidence,
): Judgement {
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase());
  return judgeAny(fields, evidence, {
    isMeant: (text) => fold(text).includes(fold(needle)),
    found: `contains ${printValue(needle)}`,
    missing: `does not contain ${printValue(needle)}`,
  });
}

export function judgeMatches({ pattern, ...fields }: TextFields & { pattern: string }, evidence: Evidence): Judgement {
  const expression = compilePattern(pattern);
  if (expression === null) return refusePattern(pattern);
  return judgeAny(fields, evidence, {
    isMeant: (text) => expression.matcher(text).find(),
    found: `matches ${printValue(pattern)}`,
    missing: `does not match ${printValue(pattern)}`,
  });
}

function leaveMissing({ missing, toolName }: Scope): Judgement {
  const calls = `${formatCount(missing, 'call')}${toolName === undefined ? '' : ` of ${toolName}`}`;
  return leaveUnmeasured(`the transcript has no result of ${calls}.`);
}

/**
 * Checks if any result in scope matches `isMeant`: its text, or its structured content as JSON. With `path`, the text at the path, or
 * another value there as JSON.
 */
function judgeAny(
  { path = '', ...fields }: TextFields,
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
  if (results.length === 1) {
    const part = path === '' ? { kind: 'found', value: latest.text } : readPart(latest, path);
    const compared =
      part.kind === 'found' ? listDemand(nameSubject(latest, path), { missing, actual: part.value, path }) : undefined;
    return fail(`${describePart(latest, path)}${hasText ? ` and ${missing}` : ''}.`, compared);
  }
  const all = `none of ${results.length} results${toolName === undefined ? '' : ` of ${toolName}`}`;
  return fail(`${all} ${found}${path === '' ? '' : ` at ${path}`}; ${describePart(latest, path)}.`);
}

/** Shows a long result below the text that it lacks. A short one is in the reason. */
function listDemand(
  what: string,
  { missing, actual, path }: { missing: string; actual: unknown; path: string },
): Compared | undefined {
  const isLong = typeof actual !== 'string' || actual.length > 120 || actual.includes('\n');
  return isLong ? { kind: 'requirements', what, requirements: [missing], actual, path } : undefined;
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

/** Checks if every result in scope measures less than a limit. Passes if there is no call. */
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

interface SchemaFields extends ResultScope {
  schema: JsonObject | boolean;
  path?: string;
}

/** Checks if there is a result in scope, and all results in scope match a schema. */
export async function judgeFits(
  fields: SchemaFields,
  evidence: Evidence,
  { schemas }: Pick<CheckContext, 'schemas'>,
): Promise<Judgement> {
  const problem = schemas.findProblem(fields.schema);
  if (problem !== null) return refuse(`the schema cannot be used: ${endSentence(problem)}`);
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
  { schema, path = '' }: SchemaFields,
  result: ToolResult,
  schemas: CheckContext['schemas'],
): Promise<Judgement> {
  const part = readPart(result, path);
  if (part.kind !== 'found') return fail(`${part.reason}.`);
  const fit = await schemas.fit(schema, part.value, { checksFormats: true });
  const subject = nameSubject(result, path);
  if (fit.kind === 'unusable') return refuse(`the schema cannot be used: ${fit.reason}.`);
  if (fit.kind === 'stopped') {
    return leaveUnmeasured(
      `${subject} could not be checked: ${fit.reason}. Simplify the schema, or check a part of the result with toolResultEquals.`,
    );
  }
  if (fit.kind === 'valid') return pass(`${subject} fits the schema.`);
  return fail(
    `${subject} does not fit the schema: ${joinWithin(fit.mismatches, maxListLength)}. It is ${printPart(part.value, path)}.`,
    {
      kind: 'requirements',
      what: `${subject}, which does not fit the schema`,
      requirements: fit.mismatches,
      actual: part.value,
      path,
    },
  );
}

interface ErrorLike {
  code?: number;
  contains?: string;
  matches?: string;
}

/** Checks if a result is an error with this code and text. */
export function judgeError({ code, contains, matches }: ErrorLike, result: ToolResult): Judgement {
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

function formatLatency(latencyMs: number): string {
  return `${Number(latencyMs.toFixed(1))} ms`;
}

/** Says that a trace has no document, if the check reads a part of one. */
function findPartGap({ path = '' }: TextFields, answer: TracedAnswer): string | null {
  return path === '' ? null : findDocumentGap(answer);
}

function findDocumentGap({ toolName, output }: TracedAnswer): string | null {
  const { text, structuredContent, isError, isVerbatim } = output;
  return !isVerbatim && !isError && structuredContent === undefined && tryParseJson(text) === undefined
    ? `the trace has only the text of what ${toolName} answered, and that is not JSON`
    : null;
}

/** Finds missing data: services may store a result without the data of its images and sounds. */
function findContentGap({ toolName, output: { content, isError } }: TracedAnswer): string | null {
  if (content === null) return isError ? null : `the trace has only the text of what ${toolName} answered`;
  const isCut = content.some((block) => {
    const isData = isRecord(block) && (block['type'] === 'image' || block['type'] === 'audio');
    return isData && typeof block['data'] !== 'string';
  });
  return isCut ? `the trace lacks the data of what ${toolName} answered` : null;
}
