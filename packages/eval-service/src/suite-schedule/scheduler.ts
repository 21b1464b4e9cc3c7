import { describeError } from '../../../../src/base/errors.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { currentCaller } from '../callers.ts';
import type { RunCreator } from '../create-run.ts';
import { ApiError } from '../envelope.ts';
import type { Store } from '../store/open.ts';
import type { SuiteRecord } from '../store/suites.ts';
import { type DueSchedule, findDueTime, getDueSchedule, limitWait, passDueTime, rewindSchedule } from './rules.ts';

/** How long the wall clock may jump unnoticed; also how long a run waits for a slot before it tries again. */
const longestWaitMs = 15_000;

/** Clocks are corrected by fractions of a second all the time. */
const toleratedLagMs = 1000;

/** Starts the runs of suites that are due. */
export interface Scheduler extends AsyncDisposable {
  /** Has the scheduler take in what `write` changes in a schedule. */
  change<Result>(write: () => Result): Result;
}

interface SchedulerParts {
  store: Store;
  clock: Clock;
  logger: Logger;
  creator: Pick<RunCreator, 'createDueRun'>;
}

/**
 * Starts runs by the schedules of the suites, until it is disposed: of each due time one. The next due time is kept in the store. Times that
 * passed while no service ran, or in a jump of the clock, count once. A clock that goes back moves the due times with it. A suite that
 * cannot run is logged, and tried again an interval later; where all slots for runs are taken, it waits for one. A run is made for the user
 * who set the schedule last.
 */
export function startScheduler({ store, clock, logger, creator }: SchedulerParts): Scheduler {
  const stop = new AbortController();
  let alarm = new AbortController();
  let seen = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
  /** Suites whose run is being created. */
  const starting = new Set<string>();
  /** Until when a suite waits for a slot, on the monotonic clock. */
  const waiting = new Map<string, number>();

  const keep = ({ id, projectId }: SuiteRecord, change: (schedule: DueSchedule) => DueSchedule): void => {
    const suite = store.suites.get(projectId, id);
    const before = suite && getDueSchedule(suite.content);
    if (suite === undefined || before === undefined) return;
    const schedule = change(before);
    if (schedule === before) return;
    // Not a change that a client made.
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
      // The servers of the run get the tokens of who set the schedule.
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

  /** Starts what is due; returns in how many milliseconds something else is, or null where nothing will be. */
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
    // The service is still being put together.
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
      // What is written is a time of the clock as it is now.
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
