import { type Clock, race } from '../base/time.ts';
import type { Watch } from '../mcp/notifications.ts';
import { logLevels, type Notification, type Report } from '../model/notification.ts';
import type { TestCase } from '../cases/case.ts';
import type { Trace } from '../model/trace.ts';
import { findChecks, needsOf, needsWidgets } from './find-checks.ts';

/** Creates the watch of a session: the reports that it requests for the checks of the case, and the log that stores them. */
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

/** The default level of log messages for cases with log assertions; a case lowers it by asserting on a less severe level. */
const defaultLevel = logLevels.indexOf('info');

/** Limits the stored notifications, because a server can send thousands and the trace is stored. */
const maxEntries = 1000;
const maxBytes = 256 * 1024;

/**
 * The time that a check waits for a notification, in milliseconds. Most notifications arrive on a separate stream, after the answer to a
 * call.
 */
const standardWaitMs = 5000;

/** The notifications of the server in an iteration, oldest first. */
export class NotificationLog {
  readonly entries: Notification[] = [];
  /** The number of notifications beyond the limits. */
  dropped = 0;
  #bytes = 0;
  readonly #listeners = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a notification with the current time. */
  readonly add = (report: Report): void => {
    const notification: Notification = { atMs: this.#clock.now(), ...report };
    this.#bytes += Buffer.byteLength(JSON.stringify(notification));
    if (this.dropped > 0 || this.entries.length === maxEntries || this.#bytes > maxBytes) this.dropped += 1;
    else this.entries.push(notification);
    for (const listener of this.#listeners) listener();
  };

  /** Returns the part of the trace's metadata; empty if there were no notifications. */
  toMetadata(): Pick<NonNullable<Trace['metadata']>, 'notifications' | 'droppedNotifications'> {
    if (this.entries.length + this.dropped === 0) return {};
    const more = this.dropped === 0 ? {} : { droppedNotifications: this.dropped };
    return { notifications: [...this.entries], ...more };
  }

  /**
   * Waits until the condition holds, for at most `maxWaitMs`. The default is the time in which a notification may still arrive.
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
