import { ModelError } from '../base/errors.ts';
import { formatCount } from '../base/text.ts';
import type { Step } from '../cases/step.ts';
import type { StepResult } from '../model/run.ts';
import type { Conversation, ConversationSettings } from '../models/conversation.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';
import { type CaseHost, type HostOffer, showOffer } from './host-offer.ts';
import { resolveCall, searchTools } from './host-search.ts';
import { explainBadOffer, makeModelCall, offerTools, type ToolOffer } from './model-tools.ts';
import type { ToolResult } from '../checks/evidence.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, joinWithin, maxListLength } from '../checks/reasons.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';
import { type AllTools, listAllTools, lookUpTool, type UnusableList } from './tool-list.ts';
import type { Transcript } from './transcript.ts';

/** The conversation with the model of a case, and the tools that it offers. */
export interface PromptSession extends Omit<ToolOffer, 'list' | 'shown'> {
  /** Null for the gate's own loop. */
  host: CaseHost | null;
  /** The deferred tools that the model has found, by the names that the host gives them. */
  found: Set<string>;
  conversation: Conversation;
  model: ModelName;
  settings: ConversationSettings;
}

/** The tool errors in a turn that the case allows, and whether it judges a refusal. */
export interface PromptAllowance {
  /** True if any error of any tool is allowed. */
  anyError: boolean;
  /** Tools whose latest error in this turn an assertion expects; null stands for the latest call of any tool. */
  expected: ReadonlySet<string | null>;
  /** True if a check asks whether the model refused. Otherwise, a refusal counts as a missing answer. */
  refusal: boolean;
}

/**
 * Sends a prompt to the model, and makes the calls that it requests until it is done. Tool errors count as they do for pinned calls. The
 * step fails if the model reaches a limit before it is done.
 *
 * @throws {ModelError} if the model gives no answer
 * @throws the signal's reason once it aborts
 */
export async function runPromptStep(
  step: Extract<Step, { kind: 'prompt' }>,
  connection: Connection,
  {
    promptSession,
    allowance,
    stepIndex,
    ...recording
  }: CallRecording & { promptSession: PromptSession; allowance: PromptAllowance },
): Promise<StepOutcome> {
  const { transcript } = recording;
  const { conversation, model, settings, maxResultTokens, toolPolicy, decoys, host, found } = promptSession;
  /** Requests only lists that servers have reported as changed. */
  const readOffer = async (): Promise<{ offer: ToolOffer; owners: AllTools['owners'] } | { stop: StepOutcome }> => {
    const listing = await listAllTools(connection);
    if (listing.kind !== 'list') return { stop: explainNoList(listing) };
    for (const [serverName, list] of listing.lists) transcript.setTools(serverName, list);
    const { list, lists, owners } = listing;
    const shown = host === null ? null : showOffer(host, connection, { lists, toolPolicy, decoys, found });
    if (shown !== null && 'problem' in shown) {
      return { stop: { status: 'fail', reason: shown.problem, effect: 'stop' } };
    }
    return { offer: { list, maxResultTokens, toolPolicy, decoys, shown }, owners };
  };
  /** Requests the lists again before a host knows no such tool: the notification of a change may not have arrived yet. */
  const readNewOffer = async (calledAs: string): ReturnType<typeof readOffer> => {
    for (const each of connection.all) await lookUpTool(calledAs, each);
    return await readOffer();
  };
  const first = await readOffer();
  if ('stop' in first) return first.stop;
  const badOffer = explainBadOffer(first.offer);
  if (badOffer !== null) return { status: 'fail', reason: badOffer, effect: 'give-up' };
  let { offer, owners } = first;
  const firstCall = transcript.toolCalls.length;
  const firstResult = transcript.toolResults.length;
  transcript.beginTurn(step.prompt, settings);
  const origin = { step, stepIndex, promptIndex: transcript.turns.length - 1 };
  let callIds: string[] = [];
  const asking = conversation.ask<StepOutcome>(
    step.prompt,
    {
      tools: offerTools(offer),
      ...(offer.shown !== null && { toolChoice: renameChoice(settings.toolChoice, offer.shown) }),
      refreshTools: async () => {
        const read = await readOffer();
        if ('stop' in read) return read;
        ({ offer, owners } = read);
        return offerTools(offer);
      },
      onAnswer: (answer) => {
        callIds = transcript.addAnswer(readAnswer(answer, offer.shown), { model, origin });
      },
      callTool: async (call) => {
        const toolCallId = callIds.shift() ?? call.toolCallId;
        const deferred = offer.shown?.deferred ?? null;
        if (deferred?.searchName === call.toolName) {
          const { text, isError } = searchTools(deferred, call.input);
          transcript.addOwnAnswer(toolCallId, call.toolName, text);
          return { content: [{ type: 'text', text }], isError };
        }
        const resolved = resolveCall(call, deferred);
        if (isUnknown(resolved.calledAs, offer)) {
          const read = await readNewOffer(resolved.calledAs);
          if ('stop' in read) return read;
          ({ offer, owners } = read);
        }
        const owner = owners.get(readName(resolved.calledAs, offer.shown)) ?? connection;
        return await makeModelCall(resolved, owner, { offer, origin: { ...origin, toolCallId }, recording });
      },
    },
    { signal: connection.signal, acceptsRefusal: allowance.refusal },
  );
  const end = await asking.catch((error: unknown) => {
    if (allowance.refusal && error instanceof ModelError && error.kind === 'filtered') {
      transcript.refusal = error.message;
      return { kind: 'answered' } as const;
    }
    const reason = explainTooLong(error, transcript.toolResults.slice(firstResult));
    if (reason === null) throw error;
    return { kind: 'cut-off', reason } as const;
  });
  const evidence = { toolCalls: listCalls(transcript, firstCall, firstResult) };
  if (end.kind === 'stopped') return { evidence, ...end.stop };
  if (end.kind === 'cut-off') return { status: 'fail', reason: end.reason, effect: 'stop', evidence };
  const reason = describeToolErrors(transcript, firstResult, allowance);
  return { status: reason === null ? 'ok' : 'fail', reason, effect: 'continue', evidence };
}

