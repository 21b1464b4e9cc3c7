import type { Clock } from '../base/time.ts';
import { type Assertion, isAdvisory } from '../checks/assertion.ts';
import { noBrowserReason } from '../checks/widgets.ts';
import type { RunCommand } from '../model/process-end.ts';
import type { RequestStep, ServerStep, Step, StepByKind } from '../cases/step.ts';
import { runCommandStep } from './command-step.ts';
import type { Evidence } from '../checks/evidence.ts';
import type { JudgingContext } from './judging-context.ts';
import type { PromptRunner } from './prompt-runner.ts';
import { judgeAssertion } from './judge-assertion.ts';
import { type Connection, describeUnknownServer, findConnection } from './process-loss.ts';
import { clipReason } from '../checks/reasons.ts';
import { runRepeatStep } from './repeat-step.ts';
import { runRequestStep, runSubscribeStep, runWaitForUpdateStep } from './request-step.ts';
import type { StepOutcome } from './step-outcome.ts';
import { type CallRecording, type ExpectedErrors, findExpectedErrors, runToolCallStep } from './tool-call.ts';

/** The state that the steps of one iteration share. */
export interface StepScope {
  connection: Connection;
  recording: Omit<CallRecording, 'stepIndex'>;
  context: JudgingContext;
  promptRunner: PromptRunner;
  /** Steps whose errors the case expects. */
  expectedErrors: ExpectedErrors;
  /** True if errors of all tools are allowed. */
  anyError: boolean;
  clock: Clock;
  /** Null if programs cannot be run. */
  runCommand: RunCommand | null;
}

type RunStep<Kind extends Step['kind']> = (
  step: StepByKind[Kind],
  stepIndex: number,
  scope: StepScope,
) => Promise<StepOutcome>;

/** Runs each kind of step. */
const runners: { readonly [Kind in Step['kind']]: RunStep<Kind> } = {
  assert: async (step, stepIndex, { recording: { transcript }, context }) =>
    await runAssertStep(step.assertion, transcript, {
      ...context,
      judgeLog: transcript.logJudges({ step, stepIndex }),
    }),
  toolCall: async (step, stepIndex, { connection, recording, expectedErrors, anyError }) => {
    const ownError = expectedErrors.errors.has(stepIndex);
    const allowance = { anyError, ownError, missingTool: expectedErrors.missing.has(stepIndex) };
    return await runToolCallStep(step, connection, { ...recording, stepIndex, allowance });
  },
  prompt: async (step, stepIndex, { connection, recording, promptRunner, expectedErrors, anyError }) => {
    const expected = expectedErrors.prompts.get(stepIndex) ?? new Set<string | null>();
    const allowance = { anyError, expected, refusal: expectedErrors.refusals.has(stepIndex) };
    return await promptRunner.runPrompt(step, connection, { ...recording, stepIndex, allowance });
  },
  interact: async (step, _, { recording: { widgets = null } }) =>
    (await widgets?.interact(step)) ?? { status: 'fail', reason: noBrowserReason, effect: 'unmeasured' },
  readResource: runRequest,
  getPrompt: runRequest,
  complete: runRequest,
  listTools: runRequest,
  listResources: runRequest,
  listResourceTemplates: runRequest,
  listPrompts: runRequest,
  ping: runRequest,
  subscribe: async (step, stepIndex, { connection, recording: { transcript } }) =>
    await askServer(step, connection, async (asked) => await runSubscribeStep(step, asked, { transcript, stepIndex })),
  waitForUpdate: async (step, stepIndex, { connection, clock, recording: { transcript } }) =>
    await askServer(
      step,
      connection,
      async (asked) => await runWaitForUpdateStep(step, asked, { transcript, stepIndex, clock }),
    ),
  wait: async ({ ms }, _, { connection, clock }) => {
    await clock.sleep(ms, { signal: connection.signal });
    return { status: 'ok', reason: null, effect: 'continue' };
  },
  command: async (step, _, { connection, runCommand, recording: { transcript } }) =>
    await runCommandStep(step, { runCommand, transcript, signal: connection.signal }),
  repeat: async (step, stepIndex, scope) => {
    const { connection, context, clock, recording } = scope;
    const until: Step = { id: step.id, kind: 'assert', assertion: step.until };
    const { errors, missing } = findExpectedErrors([...step.steps, until], []);
    const pick = (indexes: ReadonlySet<number>, index: number) => new Set(indexes.has(index) ? [stepIndex] : []);
    return await runRepeatStep(step, {
      connection,
      context,
      clock,
      transcript: recording.transcript,
      runStep: async (inner, index) => {
        const expectedErrors = {
          errors: pick(errors, index),
          missing: pick(missing, index),
          prompts: new Map(),
          refusals: new Set<number>(),
        };
        return await runStep(inner, stepIndex, { ...scope, expectedErrors });
      },
    });
  },
};

async function runRequest(step: RequestStep, stepIndex: number, scope: StepScope): Promise<StepOutcome> {
  const { connection, recording, expectedErrors } = scope;
  const mayFail = expectedErrors.errors.has(stepIndex);
  const { transcript, trace } = recording;
  return await askServer(
    step,
    connection,
    async (asked) => await runRequestStep(step, asked, { transcript, trace, stepIndex, mayFail }),
  );
}

/** Runs a step with the server that it names. */
async function askServer(
  step: Exclude<ServerStep, StepByKind['toolCall']>,
  first: Connection,
  run: (connection: Connection) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const connection = findConnection(step, first);
  if (connection !== undefined) return await run(connection);
  return { status: 'fail', reason: describeUnknownServer(step, first), effect: 'give-up' };
}

/**
 * Runs one step of a case. After a cut of the transcript, runs only assertions, because they may be decided already.
 *
 * @throws the reason of the iteration's signal once it aborts
 */
export async function runStep(step: Step, stepIndex: number, scope: StepScope): Promise<StepOutcome> {
  const isCut = scope.recording.transcript.cutReason !== null;
  if (isCut && step.kind !== 'assert') return { status: 'skipped', reason: null, effect: 'continue' };
  return await runOfKind(step.kind, step, { stepIndex, scope });
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties the entry of the table to the step
async function runOfKind<Kind extends Step['kind']>(
  kind: Kind,
  step: StepByKind[Kind],
  { stepIndex, scope }: { stepIndex: number; scope: StepScope },
): Promise<StepOutcome> {
  return await runners[kind](step, stepIndex, scope);
}

/**
 * Judges an assert step on the transcript so far. A failed assertion ends the iteration; an unmeasured one ends it without a result. An
 * advisory assertion only reports its reason.
 */
export async function runAssertStep(
  assertion: Assertion,
  evidence: Evidence,
  context: JudgingContext,
): Promise<StepOutcome> {
  if (!('type' in assertion)) {
    const unmeasured = {
      status: 'fail',
      reason: `${assertion.kind}: ${noBrowserReason}`,
      effect: 'unmeasured',
    } as const;
    return (await context.widgets?.assert(assertion)) ?? unmeasured;
  }
  const { state, reason } = await judgeAssertion(assertion, evidence, context);
  if (state === 'passed') return { status: 'ok', reason: null, effect: 'continue' };
  if (isAdvisory(assertion)) return { status: 'ok', reason: clipReason(`Advisory: ${reason}`), effect: 'continue' };
  // Continues, because later asserts on the cut transcript may still be decided.
  if (state === 'unmeasured' && evidence.cutReason !== null) return { status: 'skipped', reason, effect: 'continue' };
  return { status: 'fail', reason, effect: state === 'unmeasured' ? 'unmeasured' : 'stop' };
}
