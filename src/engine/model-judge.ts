import { describeError, ModelError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { clipText, endSentence } from '../base/text.ts';
import type { TraceMessage, TracePart } from '../model/trace.ts';
import { buildJudgeCall, type JudgedCase, type JudgedPart, type Opinion, readOpinion } from '../models/judge-prompt.ts';
import type { ModelAnswer, ModelCall, ModelName, ModelSession } from '../models/language-model.ts';
import { formatModelName, parseModelName } from '../models/model-name.ts';
import type { AskJudge, JudgeLog } from './judging-context.ts';
import { decide, type Judgement, leaveUnmeasured, type ModelQuestion } from '../checks/judgement.ts';
import type { IterationLimit } from './iteration-limit.ts';
import { clipReason, clipReasonBefore } from '../checks/reasons.ts';

/** Opens a model that judges an iteration. */
export type OpenJudge = (model: ModelName) => Promise<ModelSession>;

/**
 * Creates the function that calls the judges of one iteration. Checks with the same model share one session, so that their calls have a
 * fixed order. Judging does not count towards the time of the iteration, and continues after the iteration ends; only `signal` stops it.
 */
export function createAskJudge(
  openJudge: OpenJudge,
  {
    limit,
    signal = new AbortController().signal,
  }: { limit: Pick<IterationLimit, 'hold'>; signal?: AbortSignal | undefined },
): AskJudge {
  const sessions = new Map<string, Promise<ModelSession>>();
  return async (model, call) => {
    using _held = limit.hold();
    const name = formatModelName(model);
    const session = sessions.get(name) ?? openJudge(model);
    sessions.set(name, session);
    return await (await session).answer(call, { signal });
  };
}

/** The decision of a judge, with its opinions. */
export interface PanelDecision {
  isPassed: boolean;
  /** In the order in which they were given; at least one. */
  opinions: ReadonlyArray<Opinion & { isPass: boolean }>;
  /** The first opinion that agrees with the decision. */
  deciding: Opinion;
}

/**
 * Asks a judge up to three times. A first opinion that passes decides; otherwise the majority of three does. Skips the third if the first
 * two agree. With a threshold, the score decides; without one, the judge's own verdict does.
 *
 * @throws {ModelError} if an opinion is missing or unreadable
 */
export async function collectOpinions(
  judged: JudgedCase & { threshold: number | null },
  ask: (call: ModelCall) => Promise<ModelAnswer>,
): Promise<PanelDecision> {
  const call = buildJudgeCall(judged);
  const { threshold } = judged;
  const askOnce = async () => {
    const opinion = readOpinion(await ask(call));
    return { ...opinion, isPass: threshold === null ? opinion.passed : opinion.score >= threshold };
  };
  const first = await askOnce();
  if (first.isPass) return { isPassed: true, opinions: [first], deciding: first };
  const second = await askOnce();
  if (!second.isPass) return { isPassed: false, opinions: [first, second], deciding: first };
  const third = await askOnce();
  return {
    isPassed: third.isPass,
    opinions: [first, second, third],
    deciding: third.isPass ? second : first,
  };
}

/** Leaves room for the rest of the reason. */
const maxReasonLength = 400;

/**
 * Judges a conversation by a rubric. Without an opinion, the check is unmeasured, not failed: a missing answer of a model says nothing
 * about the server.
 *
 * @throws the reason of the signal once it aborts
 */
export async function askModel(
  { rubric, model, threshold, isGating }: ModelQuestion,
  messages: readonly TraceMessage[],
  { askJudge, judgeLog }: { askJudge: AskJudge; judgeLog: JudgeLog | undefined },
): Promise<Judgement> {
  try {
    const name = parseModelName(model);
    const judged = { rubric, threshold, conversation: messages.flatMap(readParts) };
    const decision = await collectOpinions(judged, async (call) => {
      const complete = judgeLog?.beginCall({ model: name, isGating });
      const answer = await askJudge(name, call);
      complete?.(answer);
      return answer;
    });
    return decide(decision.isPassed, describeDecision(model, decision, threshold));
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { message, hint: remedy } = error;
    // An advisory judge decides nothing, so the run continues without it.
    if (error.endsRun && isGating)
      judgeLog?.stopRun(remedy === undefined ? clipReason(message) : clipReasonBefore(remedy, message));
    const hint = remedy === undefined ? '' : ` ${remedy}`;
    return leaveUnmeasured(`not measured: ${model} gave no judgement. ${endSentence(describeError(error))}${hint}`);
  }
}

function describeDecision(model: string, decision: PanelDecision, threshold: number | null): string {
  const { isPassed, opinions, deciding } = decision;
  const scores = opinions.map(({ score }) => score).join(', ');
  const needed = threshold === null ? '' : ` of at least ${threshold}`;
  const reason = endSentence(clipText(deciding.reason.replaceAll(/\s+/g, ' ').trim(), maxReasonLength));
  const verb = isPassed ? 'passed' : 'failed';
  return `${model} ${verb} it, with the ${opinions.length === 1 ? 'score' : 'scores'} ${scores}${needed}: ${reason}`;
}

/** Converts a message of the transcript into the parts that a judge reads. */
export function readParts({ role, content }: TraceMessage): JudgedPart[] {
  // Skips requests of the server to its client, which are not part of the conversation with the user.
  if (role === 'server' || role === 'client') return [];
  if (typeof content !== 'string') return content.map(readPart);
  switch (role) {
    case 'system':
      return [{ system: content }];
    case 'user':
      return [{ user: content }];
    default:
      return [{ assistant: content }];
  }
}

function readPart(part: TracePart): JudgedPart {
  if (part.type === 'text') return { assistant: part.text };
  if (part.type === 'tool-call') return { toolCall: part.toolName, arguments: part.input };
  const { toolName, output, isError = false } = part;
  const text = output.type === 'json' ? readResultText(output.value) : output.value;
  return { toolResult: toolName, text, isError: isError || output.type === 'error-text' };
}

/** Returns the text of a tool's result, or its structured content if it has no blocks. Replaces images and sounds with their names. */
function readResultText(result: unknown): string {
  if (!isRecord(result)) return JSON.stringify(result);
  const { content, structuredContent } = result;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  if (blocks.length === 0) return JSON.stringify(structuredContent ?? {});
  return blocks.map(readBlock).join('\n');
}

function readBlock(block: unknown): string {
  if (!isRecord(block)) return JSON.stringify(block);
  const { type, text } = block;
  if (type === 'text' && typeof text === 'string') return text;
  return type === 'image' || type === 'audio' ? `[${type}]` : JSON.stringify(block);
}