/** Checks if a host has no tool of this name, not even a decoy. */
function isUnknown(calledAs: string, { shown, decoys }: ToolOffer): boolean {
  return shown !== null && !shown.names.has(calledAs) && !decoys.some(({ name }) => name === calledAs);
}

/** Returns the server's name of a tool that a model calls by the name of its host. */
function readName(name: string, shown: HostOffer | null): string {
  return shown?.names.get(name) ?? name;
}

/** Restores the server's names of tools in an answer: evidence and traces have these. */
function readAnswer(answer: ModelAnswer, shown: HostOffer | null): ModelAnswer {
  if (shown === null) return answer;
  const content = answer.content.map((part) => {
    if (part.type !== 'tool-call') return part;
    const { calledAs, input } = resolveCall(part, shown.deferred);
    return { ...part, toolName: readName(calledAs, shown), input };
  });
  return { ...answer, content };
}

/** Names the tool of a choice as the host does; no choice is left of a tool that the model is not offered at once. */
function renameChoice(choice: ConversationSettings['toolChoice'], { names, tools }: HostOffer): typeof choice {
  if (choice?.type !== 'tool') return choice;
  const name = [...names].find(([, toolName]) => toolName === choice.toolName)?.[0];
  return tools.some((tool) => tool.name === name) ? { ...choice, toolName: name ?? '' } : null;
}

/** Names the result that made the conversation too long for the model; null if the error has another cause. */
function explainTooLong(error: unknown, results: readonly ToolResult[]): string | null {
  if (!(error instanceof ModelError) || error.kind !== 'too-long') return null;
  const [largest] = results.toSorted((one, other) => (other.sizeBytes ?? 0) - (one.sizeBytes ?? 0));
  if (largest === undefined) return null;
  const size = largest.sizeBytes === null ? '' : ` of ${formatCount(largest.sizeBytes, 'byte')}`;
  return clipReason(`The result${size} of ${largest.toolName} does not fit the model. ${error.message}`);
}

export function explainNoList(listing: UnusableList): StepOutcome {
  if (listing.kind === 'lost') return giveUpByLoss(listing.witnessed, 'tools/list');
  if (listing.kind === 'refused') return { status: 'fail', reason: listing.reason, effect: 'stop' };
  return { status: 'fail', reason: describeNoAnswer('tools/list', listing.message), effect: 'give-up' };
}

/** Lists the calls of this turn with their results, which have the same order. */
export function listCalls(
  { toolCalls, toolResults }: Transcript,
  firstCall: number,
  firstResult: number,
): NonNullable<NonNullable<StepResult['evidence']>['toolCalls']> {
  const results = toolResults.slice(firstResult);
  return toolCalls.slice(firstCall).map(({ toolName, arguments: args }, index) => {
    const toolError = results[index]?.toolError ?? null;
    return {
      name: toolName,
      args,
      ok: results[index] !== undefined && toolError === null,
      ...(toolError !== null && { error: toolError }),
    };
  });
}

/** Explains why the calls of this turn fail the case; null if they do not. */
export function describeToolErrors(
  { toolResults }: Transcript,
  firstResult: number,
  { anyError, expected }: PromptAllowance,
): string | null {
  if (anyError) return null;
  const results = toolResults.slice(firstResult);
  const excused = new Set(
    [...expected].map((name) => results.findLast(({ toolName }) => name === null || toolName === name)),
  );
  const errors = results.flatMap((result) => (excused.has(result) ? [] : (result.toolError ?? [])));
  return errors.length === 0 ? null : joinWithin([...new Set(errors)], maxListLength);
}
