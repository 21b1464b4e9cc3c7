import { type Clock, formatDuration, joinSignals } from '../base/time.ts';
import type { BrowserPool } from '../browser/pool.ts';
import { openRenewableSession } from '../mcp/renewable-session.ts';
import type { Target } from '../mcp/session.ts';
import type { TestCase } from '../cases/case.ts';
import type { RunCommand, ServerVisit } from '../model/process-end.ts';
import type { StepResult } from '../model/run.ts';
import type { Step } from '../cases/step.ts';
import type { TraceIds } from '../otlp/ids.ts';
import { createAppReader } from './app-reader.ts';
import { createWidgets } from './apps/widgets.ts';
import { createClientScript } from './client-script.ts';
import { connectAll, type ReachableServer } from './connect.ts';
import type { JudgingContext } from './judging-context.ts';
import type { Snapshots } from '../checks/judgement.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import { needsWidgets } from './find-checks.ts';
import { openFixtures, type RunStepIn } from './fixture-steps.ts';
import { findHiddenTool, listUnlisted } from './hidden-tools.ts';
import type { HostPrograms } from '../host-drivers/host-programs.ts';
import { type IterationLimit, startIterationLimit } from './iteration-limit.ts';
import { createAskJudge, type OpenJudge } from './model-judge.ts';
import { createWatch } from './notification-log.ts';
import { createPromptRunner, explainNoAnswer, type OpenModel, shareModel } from './prompt-runner.ts';
import {
  buildOutcome,
  type CaseOutcome,
  completed,
  type Ending,
  judgeChecks,
  listChecks,
  withholdResult,
} from './outcome.ts';
import { joinConnections, type ReachedServer } from './process-loss.ts';
import { runStep, type StepScope } from './run-step.ts';
import { runSteps } from './run-steps.ts';
import { createSampleModel } from './sampling.ts';
import { startSchemaTime } from './schema-check.ts';
import type { OpenSession } from './session-tape.ts';
import { findExpectedErrors } from './tool-call.ts';
import { createToolCatalog } from './tool-catalog.ts';
import { Transcript } from './transcript.ts';
import { createCaseValues, type IterationFacts } from './values.ts';

/**
 * Limits a handshake. It may have to wait for a process to start on a busy machine, so a case with a short limit does not shorten it. A
 * case with a longer limit extends it.
 */
const connectTimeoutMs = 60_000;

/** The time that a server keeps tasks beyond the iteration's limit, because waiting for a model does not count towards that limit. */
const extraTaskTtlMs = 600_000;

/**
 * Runs one iteration of a case in its own MCP session, and judges it. Resolves whatever the server does.
 *
 * The case's own `timeoutMs` takes precedence over the given one. It starts when the session is open; waiting for a model does not count.
 * Without a browser, `interact` steps and widget assertions are unmeasured. If a model gives no answer, the iteration has no result,
 * whatever the server did.
 *
 * The iteration passes if every step passes, every check holds on the whole transcript, no tool answers with an error (unless
 * `failOnToolError` is false, or an assertion expects the error of that call), and the model's calls match the expected ones in every turn.
 * In a negative case, the model must call nothing; pinned calls are the author's and do not count.
 *
 * The client offers the server only what the case sets. The iteration has no result if a request of the server has no answer, if a call
 * that needed more than the case offers failed, or if the server lists the tool only to clients that offer more. None of these says
 * anything about the server.
 *
 * The setup runs before the steps. The teardown runs after them, whatever happened. A failed setup leaves the iteration without a result; a
 * failed teardown is a warning.
 *
 * `facts` has the values of placeholders. With `trace`, each call sends its span of that trace to the server. With `visit`, the outcome
 * reports if the process of the server ended before the iteration was over. `others` are further servers with sessions of their own; steps
 * that name no server use `target`.
 */
