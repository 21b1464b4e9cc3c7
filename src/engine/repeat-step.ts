import { type Clock, formatDuration } from '../base/time.ts';
import { formatCount } from '../base/text.ts';
import { abilities, type Ability } from '../model/client-abilities.ts';
import type { Step, StepByKind } from '../cases/step.ts';
import type { JudgingContext } from './judging-context.ts';
import { judgeAssertion } from './judge-assertion.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';

/** The amount of evidence at a point in time. */
interface EvidenceMark {
  toolCalls: number;
  toolResults: number;
  replies: number;
  notifications: number;
  clientRequests: ReadonlyMap<Ability, number>;
  widgets: number;
}

export function markEvidence(transcript: Transcript): EvidenceMark {
  const { toolCalls, toolResults, replies, notifications, clientRequests, widgets } = transcript;
  return {
    toolCalls: toolCalls.length,
    toolResults: toolResults.length,
    replies: replies.length,
    notifications: notifications.entries.length,
    clientRequests: new Map(abilities.map((ability) => [ability, clientRequests[ability]?.length ?? 0])),
    widgets: widgets?.length ?? 0,
  };
}

/** Removes the evidence since a mark, so that assertions ignore it. The trace keeps the calls and answers. */
export function takeBackEvidence(transcript: Transcript, mark: EvidenceMark): void {
  transcript.toolCalls.length = mark.toolCalls;
  transcript.toolResults.length = mark.toolResults;
  transcript.replies.length = mark.replies;
  transcript.notifications.entries.length = mark.notifications;
  for (const [ability, count] of mark.clientRequests) {
    const requests = transcript.clientRequests[ability];
    if (requests !== undefined) requests.length = count;
  }
  if (transcript.widgets !== null) transcript.widgets.length = mark.widgets;
}

interface RepeatScope {
  runStep: (step: Step, index: number) => Promise<StepOutcome>;
  connection: Connection;
  transcript: Transcript;
  context: JudgingContext;
  clock: Clock;
}

/**
 * Repeats steps until all of them pass in one round and the assertion `until` passes after it. Only the last round counts as evidence; the
 * evidence of earlier rounds is removed. A round ends at its first failed step, and the next one starts after a pause. An outcome that ends
 * the iteration, such as a lost server, ends the repetition too.
 *
 * @throws the signal's reason once it aborts
 */
export async function runRepeatStep(step: StepByKind['repeat'], scope: RepeatScope): Promise<StepOutcome> {
  const { connection, transcript, clock } = scope;
  const mark = markEvidence(transcript);
  for (let round = 1; ; round += 1) {
    const outcome = await runRound(step, scope);
    const isOver =
      outcome.status === 'ok' ||
      outcome.effect === 'give-up' ||
      connection.all.some(({ session }) => session.excess !== null);
    if (isOver) return outcome;
    if (round === step.times) {
      const rounds = `${formatCount(step.times, 'round')}, ${formatDuration(step.everyMs)} apart`;
      return { ...outcome, reason: clipReason(`After ${rounds}: ${outcome.reason ?? 'a step failed.'}`) };
    }
    await clock.sleep(step.everyMs, { signal: connection.signal });
    takeBackEvidence(transcript, mark);
  }
}

async function runRound(
  { steps, until }: StepByKind['repeat'],
  { runStep, transcript, context }: RepeatScope,
): Promise<StepOutcome> {
  let last: StepOutcome = { status: 'ok', reason: null, effect: 'continue' };
  for (const [index, step] of steps.entries()) {
    const outcome = await runStep(step, index);
    if (outcome.status !== 'ok') {
      const { effect, reason } = outcome;
      return {
        ...outcome,
        reason: reason ?? `Step ${printValue(step.id)} failed.`,
        effect: effect === 'continue' ? 'stop' : effect,
      };
    }
    if (step.kind !== 'assert') last = outcome;
  }
  const { state, reason } = await judgeAssertion(until, transcript, context);
  if (state === 'passed') return last;
  return { ...last, status: 'fail', reason, effect: state === 'unmeasured' ? 'unmeasured' : 'stop' };
}
