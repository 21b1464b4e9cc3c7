import { describeError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { expectsToolError, isToolResultAssertion, type ToolResultAssertion } from '../model/assertion.ts';
import type { Step } from '../model/step.ts';
import type { OwnJudgement } from '../model/results.ts';
import type { Suite, SuiteCase } from '../model/suite.ts';
import { resolveChecks } from '../suite/build.ts';
import { expectsErrorOfCall } from '../suite/compile.ts';
import type { ToolResult } from './evidence.ts';
import { findLatestCall, type AnsweredCall } from './latest-call.ts';
import { judgePredicate } from './predicates/judge.ts';
import { clipReason, printValue } from './reasons.ts';
import { startSchemaTime, type SchemaContext } from './schema-check.ts';
import { readTrace, type TraceRecord } from './trace-calls.ts';

/** That the calls of which no assertion expects an error had none: a service that allows one allows all. */
interface NoOtherErrors {
  type: 'noToolErrors';
}

/** An assertion that only the embedded service judges, and where it stands. */
export interface TraceAssertion {
  assertion: ToolResultAssertion | NoOtherErrors;
  /** The step it is, by its place in the file's case; null for a check, which is judged at the end. */
  step: { id: string; index: number; kind: 'assert' } | null;
}

/**
 * Lists what compiling a case for a service other than the embedded one leaves out: first its steps, then the checks at its end, then
 * the errors of calls that the case does not expect.
 */
export function listTraceAssertions(testCase: SuiteCase, suite: Suite): TraceAssertion[] {
  const ofSteps = testCase.steps.flatMap(({ step }, index): TraceAssertion[] => {
    if (step.kind !== 'assert' || !isToolResultAssertion(step.assertion)) return [];
    return [{ assertion: step.assertion, step: { id: step.id, index, kind: 'assert' } }];
  });
  const ofChecks = resolveChecks(suite.checks, testCase.checks)
    .filter(isToolResultAssertion)
    .map((assertion) => ({ assertion, step: null }));
  const isErrorLimited = testCase.failOnToolError && expectsErrorOfCall(testCase, suite);
  const noOtherErrors: TraceAssertion[] = isErrorLimited ? [{ assertion: { type: 'noToolErrors' }, step: null }] : [];
  return [...ofSteps, ...ofChecks, ...noOtherErrors];
}

/**
 * Judges assertions on tool results by what a service recorded of an iteration that it passed. `steps` are all of the
 * case's, as the file has them. One assertion that fails decides; where none does and the trace says too little about
 * one, the iteration is unscored. Never throws, whatever the trace.
 */
export async function judgeTrace(
  trace: unknown,
  assertions: readonly TraceAssertion[],
  steps: readonly Step[],
): Promise<OwnJudgement> {
  const [first] = assertions;
  if (first === undefined) return { kind: 'passed' };
  try {
    const record = readTrace(trace);
    if (record === null) return giveUp(first, 'no trace is stored');
    const schemas: SchemaContext = { time: startSchemaTime(), limit: null };
    const judgements: OwnJudgement[] = [];
    for (const item of assertions) {
      const { assertion } = item;
      judgements.push(
        assertion.type === 'noToolErrors'
          ? judgeOtherErrors(item, record, listExpectedErrors(assertions, record, steps))
          : await judgeAssertion({ ...item, assertion }, { record, steps, schemas }),
      );
    }
    return (
      judgements.find(({ kind }) => kind === 'failed') ??
      judgements.find(({ kind }) => kind === 'unscored') ?? { kind: 'passed' }
    );
  } catch (error) {
    // A trace is foreign, and may be nested deeper than any stack.
    return giveUp(first, `the trace cannot be read: ${describeError(error)}`);
  }
}

/** The calls, by their position in the trace, whose error an assertion expects; null where the trace does not tell which. */
function listExpectedErrors(
  assertions: readonly TraceAssertion[],
  record: TraceRecord,
  steps: readonly Step[],
): ReadonlySet<number> | null {
  const judged = assertions.flatMap(({ assertion, step }) => {
    if (assertion.type === 'noToolErrors' || !expectsToolError(assertion)) return [];
    return findLatestCall(record, steps, { position: step?.index ?? steps.length, toolName: assertion.toolName });
  });
  if (judged.some(({ kind }) => kind === 'unknown')) return null;
  return new Set(judged.flatMap((latest) => (latest.kind === 'found' ? [latest.call.order] : [])));
}

function judgeOtherErrors(
  item: TraceAssertion,
  { calls }: TraceRecord,
  expected: ReadonlySet<number> | null,
): OwnJudgement {
  if (expected === null) return giveUp(item, 'the trace does not tell which tool call was expected to fail');
  const others = calls.filter((_, order) => !expected.has(order));
  const failed = others.find(({ output }) => output?.isError === true);
  if (failed !== undefined) {
    const text = printValue(failed.output?.text);
    const reason = clipReason(`${failed.toolName ?? 'A tool'} answered with an error: ${text}.`);
    return { kind: 'failed', reason, step: null };
  }
  return others.every(({ output }) => output !== null)
    ? { kind: 'passed' }
    : giveUp(item, 'the trace has no result of one of the tool calls');
}

async function judgeAssertion(
  item: TraceAssertion & { assertion: ToolResultAssertion },
  { record, steps, schemas }: { record: TraceRecord; steps: readonly Step[]; schemas: SchemaContext },
): Promise<OwnJudgement> {
  const { assertion, step } = item;
  const latest = findLatestCall(record, steps, {
    position: step?.index ?? steps.length,
    toolName: assertion.toolName,
  });
  if (latest.kind === 'unknown') return giveUp(item, latest.reason);
  const gap = latest.kind === 'found' ? findGap(assertion, latest.call) : null;
  if (gap !== null) return giveUp(item, gap);
  const evidence = {
    toolCalls: [],
    toolResults: latest.kind === 'found' ? [toToolResult(latest.call)] : [],
    finalAssistantMessage: '',
    userMessages: 0,
    tokensUsed: null,
  };
  const { passed, reason, isUnscored } = await judgePredicate(assertion, evidence, schemas);
  if (isUnscored) return { kind: 'unscored', reason };
  return passed ? { kind: 'passed' } : { kind: 'failed', reason, step };
}

/** What an assertion asks about and the trace does not say of this call. */
function findGap(assertion: ToolResultAssertion, { toolName, output, latencyMs }: AnsweredCall): string | null {
  const { type } = assertion;
  if (type === 'toolNotFound' && output.isError) return `the trace does not tell whether the server lists ${toolName}`;
  if (type === 'toolLatencyUnder' && latencyMs === null) return `the trace does not tell how long ${toolName} took`;
  const { text, structuredContent, isError, isVerbatim } = output;
  if (type === 'toolResultEquals' && (assertion.path ?? '') === '' && assertion.value === text) return null;
  const asksForDocument = type === 'toolResultEquals' || type === 'toolResultSchema';
  return asksForDocument && !isVerbatim && !isError && structuredContent === undefined && !isJson(text)
    ? `the trace has only the text of what ${toolName} answered, and that is not JSON`
    : null;
}

function toToolResult({ toolName, output, latencyMs }: AnsweredCall): ToolResult {
  const { text, structuredContent, isError } = output;
  return {
    toolName,
    text,
    structuredContent,
    isError,
    toolError: null,
    latencyMs: latencyMs ?? Number.NaN,
    isListed: null,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function giveUp({ assertion }: TraceAssertion, why: string): OwnJudgement {
  return { kind: 'unscored', reason: clipReason(endSentence(`${assertion.type} could not be judged: ${why}`)) };
}
