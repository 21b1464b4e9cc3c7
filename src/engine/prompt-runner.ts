import { ModelError } from '../base/errors.ts';
import { defaultMaxSteps, type TestCase } from '../cases/case.ts';
import type { Step } from '../cases/step.ts';
import type { HostPrograms, HostSettings } from '../host-drivers/host-programs.ts';
import { startConversation } from '../models/conversation.ts';
import type { ModelSession } from '../models/language-model.ts';
import { runHostPrompt } from './host-prompt.ts';
import type { IterationLimit } from './iteration-limit.ts';
import { type CaseHost, openHost, showInstructions } from './host-offer.ts';
import { type InstructingServer, renderInstructions, renderSystemPrompt } from './model-output.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, clipReasonBefore } from '../checks/reasons.ts';
import { type PromptAllowance, type PromptSession, runPromptStep } from './prompt-step.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';
import type { Transcript } from './transcript.ts';

/** Opens the model of an iteration, once, before its first prompt. */
export type OpenModel = () => Promise<ModelSession>;

/** Runs the prompt steps of one iteration as one conversation. */
export interface PromptRunner {
  /** @throws the signal's reason once it aborts */
  runPrompt(
    step: Extract<Step, { kind: 'prompt' }>,
    connection: Connection,
    recording: CallRecording & { allowance: PromptAllowance },
  ): Promise<StepOutcome>;
}

export function createPromptRunner(
  testCase: TestCase,
  openModel: OpenModel | null,
  hosts: Pick<HostPrograms, 'open'> | null = null,
): PromptRunner {
  let promptSession: PromptSession | null = null;
  const runInProgram = async (
    settings: HostSettings,
    ...[step, connection, recording]: Parameters<PromptRunner['runPrompt']>
  ): Promise<StepOutcome> => {
    const program = (await hosts?.open(settings)) ?? { problem: 'Hosts cannot be started here.' };
    if ('problem' in program) {
      recording.transcript.runStop = program.problem;
      return { status: 'fail', reason: program.problem, effect: 'give-up' };
    }
    if (openModel === null) throw new TypeError('A host has no model.');
    const session = await openModel();
    const { toolPolicy = {}, maxSteps = defaultMaxSteps, modelTimeoutMs = null } = testCase.advancedConfig ?? {};
    const turn = { program, settings, session, toolPolicy, maxSteps, modelTimeoutMs };
    return await runHostPrompt(step, connection, { ...recording, turn });
  };
  return {
    runPrompt: async (step, connection, recording) => {
      if (openModel === null) {
        const reason = 'Prompt steps need a model, and none is configured here.';
        recording.transcript.runStop = reason;
        return { status: 'fail', reason, effect: 'give-up' };
      }
      const { host: identity, hostProgram } = testCase.advancedConfig ?? {};
      if (identity !== undefined && hostProgram !== undefined) {
        const { id, version } = identity;
        try {
          return await runInProgram({ id, version: version ?? '', ...hostProgram }, step, connection, recording);
        } catch (error) {
          connection.signal.throwIfAborted();
          if (!(error instanceof ModelError)) throw error;
          return explainNoAnswer(error, recording.transcript);
        }
      }
      const host = identity === undefined ? null : openHost(identity);
      if (identity !== undefined && host === null) {
        const reason = `There is no profile of the host ${identity.id}.`;
        recording.transcript.runStop = reason;
        return { status: 'fail', reason, effect: 'give-up' };
      }
      try {
        promptSession ??= describePromptSession(testCase, await openModel(), connection, host);
        return await runPromptStep(step, connection, { ...recording, promptSession });
      } catch (error) {
        connection.signal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        return explainNoAnswer(error, recording.transcript);
      }
    },
  };
}

function describePromptSession(
  { advancedConfig = {} }: TestCase,
  session: ModelSession,
  connection: Pick<Connection, 'all'>,
  host: CaseHost | null,
): PromptSession {
  const {
    system = null,
    temperature = null,
    maxSteps = defaultMaxSteps,
    maxResultTokens = null,
    toolPolicy = {},
    decoys = [],
  } = advancedConfig;
  const { toolChoice = null, modelParameters: parameters = {}, modelTimeoutMs: timeoutMs = null } = advancedConfig;
  const settings = {
    ...placeInstructions(system, connection, host),
    temperature,
    toolChoice: typeof toolChoice === 'string' ? { type: toolChoice } : toolChoice,
    maxSteps,
    parameters,
    timeoutMs,
  };
  const conversation = startConversation(session, settings);
  return { conversation, model: session.model, settings, maxResultTokens, toolPolicy, decoys, host, found: new Set() };
}

/** Places the instructions of the servers in the system prompt, or in the first message if the host does that. */
function placeInstructions(
  system: string | null,
  connection: Pick<Connection, 'all'>,
  host: CaseHost | null,
): { system: string | null; opening: string | null } {
  const inSystem = (servers: readonly InstructingServer[]) => ({
    system: renderSystemPrompt(system, servers),
    opening: null,
  });
  if (host === null) {
    return inSystem(
      connection.all.map(({ target, session: { instructions } }) => ({ name: target.serverName, instructions })),
    );
  }
  const { servers, isInSystemPrompt } = showInstructions(host, connection);
  if (isInSystemPrompt) return inSystem(servers);
  const parts = renderInstructions(servers);
  return { system, opening: parts.length === 0 ? null : parts.join('\n\n') };
}

/**
 * Shares one model session between the prompts of an iteration and the sampling requests of servers. Holds the iteration's time during each
 * call, because that limit is for the server and the case; providers have their own limits.
 */
export function shareModel(openModel: OpenModel, limit: Pick<IterationLimit, 'hold'>): OpenModel {
  let opening: Promise<ModelSession> | null = null;
  const open = async (): Promise<ModelSession> => {
    const session = await openModel();
    return {
      model: session.model,
      answer: async (call, options) => {
        using _held = limit.hold();
        return await session.answer(call, options);
      },
    };
  };
  return async () => await (opening ??= open());
}

/**
 * Decides how an iteration ends if the model gives no answer. A stale or missing recording cuts the transcript: later steps and checks are
 * judged by the evidence so far. Any other reason ends the iteration.
 */
export function explainNoAnswer(error: ModelError, transcript: Transcript): StepOutcome {
  const { message, hint, kind } = error;
  const reason = hint === undefined ? clipReason(message) : clipReasonBefore(hint, message);
  if (kind === 'stale' || kind === 'missing') {
    transcript.cut(reason);
    return { status: 'skipped', reason, effect: 'continue' };
  }
  if (error.endsRun) transcript.runStop = reason;
  return { status: 'fail', reason, effect: 'unmeasured' };
}
