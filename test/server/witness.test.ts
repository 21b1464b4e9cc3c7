import { describe, expect, it } from 'vitest';

import { recordVisits } from '../../src/server/witness.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';

const crash = { exitCode: 1, signal: null, lastLines: ['boom'] };
const atOnce = { mayBeEnding: false };
const silent = { readOutput: () => [] };

describe('the record of visits to a shared process', () => {
  it('attributes an end to the only iteration that the process served', async () => {
    const visits = recordVisits(new ManualClock());
    const process = visits.begin(silent);
    using visit = visits.visit();
    expect(await visit.findEnd(undefined, atOnce)).toBeNull();
    process.end(crash);
    expect(await visit.findEnd(undefined, atOnce)).toEqual({ end: crash, isOwn: true });
  });

  it('attributes it to no iteration where the process served another one before', async () => {
    const visits = recordVisits(new ManualClock());
    const process = visits.begin(silent);
    visits.visit()[Symbol.dispose]();
    using visit = visits.visit();
    process.end(crash);
    expect(await visit.findEnd(undefined, atOnce)).toEqual({ end: crash, isOwn: false });
  });

  it('does not attribute an end to iterations that began after it', async () => {
    const visits = recordVisits(new ManualClock());
    visits.begin(silent).end(crash);
    using visit = visits.visit();
    const next = visits.begin(silent);
    expect(await visit.findEnd(undefined, atOnce)).toBeNull();
    next.end({ ...crash, exitCode: 2 });
    expect(await visit.findEnd(undefined, atOnce)).toMatchObject({ end: { exitCode: 2 }, isOwn: true });
  });

  it('follows an iteration from one process to the next', async () => {
    const visits = recordVisits(new ManualClock());
    const first = visits.begin(silent);
    using _other = visits.visit();
    using visit = visits.visit();
    first.end(crash);
    visits.begin(silent).end({ ...crash, exitCode: 2 });
    expect(await visit.findEnd(undefined, atOnce)).toMatchObject({ end: { exitCode: 2 }, isOwn: false });
  });

  it('waits for a process that is about to end, but not for one that goes on', async () => {
    const clock = new ManualClock();
    const visits = recordVisits(clock);
    const process = visits.begin(silent);
    using visit = visits.visit();
    const ending = visit.findEnd(undefined, { mayBeEnding: true });
    process.end(crash);
    expect((await ending)?.end).toBe(crash);
    using later = visits.visit();
    visits.begin(silent);
    const living = later.findEnd(undefined, { mayBeEnding: true });
    await clock.advance(2000);
    expect(await living).toBeNull();
    expect(clock.sleeping).toBe(0);
  });

  it('gives an iteration the output that its processes wrote since it began', async () => {
    const clock = new ManualClock();
    const visits = recordVisits(clock);
    const lines = [{ atMs: clock.now(), text: 'of an earlier one' }];
    visits.begin({ readOutput: () => lines });
    await clock.advance(10);
    using visit = visits.visit();
    expect(await visit.readOutput(undefined)).toEqual([]);
    lines.push({ atMs: clock.now(), text: 'of this one' });
    expect(await visit.readOutput(undefined)).toEqual(lines.slice(1));
  });

  it('forgets a probe when it is over', async () => {
    const visits = recordVisits(new ManualClock());
    const process = visits.begin(silent);
    {
      using _probe = visits.visit({ isProbe: true });
    }
    expect(visits.isUsed).toBe(false);
    using iteration = visits.visit();
    process.end(crash);
    expect(await iteration.findEnd(undefined, { mayBeEnding: false })).toEqual({ end: crash, isOwn: true });
  });

  it('reports whether an iteration has used the process', () => {
    const visits = recordVisits(new ManualClock());
    visits.begin(silent);
    expect(visits.isUsed).toBe(false);
    visits.visit()[Symbol.dispose]();
    expect(visits.isUsed).toBe(true);
  });
});
