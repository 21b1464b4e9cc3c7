import type { SuiteContent, SuiteSchedule } from '../bodies/stored-suite.ts';
import { invalid } from '../envelope.ts';
import { requireAttached } from '../environments/run-targets.ts';

const minuteMs = 60_000;

const neverScheduled: SuiteSchedule = {
  enabled: false,
  intervalMinutes: null,
  environmentId: null,
  dueAt: null,
  rewinds: 0,
};

interface ScheduleWrite {
  enabled: boolean;
  intervalMinutes?: number;
  environmentId?: string;
}

/**
 * Applies a write to the schedule of a suite. The first run is due after one whole interval; a write without changes does not move it.
 * Disabling keeps the interval and the environment.
 *
 * @throws {ApiError} VALIDATION_ERROR if the interval or the environment is missing, or if the environment is not one of the suite's
 */
export function planSchedule(
  suite: SuiteContent,
  write: ScheduleWrite,
  { now, nameEnvironment }: { now: number; nameEnvironment: (id: string) => string },
): SuiteSchedule {
  const before = suite.schedule ?? neverScheduled;
  const intervalMinutes = write.intervalMinutes ?? before.intervalMinutes;
  if (!write.enabled) {
    if (write.environmentId !== undefined) throw invalid('environmentId: Only allowed where enabled is true');
    return { ...before, enabled: false, intervalMinutes, dueAt: null };
  }
  if (intervalMinutes === null) throw invalid('intervalMinutes: Required, since the suite has none saved');
  const environmentId = choosePin(suite.environmentIds ?? [], {
    sent: write.environmentId,
    saved: before.environmentId,
    nameEnvironment,
  });
  const isSame = before.enabled && before.intervalMinutes === intervalMinutes;
  const dueAt = isSame ? before.dueAt : now + intervalMinutes * minuteMs;
  return { ...before, enabled: true, intervalMinutes, environmentId, dueAt };
}

function choosePin(
  environmentIds: readonly string[],
  {
    sent,
    saved,
    nameEnvironment,
  }: { sent: string | undefined; saved: string | null; nameEnvironment: (id: string) => string },
): string | null {
  if (sent !== undefined) {
    requireAttached(environmentIds, sent);
    return sent;
  }
  if (saved !== null && environmentIds.includes(saved)) return saved;
  const [first = null, ...others] = environmentIds;
  if (others.length > 0) {
    const names = environmentIds.map((id) => `${JSON.stringify(nameEnvironment(id))} (${id})`).join(', ');
    const message = `environmentId: Required, since the suite has several environments; send one of ${names}`;
    throw invalid(message, { reason: 'ENVIRONMENT_REQUIRED', environmentIds });
  }
  return first;
}

/**
 * Adapts the schedule of a suite after its environments changed. An enabled schedule keeps its environment, or takes the only one.
 *
 * @throws {ApiError} VALIDATION_ERROR if neither is possible
 */
export function fitSchedule({ schedule, environmentIds = [] }: SuiteContent): SuiteSchedule | undefined {
  if (schedule === undefined) return undefined;
  const { enabled, environmentId: pinned } = schedule;
  if (pinned !== null && environmentIds.includes(pinned)) return schedule;
  if (!enabled) return { ...schedule, environmentId: null };
  if (pinned !== null) {
    throw invalid('environmentIds: The schedule of the suite runs in one that is missing; disable the schedule first', {
      reason: 'SCHEDULE_ENVIRONMENT_PINNED',
      environmentId: pinned,
    });
  }
  const [first = null, ...others] = environmentIds;
  if (others.length > 0) {
    throw invalid('environmentId: Required for the schedule of a suite that has several environments', {
      reason: 'SCHEDULE_ENVIRONMENT_PIN_REQUIRED',
      environmentIds,
    });
  }
  return { ...schedule, environmentId: first };
}

/** An enabled schedule. */
export interface DueSchedule extends SuiteSchedule {
  intervalMinutes: number;
  dueAt: number;
}

/** Undefined if the suite does not run by itself. */
export function getDueSchedule({ schedule }: SuiteContent): DueSchedule | undefined {
  if (schedule?.enabled !== true || schedule.intervalMinutes === null || schedule.dueAt === null) return undefined;
  return { ...schedule, intervalMinutes: schedule.intervalMinutes, dueAt: schedule.dueAt };
}

/** Finds the latest due time in the past. If several were missed, only this one is used. */
export function findDueTime({ dueAt, intervalMinutes }: DueSchedule, now: number): number {
  const intervalMs = intervalMinutes * minuteMs;
  return dueAt + Math.floor((now - dueAt) / intervalMs) * intervalMs;
}

/**
 * Advances a schedule after a due time was served. `served` is the schedule at that time: meanwhile, a write of the interval may have set a
 * new time, and a clock that went back may have moved the old one.
 */
export function passDueTime(current: DueSchedule, served: DueSchedule, dueTime: number): DueSchedule {
  if (current.intervalMinutes !== served.intervalMinutes || current.dueAt > served.dueAt) return current;
  return { ...current, dueAt: current.dueAt + (dueTime - served.dueAt) + served.intervalMinutes * minuteMs };
}

/** Moves a schedule back with the clock, so that the next run is neither early nor late. */
export function rewindSchedule(schedule: DueSchedule, byMs: number): DueSchedule {
  return { ...schedule, dueAt: schedule.dueAt - byMs, rewinds: schedule.rewinds + 1 };
}

/** Moves a due time that is more than an interval away: the clock went back while no scheduler was running. */
export function limitWait(schedule: DueSchedule, now: number): DueSchedule {
  const excessMs = schedule.dueAt - now - schedule.intervalMinutes * minuteMs;
  return excessMs > 0 ? rewindSchedule(schedule, excessMs) : schedule;
}
