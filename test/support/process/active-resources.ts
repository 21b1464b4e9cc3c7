import { expect } from 'vitest';

/** Remembers what keeps this process running, and returns a check that nothing has been added since. */
export function watchResources(): { expectNothingAdded: () => Promise<void> } {
  const before = countResources();
  const listAdded = () => Object.entries(countResources()).filter(([name, count]) => count > (before[name] ?? 0));
  return { expectNothingAdded: async () => await expect.poll(listAdded).toEqual([]) };
}

function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
