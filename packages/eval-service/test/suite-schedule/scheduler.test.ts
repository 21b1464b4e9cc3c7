import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../../../src/base/logger.ts';
import type { RunCreator } from '../../src/create-run.ts';
import { createSuiteContent } from '../../src/bodies/stored-suite.ts';
import { ApiError } from '../../src/envelope.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { planSchedule } from '../../src/suite-schedule/schedule-rules.ts';
import { type Scheduler, startScheduler } from '../../src/suite-schedule/scheduler.ts';
import { ShiftedClock } from '../../../../test/support/clocks/shifted-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

type CreateDueRun = RunCreator['createDueRun'];

describe('the schedules of suites', () => {
  let clock: ShiftedClock;
  let store: Store;
  let scheduler: Scheduler;
  let logged: string[];
  /** What was started: the suite, when by the clock that never jumps, and for which due time. */
  let started: Array<{ suiteId: string; atMs: number; dueTime: string }>;
  let create: CreateDueRun;

  const record: CreateDueRun = async (_projectId, { suiteId }, dueTime) => {
    started.push({ suiteId, atMs: clock.monotonicMs(), dueTime });
    const caseUpsert = { committed: [], failed: [] as [] };
    return { runId: 'run_1', suiteId, status: 'running', caseUpsert, servers: [], environment: null };
  };
  const log = (message: string) => {
    logged.push(message);
  };
  const logger: Logger = { ...silentLogger, info: log, warning: log, error: log };
  const start = () => {
    scheduler = startScheduler({ store, clock, logger, creator: { createDueRun: (...call) => create(...call) } });
  };
  const restart = async () => {
    await scheduler[Symbol.asyncDispose]();
    start();
  };
  const addSuite = (id: string) => {
    const content = createSuiteContent({ name: id, serverIds: [] });
    store.suites.insert({ id, projectId: 'prj', content, now: clock.now() });
  };
  const change = (id: string, write: Parameters<typeof planSchedule>[1]) =>
    scheduler.change(() => {
      const suite = store.suites.get('prj', id)!;
      const schedule = planSchedule(suite.content, write, { now: clock.now(), nameEnvironment: (name) => name });
      store.suites.update({ id, content: { ...suite.content, schedule }, now: clock.now() });
    });
  const listHours = () => started.map(({ atMs }) => atMs / hour);

  beforeEach(() => {
    clock = new ShiftedClock();
    store = openStore(undefined);
    const content = { organizationId: 'org', description: null, icon: null, visibility: 'private' as const };
    store.projects.insert({ id: 'prj', name: 'P', content, now: 0 });
    logged = [];
    started = [];
    create = record;
    addSuite('hourly');
    start();
    change('hourly', { enabled: true, intervalMinutes: 60 });
  });
  afterEach(async () => {
    await scheduler[Symbol.asyncDispose]();
    store.close();
  });

  it('start one run per interval, the first one after a whole interval', async () => {
    await clock.advance(hour - 1);
    expect(started).toEqual([]);
    await clock.advance(3 * hour);
    expect(listHours()).toEqual([1, 2, 3]);
    expect(logged[0]).toBe('Suite "hourly" is due: run run_1 has started.');
  });

  it('change nothing that a client sees of a suite', async () => {
    const before = store.suites.get('prj', 'hourly')?.updatedAt;
    await clock.advance(2 * hour);
    expect(store.suites.get('prj', 'hourly')?.updatedAt).toBe(before);
  });

  it('run each suite at its own times', async () => {
    addSuite('slow');
    change('slow', { enabled: true, intervalMinutes: 90 });
    await clock.advance(3 * hour);
    const list = (name: string) => started.filter(({ suiteId }) => suiteId === name).map(({ atMs }) => atMs / hour);
    expect({ slow: list('slow'), hourly: list('hourly') }).toEqual({ slow: [1.5, 3], hourly: [1, 2, 3] });
  });

  it.each([hour, 3.5 * hour, 100 * day])('count a jump of the clock by %i ms forward as one run', async (byMs) => {
    await clock.advance(hour + 30 * minute);
    clock.shift(byMs);
    await clock.advance(minute);
    expect(started).toHaveLength(2);
    const rest = hour - ((30 * minute + byMs + minute) % hour);
    await clock.advance(rest - 1);
    expect(started).toHaveLength(2);
    await clock.advance(hour);
    expect(started).toHaveLength(3);
  });

  it.each([minute, hour, 10 * hour, 100 * day])('are not held up by a clock that goes back by %i ms', async (byMs) => {
    await clock.advance(2 * hour + 30 * minute);
    clock.shift(-byMs);
    await clock.advance(3 * hour);
    expect(listHours()).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(started.map(({ dueTime }) => dueTime)).size).toBe(5);
  });

  it('keep their pace when a clock jumps forward and is corrected', async () => {
    await clock.advance(hour + 30 * minute);
    clock.shift(day);
    await clock.advance(minute);
    clock.shift(-day);
    await clock.advance(3 * hour);
    expect(listHours().length).toBe(5);
    expect(new Set(started.map(({ dueTime }) => dueTime)).size).toBe(5);
  });

  it('count from the clock as it is when they are set right after a jump', async () => {
    clock.shift(-10 * hour);
    change('hourly', { enabled: true, intervalMinutes: 30 });
    await clock.advance(hour);
    expect(listHours()).toEqual([0.5, 1]);
  });

  it('start one run for what was missed while no service ran, and keep their times', async () => {
    await scheduler[Symbol.asyncDispose]();
    await clock.advance(5.5 * hour);
    start();
    await clock.advance(minute);
    expect(listHours()).toEqual([5.5]);
    await clock.advance(hour);
    expect(listHours()).toEqual([5.5, 6]);
  });

  it('start nothing early because of a restart', async () => {
    for (let count = 0; count < 10; count += 1) {
      await clock.advance(15 * minute);
      await restart();
    }
    expect(listHours()).toEqual([1, 2]);
  });

  it('ask for the same due time again when the service ends before it is recorded', async () => {
    create = (...call) => {
      void record(...call);
      return Promise.withResolvers<never>().promise;
    };
    await clock.advance(hour);
    create = record;
    await restart();
    await clock.advance(minute);
    expect(started.map(({ dueTime }) => dueTime)).toEqual([`${hour}:0`, `${hour}:0`]);
    await clock.advance(hour);
    expect(started[2]?.dueTime).toBe(`${2 * hour}:0`);
  });

  it('wait for an interval at most when the clock was put back while no service ran', async () => {
    await scheduler[Symbol.asyncDispose]();
    clock.shift(-30 * day);
    start();
    await clock.advance(2.5 * hour);
    expect(listHours()).toEqual([1, 2]);
  });

  it('log why a suite cannot run, run the others, and try again an interval later', async () => {
    addSuite('broken');
    change('broken', { enabled: true, intervalMinutes: 60 });
    create = async (...call) => {
      if (call[1].suiteId === 'broken') throw new ApiError('SERVER_UNREACHABLE', 'Server "demo" is down.');
      return await record(...call);
    };
    await clock.advance(hour + minute);
    expect(started.map(({ suiteId }) => suiteId)).toEqual(['hourly']);
    const reason = 'Suite "broken" is due and could not run: Server "demo" is down. The next run is due in 60 minutes.';
    expect(logged.filter((line) => line === reason)).toHaveLength(1);
    create = record;
    await clock.advance(hour);
    expect(started.map(({ suiteId }) => suiteId).toSorted()).toEqual(['broken', 'hourly', 'hourly']);
  });

  it('wait for a slot where as many runs execute as may', async () => {
    let isFull = true;
    let asked = 0;
    create = async (...call) => {
      asked += 1;
      const details = { reason: 'CONCURRENT_RUN_LIMIT' };
      if (isFull) throw new ApiError('RATE_LIMITED', 'Full.', { details });
      return await record(...call);
    };
    await clock.advance(hour + 5 * minute);
    expect(asked).toBe(21);
    isFull = false;
    await clock.advance(30 * minute);
    expect(started.map(({ dueTime }) => dueTime)).toEqual([`${hour}:0`]);
    expect(logged).toHaveLength(1);
  });

  it('stop where a suite is disabled or deleted, and start with a whole interval when it is enabled again', async () => {
    addSuite('gone');
    change('gone', { enabled: true, intervalMinutes: 30 });
    store.suites.delete('gone');
    change('hourly', { enabled: false });
    await clock.advance(5.5 * hour);
    expect(started).toEqual([]);
    change('hourly', { enabled: true });
    await clock.advance(hour);
    expect(listHours()).toEqual([6.5]);
  });

  it('keep the time of a run that is being created when the interval changes meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    create = async (...call) => {
      await promise;
      return await record(...call);
    };
    await clock.advance(hour);
    change('hourly', { enabled: true, intervalMinutes: 30 });
    resolve();
    create = record;
    await clock.advance(hour);
    expect(listHours()).toEqual([1, 1.5, 2]);
  });

  it('keep nothing waiting where no suite runs by itself', async () => {
    change('hourly', { enabled: false });
    await clock.advance(minute);
    expect(clock.sleeping).toBe(0);
  });
});
