import { setImmediate } from 'node:timers/promises';

/** A closed handle, a request whose callback runs, and a step that waits for its turn are each gone within this many turns of the loop. */
const turns = 4;

/** Waits for a result, and then until the event loop no longer lists what has ended with it among the resources of this process. */
export async function settle<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } finally {
    for (let turn = 1; turn <= turns; turn += 1) await setImmediate();
  }
}
