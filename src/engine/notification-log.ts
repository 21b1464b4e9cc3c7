import { type Clock, race } from '../base/time.ts';
import type { Watch } from '../mcp/notifications.ts';
import { logLevels, type Notification, type Report } from '../model/notification.ts';
import type { TestCase } from '../cases/case.ts';
import type { Trace } from '../model/trace.ts';
import { findChecks, needsOf, needsWidgets } from './find-checks.ts';

/** What a session asks its server to report, so that the checks of the case can be judged; the transcript keeps what it reports. */
export function createWatch(testCase: TestCase, { notifications }: { notifications: NotificationLog }): Watch {
  const checks = findChecks(testCase);
  const needs = new Set(checks.flatMap(({ type }) => needsOf(type)));
  const levels = checks
    .filter(({ type }) => needsOf(type).includes('log'))
    .map(({ level }) => logLevels.findIndex((name) => name === level));
  const lowest = logLevels[Math.min(defaultLevel, ...levels.filter((index) => index !== -1))] ?? null;
  return {
    logLevel: levels.length === 0 ? null : lowest,
    lists: needs.has('lists'),
    apps: needs.has('apps') || needsWidgets(testCase),
    onNotification: notifications.add,
  };
}

/** From this level on a case that asserts on log messages sees them, unless it asks for less severe ones. */
const defaultLevel = logLevels.indexOf('info');

/** What an iteration keeps of its notifications; a server may send thousands, and the trace is stored. */
const maxEntries = 1000;
const maxBytes = 256 * 1024;

/** How long a check waits for a notification, in milliseconds: most arrive on a stream of their own, after the answer to a call. */
const standardWaitMs = 5000;

/** What the server reported in an iteration, oldest first. */
export class NotificationLog {
  readonly entries: Notification[] = [];
  /** How many more there were than the limits allow. */
  dropped = 0;
  #bytes = 0;
  readonly #listeners = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records what the server reports now, of itself or of a call. */
  readonly add = (report: Report): void => {
    const notification: Notification = { atMs: this.#clock.now(), ...report };
    this.#bytes += Buffer.byteLength(JSON.stringify(notification));
    if (this.dropped > 0 || this.entries.length === maxEntries || this.#bytes > maxBytes) this.dropped += 1;
    else this.entries.push(notification);
    for (const listener of this.#listeners) listener();
  };

  /** For the trace; nothing where there were none. */
  toMetadata(): Pick<NonNullable<Trace['metadata']>, 'notifications' | 'droppedNotifications'> {
    if (this.entries.length + this.dropped === 0) return {};
    const more = this.dropped === 0 ? {} : { droppedNotifications: this.dropped };
    return { notifications: [...this.entries], ...more };
  }

  /**
   * Waits until the condition holds, for at most `maxWaitMs`; unless given, for as long as a notification may take to arrive.
   *
   * @throws the signal's reason once it aborts
   */
  async waitUntil(
    isMet: () => boolean,
    { signal, maxWaitMs = standardWaitMs }: { signal: AbortSignal; maxWaitMs?: number | undefined },
  ): Promise<void> {
    if (isMet()) return;
    const met = Promise.withResolvers<void>();
    const listener = () => {
      if (isMet()) met.resolve();
    };
    this.#listeners.add(listener);
    try {
      const timeout = { clock: this.#clock, afterMs: maxWaitMs, onTimeout: () => {} };
      await race(met.promise, { signals: [signal], timeout });
    } finally {
      this.#listeners.delete(listener);
    }
  }
}
