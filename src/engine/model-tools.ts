import type { LanguageModelV4ToolCall } from '@ai-sdk/provider';
import { isRecord, type JsonObject } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import { type DecoyTool, isForbidden, type ToolPolicy } from '../cases/case.ts';
import type { ToolCall } from '../model/run.ts';
import type { ToolOutput } from '../models/conversation.ts';
import type { ModelCall } from '../models/language-model.ts';
import { measureText } from '../models/messages.ts';
import { findNearest } from '../suite/findings.ts';
import { renderError, renderForModel } from './model-output.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import { callTool, type CallRecording, showResult } from './tool-call.ts';
import { describeMissing, lookUpTool } from './tool-list.ts';
import type { CallOrigin } from './span-parts.ts';
import type { CallRecord } from './transcript.ts';

/** What a model is offered, and what it may not do with it. */
export interface ToolOffer {
  list: ToolList;
  toolPolicy: ToolPolicy;
  /** Of each result, estimated; null for no limit. */
  maxResultTokens: number | null;
  /** Offered to the model, and had by no server. */
  decoys: readonly DecoyTool[];
}

/** Tools as a provider takes them: those that the server has for models, in its order, then the decoys, without those that `deny` names. */
export function offerTools({ list, toolPolicy, decoys }: ToolOffer): ModelCall['tools'] {
  const ofServer = [...(list ?? [])].flatMap(([name, tool]) => (tool.isForModels ? [{ ...tool, name }] : []));
  const offered = [...ofServer, ...decoys].filter(({ name }) => toolPolicy.deny?.includes(name) !== true);
  return offered.map(({ name, description = null, inputSchema = { type: 'object' } }) => ({
    type: 'function',
    name,
    ...(description !== null && { description }),
    inputSchema,
  }));
}

/** Why the offer makes no sense with the tools that the server has; null where it does. */
export function explainBadOffer({ list, toolPolicy, decoys }: ToolOffer): string | null {
  const { allow = [], deny = [] } = toolPolicy;
  const known = new Map([...(list ?? []), ...decoys.map((decoy) => [decoy.name, null] as const)]);
  const unknown = [...allow, ...deny].find((name) => !known.has(name));
  if (unknown !== undefined) {
    const nearest = findNearest(unknown, [...known.keys()]);
    const advice = nearest === undefined ? '' : `; did you mean ${printValue(nearest)}?`;
    return `\`toolPolicy\` names the tool ${printValue(unknown)}, which the server does not list${advice || '.'}`;
  }
  const clash = decoys.find(({ name }) => list?.has(name) === true);
  return clash === undefined
    ? null
    : `The server has a tool ${printValue(clash.name)}, so that a decoy cannot have this name.`;
}

/** Why a call ends the turn, or what the model is answered. */
export type ModelCallAnswer = ToolOutput | { stop: StepOutcome };

/**
 * Makes a call that a model asks for. A call that the policy of the case forbids is refused and not recorded as a call. A tool that
 * does not exist, and arguments that do not fit it, are an error that the model is answered, and a call with an error in the record.
 *
 * @throws the signal's reason once it aborts
 */
