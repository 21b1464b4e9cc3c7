import { endSentence } from '../base/text.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import { describeUnreachable } from '../mcp/faults.ts';
import { openRenewableSession } from '../mcp/renewable-session.ts';
import type { Session, SessionOptions, Target } from '../mcp/session.ts';
import { ExcessError } from '../mcp/traffic-budget.ts';
import type { TestCase } from '../model/case.ts';
import type { ServerVisit } from '../model/process-end.ts';
import type { StepResult } from '../model/run.ts';
import type { Step } from '../model/step.ts';
import type { TraceIds } from '../otlp/ids.ts';
import type { JudgingAids } from './evidence.ts';
import { type IterationLimit, startIterationLimit } from './iteration-limit.ts';
import { createAskJudge, type OpenJudge } from './judge-check.ts';
import { createWatch } from './notification-log.ts';
import { createModelTalk, type OpenModel } from './model-talk.ts';
import { buildOutcome, type CaseOutcome, completed, type Ending, judgeChecks, listChecks } from './outcome.ts';
import { type Connection, joinConnections, type ReachedServer } from './process-loss.ts';
import { clipReason } from './reasons.ts';
import { runStep, type StepScope } from './run-step.ts';
import { startSchemaTime } from './schema-check.ts';
import type { StepOutcome } from './step-outcome.ts';
import { listExcusedSteps } from './tool-call.ts';
import { Transcript } from './transcript.ts';
import { createCaseValues, type IterationFacts } from './values.ts';

/**
 * A handshake may wait for a process to start, on a machine that is busy starting others; a case that is to be quick is no
 * reason to give it less. Where the case may take longer, so may the handshake.
 */
const connectTimeoutMs = 60_000;

/** How much longer than an iteration a server keeps its tasks: the time in which a model is asked is not counted. */
const extraTaskTtlMs = 600_000;

/**
 * Runs one iteration of a case in an MCP session of its own, and judges it. Resolves whatever the server does.
 *
 * The case's own `timeoutMs` wins over the one given; it begins once the session is open, and the time in which the iteration waits for
 * a model is not counted. `interact` steps and widget assertions fail, since there is no browser here. Where a model gives no answer,
 * the iteration has no result, whatever the server did.
 *
 * The iteration passes when every step did, every check holds on the whole transcript, no tool answered with an error
 * (unless `failOnToolError` is false, or an assertion expects the error of that very call), and the model's calls match
 * the expected ones in every turn. A negative case is one in which the model must call nothing: calls that steps pin are
 * the author's, not the model's, and do not count.
 *
 * With `facts`, placeholders of a case that has some stand for them. With `trace`, each call carries its span of that trace to the server.
 * With `visit`, the outcome says where the process of the server ended before the iteration was over. Sessions with `others` are opened
 * next to that with `target`, which is the server of steps that name none.
 */
export async function runCase(
  testCase: TestCase,
  target: Target,
  options: {
    clock: Clock;
    signal?: AbortSignal | undefined;
    timeoutMs: number;
    trace?: TraceIds | null;
    visit?: ServerVisit | null;
    /** Further servers that the case uses. */
    others?: readonly ReachableServer[];
    /** Hears what each session speaks. */
    onSession?: (target: Target, protocolVersion: string) => void;
    openModel?: OpenModel | null;
    openJudge?: OpenJudge | null;
    facts?: IterationFacts | null;
  },
): Promise<CaseOutcome> {
  const { clock, visit = null, openModel = null, openJudge = null, facts = null } = options;
  const timeoutMs = testCase.advancedConfig?.timeoutMs ?? options.timeoutMs;
  const transcript = new Transcript(clock);
  const opened = await connectAll([{ target, visit }, ...(options.others ?? [])], {
    clock,
    signal: options.signal,
    timeoutMs: Math.max(timeoutMs, connectTimeoutMs),
    session: { watch: createWatch(testCase, transcript), taskTtlMs: timeoutMs + extraTaskTtlMs },
  });
  if ('ending' in opened) {
    return buildOutcome(testCase, { transcript, steps: [], ending: opened.ending, protocolVersion: null });
  }
  await using _sessions = opened.sessions;
  const [{ session }] = opened.reached;
  const { protocolVersion } = session.handshake;
  for (const reached of opened.reached) options.onSession?.(reached.target, reached.session.handshake.protocolVersion);
  using limit = startIterationLimit(clock, timeoutMs, options.signal);
  const steps: StepResult[] = [];
  const schemas = { time: startSchemaTime(), limit };
  const connection = joinConnections(opened.reached, limit.signal);
  const recording = { transcript, trace: options.trace ?? null, schemas };
  const excused = listExcusedSteps(testCase.steps, listChecks(testCase));
  const anyError = testCase.advancedConfig?.failOnToolError === false;
  const aids: JudgingAids = {
    ...schemas,
    askJudge: openJudge === null ? null : createAskJudge(openJudge, { limit, signal: options.signal }),
    waitForNotification: (isMet) => transcript.notifications.waitUntil(isMet, limit.signal),
    judgeLog: transcript.logJudges(null),
  };
  const scope: StepScope = {
    connection,
    recording,
    aids,
    talk: createModelTalk(testCase, { openModel, limit }),
    excused,
    anyError,
  };
  const interrupt = (step: Step) => describeInterruption(step, { limit, timeoutMs });
  const values = createCaseValues(testCase, { facts, transcript });
  const ending = await runSteps(testCase.steps, connection, {
    runStep: (step, stepIndex) => values.run(step, async (filled) => await runStep(filled, stepIndex, scope)),
    interrupt,
    transcript,
    results: steps,
  });
  const record = { transcript, steps, protocolVersion };
  const filled = values.fillCase(testCase);
  if (ending !== completed) return buildOutcome(filled, { ...record, ending });
  try {
    const hasFailedStep = steps.some(({ status }) => status === 'fail');
    const checks = await judgeChecks(testCase, transcript, { ...aids, hasFailedStep, values });
    return buildOutcome(filled, { ...record, ending, checks });
  } catch (error) {
    if (limit.stoppedBy() !== 'caller') throw error;
    const cancelled: Ending = { status: 'cancelled', reason: 'Cancelled in the checks at the end.' };
    return buildOutcome(filled, { ...record, ending: cancelled });
  }
}