export async function runCase(testCase: TestCase, target: Target, options: RunCaseOptions): Promise<CaseOutcome> {
  const { outcome, unlisted } = await runInSession(testCase, target, options);
  if (unlisted.length === 0) return outcome;
  // Asks after the session is closed, because a server with one process for all sessions may serve only one at a time.
  const offer = testCase.advancedConfig?.client ?? {};
  for (const server of [target, ...(options.others ?? []).map((other) => other.target)]) {
    const reason = await findHiddenTool(unlisted, server, { ...options, offer });
    if (reason !== null) return withholdResult(outcome, reason);
  }
  return outcome;
}

export interface RunCaseOptions {
  clock: Clock;
  /** Opens the sessions with the servers; a tape of an earlier iteration can stand for them. */
  openSession?: OpenSession;
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  /** The time of all schema checks of the iteration together. */
  schemaTimeMs?: number | undefined;
  trace?: TraceIds | null;
  visit?: ServerVisit | null;
  /** Further servers that the case uses. */
  others?: readonly ReachableServer[];
  /** Called with the protocol version of each session. */
  onSession?: (target: Target, protocolVersion: string) => void;
  /** Called when a call of a tool begins. */
  onCall?: ((toolName: string) => void) | undefined;
  openModel?: OpenModel | null;
  /** The programs of hosts; null if none can be started. */
  hosts?: Pick<HostPrograms, 'open'> | null;
  openJudge?: OpenJudge | null;
  snapshots?: Snapshots | null;
  ownChecks?: ReadonlyMap<string, OwnCheck> | null;
  facts?: IterationFacts | null;
  /** Null if programs cannot be run. */
  runCommand?: RunCommand | null;
  /** Null if apps cannot be shown. */
  browser?: BrowserPool | null;
}

