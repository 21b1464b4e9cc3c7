import { describeError } from '../../../../src/base/errors.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { currentCaller } from '../callers.ts';
import type { RunCreator } from '../create-run.ts';
import { ApiError } from '../envelope.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';
import {
  type DueSchedule,
  findDueTime,
  getDueSchedule,
  limitWait,
  passDueTime,
  rewindSchedule,
} from './schedule-rules.ts';

/** The longest wait, after which a jump of the wall clock is noticed, and a run that waits for a slot tries again. */
const longestWaitMs = 15_000;

/** A smaller lag is ignored, because clocks are constantly corrected by fractions of a second. */
const toleratedLagMs = 1000;

/** Starts the runs of suites that are due. */
export interface Scheduler extends AsyncDisposable {
  /** Runs `write`, and applies the schedules that it changes. */
  change<Result>(write: () => Result): Result;
}

interface SchedulerParts {
  store: Store;
  clock: Clock;
  logger: Logger;
  creator: Pick<RunCreator, 'createDueRun'>;
}

/**
 * Starts runs by the schedules of the suites until it is disposed, one run per due time. The next due time is kept in the store. Due times that
 * passed while no service ran, or in a jump of the clock, count once. If the clock goes back, the due times move with it. If a suite cannot
 * run, the reason is logged, and it is tried again an interval later; while all slots for runs are taken, it waits for one. A run is made for
 * the user who set the schedule last.
 */
export function startScheduler({ store, clock, logger, creator }: SchedulerParts): Scheduler {
  const stop = new AbortController();
  let alarm = new AbortController();
  let seen = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
  /** Suites whose run is being created. */
  const starting = new Set<string>();
  /** The end of each suite's wait for a slot, on the monotonic clock. */
  const waiting = new Map<string, number>();

  const keep = ({ id, projectId }: SuiteRecord, change: (schedule: DueSchedule) => DueSchedule): void => {
    const suite = store.suites.get(projectId, id);
    const before = suite && getDueSchedule(suite.content);
    if (suite === undefined || before === undefined) return;
    const schedule = change(before);
    if (schedule === before) return;
    // The time of the update is unchanged, because no client made this change.
    store.suites.update({ id, content: { ...suite.content, schedule }, now: suite.updatedAt });
  };

  const observeClock = (): void => {
    const now = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
    const lagMs = now.monotonicMs - seen.monotonicMs - (now.wallMs - seen.wallMs);
    seen = now;
    if (lagMs <= toleratedLagMs) return;
    for (const suite of store.suites.listScheduled()) keep(suite, (schedule) => rewindSchedule(schedule, lagMs));
  };

  const start = async (suite: SuiteRecord, schedule: DueSchedule, dueTime: number): Promise<void> => {
    const { id: suiteId, projectId, content } = suite;
    const name = JSON.stringify(content.name);
    try {
      const body = { suiteId, ...(schedule.environmentId !== null && { environmentId: schedule.environmentId }) };
      // The servers of the run get the tokens of the user who set the schedule.
      const create = () => creator.createDueRun(projectId, body, `${dueTime}:${schedule.rewinds}`);
      const { caller } = schedule;
      const { runId } = await (caller === undefined ? create() : currentCaller.run(caller, create));
      if (stop.signal.aborted) return;
      logger.info(`Suite ${name} is due: run ${runId} has started.`);
    } catch (error) {
      if (stop.signal.aborted) return;
      if (isFull(error)) {
        waiting.set(suiteId, clock.monotonicMs() + longestWaitMs);
        return;
      }
      logger.warning(
        `Suite ${name} is due and could not run: ${describeError(error)} The next run is due in ${schedule.intervalMinutes} minutes.`,
      );
    }
    keep(suite, (current) => passDueTime(current, schedule, dueTime));
  };

  /** Starts the runs that are due. Returns the milliseconds until the next due time, or null if there is none. */
  const serveDue = (): number | null => {
    observeClock();
    const now = clock.now();
    const waits: number[] = [];
    for (const suite of store.suites.listScheduled()) {
      const schedule = getDueSchedule(suite.content);
      if (schedule === undefined || starting.has(suite.id)) continue;
      const slotWaitMs = (waiting.get(suite.id) ?? 0) - clock.monotonicMs();
      const waitMs = Math.max(schedule.dueAt - now, slotWaitMs);
      if (waitMs > 0) {
        waits.push(waitMs);
        continue;
      }
      waiting.delete(suite.id);
      starting.add(suite.id);
      void start(suite, schedule, findDueTime(schedule, now))
        .catch((error: unknown) => logger.error(`The schedule of a suite failed: ${describeError(error)}`))
        .finally(() => {
          starting.delete(suite.id);
          alarm.abort();
        });
    }
    return waits.length === 0 ? null : Math.min(...waits, longestWaitMs);
  };

  const wait = async (delayMs: number | null): Promise<void> => {
    alarm = new AbortController();
    const { signal } = alarm;
    if (delayMs !== null) return await clock.sleep(delayMs, { signal }).catch(() => {});
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
  };

  const run = async (): Promise<void> => {
    // Waits until the service is complete.
    await Promise.resolve();
    if (stop.signal.aborted) return;
    for (const suite of store.suites.listScheduled()) keep(suite, (schedule) => limitWait(schedule, clock.now()));
    while (!stop.signal.aborted) await wait(serveDue());
  };
  const running = run().catch((error: unknown) => {
    if (!stop.signal.aborted) logger.error(`The schedules of suites have stopped: ${describeError(error)}`);
  });

  return {
    change: (write) => {
      // The due times in a write refer to the current clock.
      observeClock();
      const result = write();
      alarm.abort();
      return result;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      alarm.abort();
      await running;
    },
  };
}

function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.details['reason'] === 'CONCURRENT_RUN_LIMIT';
}
