import { type Clock, formatDuration } from '../base/time.ts';
import { formatCount } from '../base/text.ts';
import { abilities, type Ability } from '../model/client-abilities.ts';
import type { Step, StepByKind } from '../cases/step.ts';
import type { JudgingAids } from './judging-aids.ts';
import { judgeAssertion } from './judge-assertion.ts';
import type { Connection } from './process-loss.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';

/** What has happened so far, as assertions count it. */
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

/** Takes back what has happened since a mark: no assertion counts it any more, and the trace keeps calls and answers. */
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
  aids: JudgingAids;
  clock: Clock;
}

/**
 * Runs steps again and again until all of them succeed in one round and an assertion holds after it. Only the last round is evidence:
 * what an earlier one did is taken back. A round ends at its first failed step, and the next one begins after a wait. What ends an
 * iteration, such as a server that is gone, ends this too.
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
  { runStep, transcript, aids }: RepeatScope,
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
  const { state, reason } = await judgeAssertion(until, transcript, aids);
  if (state === 'passed') return last;
  return { ...last, status: 'fail', reason, effect: state === 'unmeasured' ? 'unmeasured' : 'stop' };
}
