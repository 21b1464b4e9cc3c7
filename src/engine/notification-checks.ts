import { formatCount } from '../base/text.ts';
import type { CheckByType } from '../checks/assertion.ts';
import { logLevels, type Notification } from '../model/notification.ts';
import {
  decide,
  type Evidence,
  fail,
  type Judgement,
  type Judgements,
  type JudgingAids,
  leaveUnmeasured,
} from './evidence.ts';
import { printValue } from '../checks/reasons.ts';

type Progress = Extract<Notification, { kind: 'progress' }>;
type LogMessage = Extract<Notification, { kind: 'log' }>;

/** Checks of what a server reports unasked. A check that does not hold yet waits for what may still be on its way. */
export const notificationJudgements: Judgements<'progressReported' | 'logged' | 'listChanged'> = {
  progressReported: async (fields, evidence, aids) =>
    await settle(() => judgeProgress(fields, evidence), evidence, aids),
  logged: async (fields, evidence, aids) => await settle(() => judgeLog(fields, evidence), evidence, aids),
  listChanged: async ({ of }, evidence, aids) => {
    const judge = () => {
      const count = listEntries(evidence).filter((entry) => entry.kind === 'listChanged' && entry.of === of).length;
      const times = count === 1 ? 'once' : `${count} times`;
      return decide(
        count > 0,
        `the server reported ${count === 0 ? 'no change' : 'a change'} of its ${of}${count === 0 ? '' : ` ${times}`}.`,
      );
    };
    return await settle(judge, evidence, aids);
  },
};

/** What was dropped may have been what the check asks for. */
async function settle(judge: () => Judgement, { notifications }: Evidence, aids?: JudgingAids): Promise<Judgement> {
  if (notifications === null) return leaveUnmeasured('the notifications of the server were not captured.');
  await aids?.waitForNotification?.(() => judge().state === 'passed');
  const judgement = judge();
  if (judgement.state === 'passed' || notifications.dropped === 0) return judgement;
  const count = formatCount(notifications.entries.length, 'notification');
  return leaveUnmeasured(
    `not among the first ${count}, and the gate kept none of the ${notifications.dropped} that followed.`,
  );
}

function judgeProgress(fields: CheckByType['progressReported'], evidence: Evidence): Judgement {
  const { minCount = 1, toolName, message } = fields;
  const reports = listEntries(evidence)
    .filter(isProgress)
    .filter((entry) => toolName === undefined || entry.toolName === toolName);
  const subject = toolName ?? 'the server';
  const fall = findFall(reports);
  if (fall !== null) {
    const [earlier, later] = fall;
    return fail(
      `${later.toolName} reported progress ${later.progress} after ${earlier.progress}; every report must be higher than the one before it.`,
    );
  }
  const found = message === undefined ? reports : reports.filter((entry) => includesText(entry.message ?? '', message));
  const wanted = message === undefined ? '' : ` with a message that contains ${printValue(message)}`;
  const latest = reports.at(-1);
  const last = latest === undefined ? '' : `, the latest ${describeProgress(latest)}`;
  const count = `${subject} reported ${describeCount(found.length)}${wanted}${last}`;
  return decide(
    found.length >= minCount,
    minCount === 1 ? `${count}.` : `${count}; expected at least ${minCount} times.`,
  );
}

/** Two reports of one call, one after the other, of which the later one is not higher (MCP, "Progress"). */
function findFall(reports: readonly Progress[]): [Progress, Progress] | null {
  const latest = new Map<string, Progress>();
  for (const report of reports) {
    const earlier = latest.get(report.toolCallId);
    if (earlier !== undefined && report.progress <= earlier.progress) return [earlier, report];
    latest.set(report.toolCallId, report);
  }
  return null;
}

function judgeLog(fields: CheckByType['logged'], evidence: Evidence): Judgement {
  const { contains, level = 'debug', logger } = fields;
  const messages = listEntries(evidence).filter(isLogMessage);
  const found = messages.find(
    (entry) =>
      logLevels.indexOf(entry.level) >= logLevels.indexOf(level) &&
      (contains === undefined || includesText(printData(entry.data), contains)) &&
      (logger === undefined || entry.logger === logger),
  );
  if (found !== undefined) return decide(true, `the server logged ${describeLog(found)}.`);
  const latest = messages.at(-1);
  const logged =
    latest === undefined
      ? 'no message'
      : `${formatCount(messages.length, 'message')}, the latest ${describeLog(latest)}`;
  const wanted = [
    ...(level === 'debug' ? [] : [`of level ${level} or above`]),
    ...(contains === undefined ? [] : [`that contains ${printValue(contains)}`]),
    ...(logger === undefined ? [] : [`of the logger ${printValue(logger)}`]),
  ].join(' and ');
  return fail(`the server logged ${logged}${wanted === '' ? '' : `; expected one ${wanted}`}.`);
}

function listEntries({ notifications }: Evidence): readonly Notification[] {
  return notifications?.entries ?? [];
}

function isProgress(entry: Notification): entry is { atMs: number } & Progress {
  return entry.kind === 'progress';
}

function isLogMessage(entry: Notification): entry is { atMs: number } & LogMessage {
  return entry.kind === 'log';
}

function includesText(text: string, searched: string): boolean {
  return text.toLowerCase().includes(searched.toLowerCase());
}

function printData(data: unknown): string {
  return typeof data === 'string' ? data : JSON.stringify(data);
}

function describeLog({ level, logger, data }: LogMessage): string {
  return `${printValue(data)} (${level}${logger === null ? '' : `, ${logger}`})`;
}

function describeProgress({ progress, total, message }: Progress): string {
  return `${progress}${total === null ? '' : ` of ${total}`}${message === null ? '' : ` (${printValue(message)})`}`;
}

function describeCount(count: number): string {
  if (count === 0) return 'no progress';
  return count === 1 ? 'progress once' : `progress ${count} times`;
}
