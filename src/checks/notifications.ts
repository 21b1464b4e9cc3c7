import { z } from 'zod';
import { formatCount } from '../base/text.ts';
import { changingLists, logLevels, type Notification } from '../model/notification.ts';
import { defineCheck } from './define-check.ts';
import type { Evidence } from './evidence.ts';
import { type CheckContext, decide, fail, type Judgement, leaveUnmeasured } from './judgement.ts';
import { printValue } from './reasons.ts';

type Progress = Extract<Notification, { kind: 'progress' }>;
type LogMessage = Extract<Notification, { kind: 'log' }>;

/**
 * Checks of a server's notifications, which the traces of services do not contain. A check that does not hold yet waits for notifications
 * that may still arrive.
 */
export const notificationChecks = [
  defineCheck({
    name: 'progressReported',
    docs: 'the server reported progress at least `minCount` times (default: once), for `toolName` or any tool, with `message` in the message of the report; the progress of every call in scope only increased',
    schema: ({ count, text, ofTool }) => ({
      minCount: count.exactOptional().meta({ description: 'The least number of times. Default: 1.' }),
      message: text.exactOptional().meta({ description: 'Text that the message of each of these reports contains.' }),
      toolName: ofTool,
    }),
    sample: { minCount: 2, message: 'a', toolName: 'b' },
    judge: async (fields, evidence, context) => await settle(() => judgeProgress(fields, evidence), evidence, context),
    // No state is final, because later reports can break the order.
  }),
  defineCheck({
    name: 'logged',
    docs: 'the server sent a log message that contains the text `contains`, of `level` or a more severe one, of the logger `logger`; each of the three can be left out',
    sessionNeeds: ['log'],
    schema: ({ text }) => ({
      contains: text.exactOptional().meta({ description: 'Text that the log message contains.' }),
      level: z.enum(logLevels).exactOptional().meta({ description: 'The least severe level.' }),
      logger: text.exactOptional().meta({ description: 'Name of the logger.' }),
    }),
    sample: { contains: 'a', level: 'info', logger: 'b' },
    judge: async (fields, evidence, context) => await settle(() => judgeLog(fields, evidence), evidence, context),
    final: 'passed',
  }),
  defineCheck({
    name: 'listChanged',
    docs: 'the server reported a change of this list: `tools`, `resources` or `prompts`',
    sessionNeeds: ['lists'],
    schema: () => ({
      of: z.enum(changingLists).meta({ description: 'The list that the server reported as changed.' }),
    }),
    sample: { of: 'tools' },
    judge: async ({ of }, evidence, context) => {
      const judge = () => {
        const count = listEntries(evidence).filter((entry) => entry.kind === 'listChanged' && entry.of === of).length;
        const times = count === 1 ? 'once' : `${count} times`;
        return decide(
          count > 0,
          `the server reported ${count === 0 ? 'no change' : 'a change'} of its ${of}${count === 0 ? '' : ` ${times}`}.`,
        );
      };
      return await settle(judge, evidence, context);
    },
    final: 'passed',
  }),
];

/** Leaves a failed check unmeasured if notifications were dropped: the expected one may be among them. */
async function settle(
  judge: () => Judgement,
  { notifications }: Evidence,
  { waitForNotification }: CheckContext,
): Promise<Judgement> {
  if (notifications === null) return leaveUnmeasured('the notifications of the server were not captured.');
  await waitForNotification?.(() => judge().state === 'passed');
  const judgement = judge();
  if (judgement.state === 'passed' || notifications.dropped === 0) return judgement;
  const count = formatCount(notifications.entries.length, 'notification');
  return leaveUnmeasured(
    `not among the first ${count}, and the gate kept none of the ${notifications.dropped} that followed.`,
  );
}

function judgeProgress(
  { minCount = 1, toolName, message }: { minCount?: number; toolName?: string; message?: string },
  evidence: Evidence,
): Judgement {
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

/** Finds two consecutive reports of one call in which progress did not increase (MCP, "Progress"). */
function findFall(reports: readonly Progress[]): [Progress, Progress] | null {
  const latest = new Map<string, Progress>();
  for (const report of reports) {
    const earlier = latest.get(report.toolCallId);
    if (earlier !== undefined && report.progress <= earlier.progress) return [earlier, report];
    latest.set(report.toolCallId, report);
  }
  return null;
}

function judgeLog(
  { contains, level = 'debug', logger }: { contains?: string; level?: LogMessage['level']; logger?: string },
  evidence: Evidence,
): Judgement {
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
