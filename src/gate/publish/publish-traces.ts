import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Clock, startDeadline } from '../../base/time.ts';
import { formatCount, endSentence } from '../../base/text.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { flattenText } from '../../report/escape/plain.ts';
import { truncateText } from '../../report/truncate.ts';
import { openCollector } from '../../otlp/collector.ts';
import type { PlannedCollector } from '../plan/plan-collector.ts';
import { traceLogName } from '../run/trace-log.ts';

/** Enough for a collector that starts anew, and short enough to wait for one that is gone. */
const publishTimeoutMs = 60_000;

const maxReasonLength = 500;

/** Sends the traces of a gate to a collector. Whatever is in the way is warned about: presentation never changes a verdict. */
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
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
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

/** Each has one; in a text they would be escaped. */
function countSpans(line: string): number {
  return line.split('"startTimeUnixNano":').length - 1;
}
