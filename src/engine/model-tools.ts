import { isRecord, type JsonObject } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import { type DecoyTool, isForbidden, type ToolPolicy } from '../cases/case.ts';
import type { ToolCall } from '../model/run.ts';
import type { ToolOutput } from '../models/conversation.ts';
import type { ModelCall } from '../models/language-model.ts';
import { measureText } from '../models/model-messages.ts';
import { findNearest } from '../suite/findings.ts';
import { listArgumentMismatches } from './check-arguments.ts';
import { describeNotShown, type HostOffer } from './host-offer.ts';
import { explainDeferred, type ResolvedCall } from './host-search.ts';
import { renderInHost } from './host-output.ts';
import { renderError, renderForModel } from './model-output.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import { callTool, type CallRecording, showResult } from './tool-call.ts';
import { describeMissing, lookUpTool } from './tool-list.ts';
import type { CallOrigin } from './span-parts.ts';
import type { CallRecord } from './transcript.ts';

/** The tools that a model is offered, and the calls that it may not make. */
export interface ToolOffer {
  list: ToolList;
  toolPolicy: ToolPolicy;
  /** The largest size of each result, in estimated tokens; null for no limit. */
  maxResultTokens: number | null;
  /** Offered to the model, although no server has them. */
  decoys: readonly DecoyTool[];
  /** What the host of the case makes of the tools; null for the gate's own loop. */
  shown: HostOffer | null;
}

/**
 * Lists tools in the format of a provider: the server's tools for models, in its order, then the decoys. Leaves out the tools in `deny`. A
 * host decides itself which tools it shows, and as what.
 */
export function offerTools({ list, toolPolicy, decoys, shown }: ToolOffer): ModelCall['tools'] {
  if (shown !== null) return shown.tools;
  const ofServer = [...(list ?? [])].flatMap(([name, tool]) => (tool.isForModels ? [{ ...tool, name }] : []));
  const offered = [...ofServer, ...decoys].filter(({ name }) => toolPolicy.deny?.includes(name) !== true);
  return offered.map(({ name, description = null, inputSchema = { type: 'object' } }) => ({
    type: 'function',
    name,
    ...(description !== null && { description }),
    inputSchema,
  }));
}

/** Explains why the offer does not fit the tools of the server; null if it does. */
export function explainBadOffer({ list, toolPolicy, decoys }: Omit<ToolOffer, 'shown'>): string | null {
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

/** The answer for the model, or the reason why the call ends the turn. */
export type ModelCallAnswer = ToolOutput | { stop: StepOutcome };

/**
 * Makes a call that a model requests. Refuses a call that the policy of the case forbids, without recording it. An unknown tool or invalid
 * arguments are an error for the model, and the call is recorded with that error.
 *
 * @throws the signal's reason once it aborts
 */
export async function makeModelCall(
  called: ResolvedCall,
  connection: Connection,
  {
    offer,
    origin,
    recording,
  }: { offer: ToolOffer; origin: CallOrigin & { toolCallId: string }; recording: Omit<CallRecording, 'stepIndex'> },
): Promise<ModelCallAnswer> {
  const { transcript, schemas } = recording;
  const { shown } = offer;
  const { calledAs, input } = called;
  const toolName = shown?.names.get(calledAs) ?? calledAs;
  if (isForbidden(toolName, offer.toolPolicy)) {
    const refusal = `Calls of ${toolName} are not allowed here.`;
    transcript.addOwnAnswer(origin.toolCallId, toolName, refusal);
    return renderError(refusal);
  }
  const listed = shown === null || shown.names.has(calledAs) ? offer.list?.get(toolName) : undefined;
  // A host may show the model such a tool nevertheless.
  const isForApps = shown === null && listed?.isForModels === false;
  // The server may have added the tool since the offer: its notification may not have arrived yet.
  const declared = isForApps ? undefined : (listed ?? (await findNewTool(toolName, connection, offer)));
  const args = readArguments(input);
  // Keeps the text of the model, so that no check mistakes it for valid arguments.
  const call = { toolName, arguments: args ?? { INVALID_JSON: input } };
  const record = transcript.beginModelCall(call, { ...origin, isListed: declared !== undefined });
  const refuse = (message: string): ModelCallAnswer => {
    const toolError = clipReason(message);
    record.complete({ kind: 'error', message, toolError, code: null, answeredAtMs: transcript.elapsedMs() });
    return renderError(message);
  };
  if (isForApps) return refuse(`The server keeps the tool ${printValue(toolName)} for its apps.`);
  const obstacle = shown?.deferred == null ? null : explainDeferred(shown.deferred, called);
  if (obstacle !== null) return refuse(obstacle);
  if (declared === undefined) {
    // A tool that the host drops is listed nevertheless.
    if (offer.list?.has(toolName) !== true) transcript.unlistedTools.push({ toolName, stepIndex: origin.stepIndex });
    return refuse(shown === null ? describeMissing(toolName, offer.list) : describeNotShown(toolName, shown));
  }
  if (args === null) return refuse(`The arguments of ${toolName} are not a JSON object.`);
  const isChecked = shown?.host.profile.arguments?.value !== 'passed-on';
  const mismatches = isChecked
    ? await listArgumentMismatches(declared.inputSchema, { text: input, values: args }, schemas)
    : [];
  if (mismatches.length > 0) {
    return refuse(`The arguments of ${toolName} break its inputSchema: ${joinWithin(mismatches, maxListLength)}.`);
  }
  const answer = await sendCall(call, connection, { declared, record, recording, shown });
  const reason = 'stop' in answer ? null : explainTooLarge(toolName, answer, offer);
  return reason === null ? answer : { stop: { status: 'fail', reason, effect: 'stop' } };
}

async function findNewTool(
  toolName: string,
  connection: Connection,
  { decoys, shown }: ToolOffer,
): Promise<ToolDeclaration | undefined> {
  // A model in a host knows a tool only by the name that the host gives it.
  if (shown !== null || decoys.some(({ name }) => name === toolName)) return undefined;
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
    shown,
  }: {
    declared: ToolDeclaration;
    record: CallRecord;
    recording: Omit<CallRecording, 'stepIndex'>;
    shown: HostOffer | null;
  },
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
  const { serverName, shownName = serverName } = connection.target;
  return shown === null ? renderForModel(output) : renderInHost(shown.host.profile, output, shownName);
}

/** English text has about four bytes per token. Only the provider knows the exact number, and reports it after the call. */
const bytesPerToken = 4;

/** Explains why a result exceeds the limit of the case; null if it does not. */
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

/** Returns null if the text is not a JSON object. An empty text means no arguments. */
function readArguments(input: string): JsonObject | null {
  if (input.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
