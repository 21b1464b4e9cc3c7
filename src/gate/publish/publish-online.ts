import { createInterface } from 'node:readline';
import { describeError } from '../../base/errors.ts';
import { openInput } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { endSentence, formatCount } from '../../base/text.ts';
import { type Clock, startDeadline } from '../../base/time.ts';
import { openCollector } from '../../otlp/collector.ts';
import { flattenText } from '../../report/escape/plain.ts';
import { truncateText } from '../../report/truncate.ts';
import type { GateContext } from '../run/context.ts';
import type { GateResult } from '../gate.ts';
import type { PlannedCollector } from '../plan/otel-variables.ts';
import type { GatePlan } from '../plan/plan.ts';
import { traceLogName } from '../run/trace-log.ts';

/**
 * Reports the verdict to GitHub, to a trace collector and to a hosted project, as far as the plan asks for it. Runs after the files are
 * written. A failure is a warning and leaves the verdict unchanged.
 */
export async function publishOnline(
  { report, tracePath, kept }: Pick<GateResult, 'report' | 'tracePath' | 'kept'>,
  { github, collector, upload, suites }: Pick<GatePlan, 'github' | 'collector' | 'upload' | 'suites'>,
  sending: Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal'>,
): Promise<void> {
  if (github !== null) {
    const { publishToGitHub } = await import('./publish-github.ts');
    await publishToGitHub(report, github, sending);
  }
  if (collector !== null && tracePath !== null) {
    await publishTraces(tracePath, collector, sending);
  }
  if (upload !== null && kept !== null) {
    const { uploadResults } = await import('./upload-results.ts');
    await uploadResults({ report, kept, upload, suites }, sending);
  }
}

/** Long enough for a collector that restarts, and short enough to wait for one that does not answer. */
const publishTimeoutMs = 60_000;

const maxReasonLength = 500;

/** Sends the traces of a gate to a collector. Warns about each failure: presentation never changes a verdict. */
export async function publishTraces(
  path: string,
  { url, headers, proxy }: PlannedCollector,
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<void> {
  if (signal.aborted) return;
  const deadline = startDeadline(clock, publishTimeoutMs, 'Sending the traces');
  let sentSpans = 0;
  let rejectedSpans = 0;
  const reasons = new Set<string>();
  try {
    await using collector = openCollector({ url, headers, proxy, clock, logger, deadline, signal });
    await using file = await openInput(path);
    const input = file.createReadStream({ autoClose: false });
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const answer = await collector.exportTraces(line);
      sentSpans += countSpans(line);
      rejectedSpans += answer.rejectedSpans;
      if (answer.reason !== '') reasons.add(truncateText(flattenText(answer.reason), maxReasonLength));
    }
  } catch (error) {
    const sent = sentSpans === 0 ? 'none was sent' : `${formatCount(sentSpans, 'span')} had been sent`;
    logger.warning(
      `Could not send every trace to ${url.host} (${sent}): ${endSentence(describeError(error))} All of them are in ${traceLogName}. The verdict stands.`,
    );
    return;
  }
  logger.info(`Sent ${formatCount(sentSpans - rejectedSpans, 'span')} to ${url.host}.`);
  if (rejectedSpans === 0 && reasons.size === 0) return;
  const [reason = 'it does not say why'] = reasons;
  logger.warning(
    `${url.host} left out ${formatCount(rejectedSpans, 'span')}: ${endSentence(reason)} The verdict stands.`,
  );
}

/** Counts the spans by a field that each has; in a text, its quotes would be escaped. */
function countSpans(line: string): number {
  return line.split('"startTimeUnixNano":').length - 1;
}