/** A server that a case uses, and who knows its process. */
export interface ReachableServer {
  target: Target;
  visit: ServerVisit | null;
}

interface ConnectOptions {
  clock: Clock;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  session: Pick<SessionOptions, 'watch' | 'taskTtlMs'>;
}

/** Opens a session with each server, in their order; with one that cannot be connected to, those before it are closed. */
async function connectAll(
  servers: readonly [ReachableServer, ...ReachableServer[]],
  options: ConnectOptions,
): Promise<{ sessions: AsyncDisposableStack; reached: [ReachedServer, ...ReachedServer[]] } | { ending: Ending }> {
  await using sessions = new AsyncDisposableStack();
  const open = async (server: ReachableServer) => {
    const subject = servers.length > 1 ? `The server ${JSON.stringify(server.target.serverName)}` : 'The server';
    const opened = await connect(server, { ...options, subject });
    return 'ending' in opened ? opened : { ...server, session: sessions.use(opened.session) };
  };
  const [first, ...others] = servers;
  const main = await open(first);
  if ('ending' in main) return main;
  const reached: [ReachedServer, ...ReachedServer[]] = [main];
  for (const other of others) {
    const next = await open(other);
    if ('ending' in next) return next;
    reached.push(next);
  }
  return { sessions: sessions.move(), reached };
}

async function connect(
  { target, visit }: ReachableServer,
  { clock, signal, timeoutMs, subject, session: options }: ConnectOptions & { subject: string },
): Promise<{ session: Session } | { ending: Ending }> {
  using limit = startIterationLimit(clock, timeoutMs, signal);
  try {
    return { session: await openRenewableSession(target, { ...options, clock, signal: limit.signal, visit }) };
  } catch (error) {
    const stoppedBy = limit.stoppedBy();
    if (stoppedBy === 'caller') return { ending: { status: 'cancelled', reason: 'Cancelled before the first step.' } };
    // Unlike a handshake that fails, what was sent is evidence against the server.
    if (error instanceof ExcessError) return { ending: failByExcess(error) };
    // Unlike a tool that hangs, a server that cannot be connected to says nothing about the case.
    const reason =
      stoppedBy === 'timeout'
        ? `${subject} did not complete the handshake within ${formatDuration(timeoutMs)}.`
        : clipReason(endSentence(`${subject} could not be connected to: ${describeUnreachable(error)}`));
    const witnessed = stoppedBy === null ? await visit?.findEnd(undefined, { mayBeEnding: true }) : null;
    return { ending: { status: 'failed', reason, ...(witnessed && { loss: { ...witnessed, isDuringCall: false } }) } };
  }
}

/**
 * Runs the steps in order until one ends the iteration, and leaves a result in `results` for each one it began. `interrupt` says how
 * a step ends that threw; null where the iteration was not stopped.
 */
async function runSteps(
  steps: readonly Step[],
  { all, signal }: Connection,
  {
    runStep,
    interrupt,
    transcript,
    results,
  }: {
    runStep: (step: Step, stepIndex: number) => Promise<StepOutcome>;
    interrupt: (step: Step) => Ending | null;
    transcript: Transcript;
    results: StepResult[];
  },
): Promise<Ending> {
  const findExcess = () => all.map(({ session }) => session.excess).find((excess) => excess !== null) ?? null;
  for (const [stepIndex, step] of steps.entries()) {
    const startMs = transcript.elapsedMs();
    let outcome: StepOutcome;
    let ending: Ending | null = null;
    try {
      signal.throwIfAborted();
      const excess = findExcess();
      outcome =
        excess === null ? await runStep(step, stepIndex) : { status: 'fail', reason: excess.message, effect: 'stop' };
      if (outcome.effect === 'stop') ending = completed;
      if (outcome.effect === 'give-up' || outcome.effect === 'unmeasured') {
        const { reason, loss, effect } = outcome;
        const more = loss && { loss };
        const isDecided = effect === 'unmeasured' && results.some(({ status }) => status === 'fail');
        ending = isDecided ? { ...completed, ...more } : { status: 'failed', reason, ...more };
        if (isDecided) outcome = { ...outcome, status: 'skipped' };
      }
    } catch (error) {
      ending = interrupt(step);
      if (ending === null) throw error;
      const status = ending.status === 'cancelled' ? 'skipped' : 'fail';
      outcome = { status, reason: ending.reason, effect: 'stop' };
    }
    transcript.addStepSpan(step, stepIndex, { startMs, isOk: outcome.status === 'ok' });
    const { status, reason, evidence } = outcome;
    results.push({ stepId: step.id, stepIndex, kind: step.kind, status, reason, ...(evidence && { evidence }) });
    if (ending !== null) return ending;
  }
  const excess = findExcess();
  return excess === null ? completed : failByExcess(excess);
}

function failByExcess({ message }: ExcessError): Ending {
  return { status: 'completed', reason: message };
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