export async function makeModelCall(
  { toolName, input }: LanguageModelV4ToolCall,
  connection: Connection,
  {
    offer,
    origin,
    recording,
  }: { offer: ToolOffer; origin: CallOrigin & { toolCallId: string }; recording: Omit<CallRecording, 'stepIndex'> },
): Promise<ModelCallAnswer> {
  const { transcript, schemas } = recording;
  if (isForbidden(toolName, offer.toolPolicy)) {
    const refusal = `Calls of ${toolName} are not allowed here.`;
    transcript.addRefusal(origin.toolCallId, toolName, refusal);
    return renderError(refusal);
  }
  const listed = offer.list?.get(toolName);
  const isForApps = listed?.isForModels === false;
  // A tool that the model could not be offered may be there by now: the server's report of it can be on its way.
  const declared = isForApps ? undefined : (listed ?? (await findNewTool(toolName, connection, offer)));
  const args = readArguments(input);
  // As the model wrote them, so that no check takes them for arguments that fit.
  const call = { toolName, arguments: args ?? { INVALID_JSON: input } };
  const record = transcript.beginModelCall(call, { ...origin, isListed: declared !== undefined });
  const refuse = (message: string): ModelCallAnswer => {
    const toolError = clipReason(message);
    record.complete({ kind: 'error', message, toolError, code: null, answeredAtMs: transcript.elapsedMs() });
    return renderError(message);
  };
  if (isForApps) return refuse(`The server keeps the tool ${printValue(toolName)} for its apps.`);
  if (declared === undefined) {
    transcript.unlistedTools.push({ toolName, stepIndex: origin.stepIndex });
    return refuse(describeMissing(toolName, offer.list));
  }
  if (args === null) return refuse(`The arguments of ${toolName} are not a JSON object.`);
  const problem = await findArgumentProblem(declared, call, schemas);
  if (problem !== null) return refuse(problem);
  const answer = await sendCall(call, connection, { declared, record, recording });
  const reason = 'stop' in answer ? null : explainTooLarge(toolName, answer, offer);
  return reason === null ? answer : { stop: { status: 'fail', reason, effect: 'stop' } };
}

async function findNewTool(
  toolName: string,
  connection: Connection,
  { decoys }: ToolOffer,
): Promise<ToolDeclaration | undefined> {
  if (decoys.some(({ name }) => name === toolName)) return undefined;
  const found = await lookUpTool(toolName, connection);
  return found.kind === 'listed' && found.isForModels ? found : undefined;
}

async function sendCall(
  call: ToolCall,
  connection: Connection,
  {
    declared,
    record,
    recording,
  }: { declared: ToolDeclaration; record: CallRecord; recording: Omit<CallRecording, 'stepIndex'> },
): Promise<ModelCallAnswer> {
  const { toolName } = call;
  const answer = await callTool(call, connection, { ...recording, record, tool: { kind: 'listed', ...declared } });
  if (answer.kind === 'lost') {
    return { stop: giveUpByLoss(answer.witnessed, toolName, { name: toolName, args: call.arguments }) };
  }
  if (answer.kind === 'unreachable') {
    return { stop: { status: 'fail', reason: describeNoAnswer(toolName, answer.message), effect: 'give-up' } };
  }
  if (answer.kind === 'unmeasured') return { stop: { status: 'fail', reason: answer.reason, effect: 'give-up' } };
  const { isFatal, ...output } = answer;
  const { toolError } = record.complete(output);
  await showResult(call, output, { connection, declaration: declared, widgets: recording.widgets });
  if (isFatal) return { stop: { status: 'fail', reason: toolError, effect: 'stop' } };
  return renderForModel(output);
}

/** English text has about four bytes a token. Only a provider knows the real number, and counts it after the call. */
const bytesPerToken = 4;

/** Why a result is more than the case allows; null where it is not. */
function explainTooLarge(
  toolName: string,
  output: ToolOutput,
  { maxResultTokens }: Pick<ToolOffer, 'maxResultTokens'>,
): string | null {
  const bytes = measureText(output);
  const tokens = Math.ceil(bytes / bytesPerToken);
  if (maxResultTokens === null || tokens <= maxResultTokens) return null;
  const size = `about ${formatCount(tokens, 'token')} (${formatCount(bytes, 'byte')} of text)`;
  return clipReason(`The result of ${toolName} has ${size}, and \`maxResultTokens\` allows ${maxResultTokens}.`);
}

/** Null for what is no JSON object; no text at all stands for no arguments. */
function readArguments(input: string): JsonObject | null {
  if (input.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** A schema that cannot be used is not held against the model. */
async function findArgumentProblem(
  { inputSchema }: ToolDeclaration,
  { toolName, arguments: args }: ToolCall,
  schemas: SchemaBudget,
): Promise<string | null> {
  const check = await checkSchema(inputSchema, args, { budget: schemas });
  if (check.kind !== 'invalid') return null;
  return `The arguments of ${toolName} break its inputSchema: ${joinWithin(check.mismatches, maxListLength)}.`;
}
