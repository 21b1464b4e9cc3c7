import type { ServiceLimits } from '../../../src/service/limits.ts';
import { ApiError } from './envelope.ts';
import type { Runner } from '../../../src/runner/runner.ts';

/** One of the places that the service executes runs in. It is free again once it is disposed of and its runs have settled. */
export interface RunSlot extends Disposable {
  add(runId: string): void;
}

/**
 * Makes what takes a slot. A run that is being created holds one too: its connection takes a while, and others may ask meanwhile.
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
