import { describeError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { type InnerCheck, isCombination, listExpectedErrors } from '../checks/assertion.ts';
import type { JudgeCheck } from '../checks/registry.ts';
import type { OwnJudgement } from '../model/results.ts';
import type { Step } from '../cases/step.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { resolveChecks } from '../suite/build.ts';
import { expectsErrorOfCall } from '../suite/compile.ts';
import { type Dialect, isJudgedHere } from '../suite/dialect.ts';
import { type Judgement, leaveUnmeasured } from '../checks/judgement.ts';
import { nameCheck } from '../checks/custom.ts';
import { judgeCheck } from '../checks/judge-check.ts';
import { createCheckContext } from './judge-assertion.ts';
import { judgeCombination, negate } from '../checks/wrappers.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { type SchemaBudget, startSchemaTime } from './schema-check.ts';
import { findLatestCall } from './trace-calls.ts';
import { findTraceEvidence } from './trace-evidence.ts';
import { readTrace, type TraceRecord } from './trace-reader.ts';

/** Requires that calls had no error unless an assertion expects one. Needed because a service that allows one error allows all. */
interface NoOtherErrors {
  type: 'noToolErrors';
  isOnlyOthers: true;
}

/** An assertion that the service does not judge, with its step. */
export interface TraceAssertion {
  assertion: InnerCheck | JudgeCheck | NoOtherErrors;
  /** The step of the assertion, with its index in the case of the file; null for a check at the end. */
  step: { id: string; index: number; kind: 'assert' } | null;
}

/**
 * Lists the assertions that a case compiled for a service omits because the service does not know them: first those of steps, then the
 * checks at the end, then the requirement that no other call fails.
 */
export function listTraceAssertions(testCase: SuiteCase, suite: Suite, dialect: Dialect): TraceAssertion[] {
  const ofSteps = testCase.steps.flatMap(({ step }, index): TraceAssertion[] => {
    if (step.kind !== 'assert' || !isJudgedHere(step.assertion, dialect)) return [];
    return [{ assertion: step.assertion, step: { id: step.id, index, kind: 'assert' } }];
  });
  const ofChecks = resolveChecks(suite.checks, testCase.checks).flatMap((assertion): TraceAssertion[] =>
    isJudgedHere(assertion, dialect) ? [{ assertion, step: null }] : [],
  );
  const isErrorLimited = testCase.failOnToolError && expectsErrorOfCall(testCase, suite);
  const noOtherErrors: NoOtherErrors = { type: 'noToolErrors', isOnlyOthers: true };
  return [...ofSteps, ...ofChecks, ...(isErrorLimited ? [{ assertion: noOtherErrors, step: null }] : [])];
}

/**
 * Judges assertions on the trace of an iteration that the service passed. `steps` are all steps of the case in the file. A failed assertion
 * decides. If none fails and the trace lacks evidence for one, the iteration is unscored. Never throws, whatever the trace contains.
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
    const schemas: SchemaBudget = { time: startSchemaTime(), limit: null };
    const judgements: OwnJudgement[] = [];
    for (const item of assertions) {
      const { assertion } = item;
      judgements.push(
        'isOnlyOthers' in assertion
          ? judgeOtherErrors(item, record, listExpectedFailures(assertions, record, steps))
          : await judgeAssertion({ ...item, assertion }, { record, steps, schemas }),
      );
    }
    return (
      judgements.find(({ kind }) => kind === 'failed') ??
      judgements.find(({ kind }) => kind === 'unscored') ?? { kind: 'passed' }
    );
  } catch (error) {
    // The trace comes from outside, and may be nested deeper than the stack allows.
    return giveUp(first, `the trace cannot be read: ${describeError(error)}`);
  }
}

/** Lists the calls whose error an assertion expects, by position in the trace; null if the trace does not identify them. */
function listExpectedFailures(
  assertions: readonly TraceAssertion[],
  record: TraceRecord,
  steps: readonly Step[],
): ReadonlySet<number> | null {
  const judged = assertions.flatMap(({ assertion, step }) => {
    if ('isOnlyOthers' in assertion) return [];
    const position = step?.index ?? steps.length;
    return listExpectedErrors(assertion).map(({ toolName }) => findLatestCall(record, steps, { position, toolName }));
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
  item: TraceAssertion & { assertion: InnerCheck | JudgeCheck },
  { record, steps, schemas }: { record: TraceRecord; steps: readonly Step[]; schemas: SchemaBudget },
): Promise<OwnJudgement> {
  const { assertion, step } = item;
  if (assertion.type === 'judge') return giveUp(item, 'a judge needs the embedded service');
  const viewpoint = { steps, position: step?.index ?? steps.length };
  // Each part may judge other calls, so each part gets its own evidence.
  const judge = async (check: InnerCheck): Promise<Judgement> => {
    const name = (judgement: Judgement) => ({ ...judgement, reason: `${nameCheck(check)}: ${judgement.reason}` });
    if (check.type === 'not') return name(negate(await judge(check.assertion)));
    if (isCombination(check)) return name(await judgeCombination(check, judge));
    const found = findTraceEvidence(check, record, viewpoint);
    return found.kind === 'unknown'
      ? leaveUnmeasured(endSentence(`${nameCheck(check)} could not be judged: ${found.reason}`))
      : await judgeCheck(check, found.evidence, createCheckContext(schemas));
  };
  const { state, reason } = await judge(assertion);
  if (state === 'unmeasured') return { kind: 'unscored', reason: clipReason(reason) };
  return state === 'passed' ? { kind: 'passed' } : { kind: 'failed', reason: clipReason(reason), step };
}

function giveUp({ assertion }: TraceAssertion, why: string): OwnJudgement {
  return { kind: 'unscored', reason: clipReason(endSentence(`${nameCheck(assertion)} could not be judged: ${why}`)) };
}