async function runInSession(
  testCase: TestCase,
  target: Target,
  options: RunCaseOptions,
): Promise<{ outcome: CaseOutcome; unlisted: readonly string[] }> {
  const { clock, visit = null, openJudge = null, facts = null, runCommand = null, browser = null } = options;
  const timeoutMs = testCase.advancedConfig?.timeoutMs ?? options.timeoutMs;
  const transcript = new Transcript(clock, options.onCall);
  using limit = startIterationLimit(clock, timeoutMs, options.signal);
  const connecting = limit.hold();
  const openModel = options.openModel == null ? null : shareModel(options.openModel, limit);
  const values = createCaseValues(testCase, { facts, transcript });
  const script = createClientScript(testCase.advancedConfig?.client ?? {}, {
    transcript,
    values,
    sampleModel: openModel === null ? null : createSampleModel(openModel, { transcript, signal: limit.signal }),
    explainNoAnswer: (error) => explainNoAnswer(error, transcript),
  });
  let servers: readonly ReachedServer[] = [];
  const finish = async (
    session: Omit<Parameters<typeof buildOutcome>[1], 'transcript' | 'script'>,
    filled = testCase,
  ) => {
    const outcome = await addOutput(buildOutcome(filled, { ...session, transcript, script }), servers);
    return { outcome, unlisted: listUnlisted(filled, { transcript, outcome }) };
  };
  const opened = await connectAll([{ target, visit }, ...(options.others ?? [])], {
    clock,
    signal: options.signal,
    timeoutMs: Math.max(timeoutMs, connectTimeoutMs),
    openSession: options.openSession ?? openRenewableSession,
    session: {
      watch: createWatch(testCase, transcript),
      abilities: script.abilities,
      taskTtlMs: timeoutMs + extraTaskTtlMs,
    },
  });
  if ('ending' in opened) return await finish({ steps: [], ending: opened.ending, protocolVersion: null });
  await using _sessions = opened.sessions;
  servers = opened.reached;
  const [{ session }] = opened.reached;
  const { protocolVersion } = session.handshake;
  for (const reached of opened.reached) options.onSession?.(reached.target, reached.session.handshake.protocolVersion);
  connecting[Symbol.dispose]();
  const steps: StepResult[] = [];
  const schemas = { time: startSchemaTime(options.schemaTimeMs), limit };
  using stop = joinSignals([limit.signal, script.signal]);
  const connection = joinConnections(opened.reached, stop.signal);
  await using widgets =
    browser === null || !needsWidgets(testCase)
      ? null
      : createWidgets({ browser, clock, signal: connection.signal, limit, transcript });
  const recording = { transcript, trace: options.trace ?? null, schemas, widgets };
  const expectedErrors = findExpectedErrors(testCase.steps, listChecks(testCase));
  const anyError = testCase.advancedConfig?.failOnToolError === false;
  const context: JudgingContext = {
    ...schemas,
    snapshots: options.snapshots ?? null,
    ownChecks: options.ownChecks ?? null,
    askJudge: openJudge === null ? null : createAskJudge(openJudge, { limit, signal: options.signal }),
    apps: createAppReader(connection),
    tools: createToolCatalog(testCase, connection),
    widgets,
    waitForNotification: (isMet, maxWaitMs) =>
      transcript.notifications.waitUntil(isMet, { signal: limit.signal, maxWaitMs }),
    judgeLog: transcript.logJudges(null),
    differences: transcript.compared,
  };
  const scope: StepScope = {
    connection,
    recording,
    context,
    promptRunner: createPromptRunner(testCase, openModel, options.hosts),
    expectedErrors,
    anyError,
    clock,
    runCommand,
  };
  const interrupt = (step: Step) => describeInterruption(step, { limit, timeoutMs });
  const runFilled: RunStepIn = (step, stepIndex, within) =>
    values.run(step, async (filled) => await runStep(filled, stepIndex, within));
  await using fixtures = openFixtures(
    { ...testCase.advancedConfig, steps: testCase.steps },
    { scope, runStep: runFilled, limit, timeoutMs, signal: options.signal },
  );
  const unready = await fixtures.setUp();
  const record = { steps, protocolVersion, fixtures };
  if (unready !== null) return await finish({ ...record, ending: unready }, values.fillCase(testCase));
  const ending = await runSteps(testCase.steps, connection, {
    runStep: (step, stepIndex) => runFilled(step, stepIndex, scope),
    interrupt,
    transcript,
    script,
    signal: limit.signal,
    results: steps,
  });
  const filled = values.fillCase(testCase);
  if (ending !== completed) return await finish({ ...record, ending }, filled);
  try {
    const hasFailedStep = steps.some(({ status }) => status === 'fail');
    const checks = await judgeChecks(testCase, transcript, { ...context, hasFailedStep, values });
    return await finish({ ...record, ending, checks }, filled);
  } catch (error) {
    if (limit.stoppedBy() !== 'caller') throw error;
    const cancelled: Ending = { status: 'cancelled', reason: 'Cancelled in the checks at the end.' };
    return await finish({ ...record, ending: cancelled }, filled);
  }
}

/** Adds to the trace of an iteration that did not pass what its servers wrote to stderr. */
async function addOutput(outcome: CaseOutcome, servers: readonly ReachedServer[]): Promise<CaseOutcome> {
  if (outcome.result === 'passed') return outcome;
  const outputs = await Promise.all(
    servers.map(async ({ visit, session }) => (await visit?.readOutput(session.id)) ?? []),
  );
  const serverOutput = outputs.flat().toSorted((a, b) => a.atMs - b.atMs);
  if (serverOutput.length === 0) return outcome;
  const { trace } = outcome;
  return { ...outcome, trace: { ...trace, metadata: { ...trace.metadata, serverOutput } } };
}

function describeInterruption(
  step: Step,
  { limit, timeoutMs }: { limit: IterationLimit; timeoutMs: number },
): Ending | null {
  const stoppedBy = limit.stoppedBy();
  if (stoppedBy === null) return null;
  const where = `in step "${step.id}"${step.kind === 'toolCall' ? ` (tool ${step.toolName})` : ''}.`;
  return stoppedBy === 'caller'
    ? { status: 'cancelled', reason: `Cancelled ${where}` }
    : { status: 'timed_out', reason: `Timed out after ${formatDuration(timeoutMs)} ${where}` };
}
