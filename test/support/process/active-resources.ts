import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';

/** Checks after each test of a file that nothing keeps this process running that did not before it. */
export function expectNothingLeft(): void {
  let before: Record<string, number> = {};
  beforeEach(() => {
    before = countResources();
  });
  afterEach(async () => {
    await expect.poll(() => listMore(before)).toEqual([]);
  });
}

/** Checks that nothing of a call is left the moment it has ended. Timers are left out: the test runner has some of its own. */
export async function expectAllEnded<T>(call: () => Promise<T>): Promise<T> {
  // The steps before the call are in the count for some turns of the loop.
  for (let turn = 1; turn <= 4; turn += 1) await setImmediate();
  const before = countResources();
  try {
    return await call();
  } finally {
    expect(listMore(before).filter(([name]) => name !== 'Timeout')).toEqual([]);
  }
}

function listMore(before: Readonly<Record<string, number>>): Array<[string, number]> {
  return Object.entries(countResources()).filter(([name, count]) => count > (before[name] ?? 0));
}

function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
