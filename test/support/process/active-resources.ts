import { afterEach, beforeEach, expect } from 'vitest';

/** Checks after each test of a file that nothing keeps this process running that did not before it. */
export function expectNothingLeft(): void {
  let before: Record<string, number> = {};
  beforeEach(() => {
    before = countResources();
  });
  afterEach(async () => {
    await expect
      .poll(() => Object.entries(countResources()).filter(([name, count]) => count > (before[name] ?? 0)))
      .toEqual([]);
  });
}

function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
