import type { ServiceLimits } from '../../../src/service/api-limits.ts';
import { ApiError } from './envelope.ts';
import type { Runner } from '../../../src/runner/runner.ts';

/** One slot for runs. It is free again after it is disposed of and its runs have settled. */
export interface RunSlot extends Disposable {
  add(runId: string): void;
}

/**
 * Makes the function that takes a slot. A run holds one already during its creation, because connecting takes time and other requests may
 * arrive.
 *
 * @throws {ApiError} RATE_LIMITED, when called, while all slots are taken
 */
export function createRunSlots(
  runner: Pick<Runner, 'isActive'>,
  { concurrentRuns }: Pick<ServiceLimits, 'concurrentRuns'>,
): () => RunSlot {
  const slots = new Set<{ isOpen: boolean; runIds: Set<string> }>();
  return () => {
    for (const slot of slots) {
      const isTaken = slot.isOpen || [...slot.runIds].some((runId) => runner.isActive(runId));
      if (!isTaken) slots.delete(slot);
    }
    if (slots.size >= concurrentRuns) {
      throw new ApiError('RATE_LIMITED', `${concurrentRuns} runs are executing; wait until one has ended.`, {
        details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: concurrentRuns },
      });
    }
    const slot = { isOpen: true, runIds: new Set<string>() };
    slots.add(slot);
    return {
      add: (runId) => void slot.runIds.add(runId),
      [Symbol.dispose]: () => {
        slot.isOpen = false;
      },
    };
  };
}
