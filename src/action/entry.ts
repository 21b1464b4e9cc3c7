import { error, getState, saveState } from '@actions/core';
import { describeError } from '../base/errors.ts';
import { limitHeapGrowth } from '../gate/heap.ts';
import { runMain } from './main.ts';
import { runPost } from './post.ts';

limitHeapGrowth();
process.exit(await runStage());

/** The runner starts this same file twice; what the first saved tells the second that it is the second. */
async function runStage(): Promise<number> {
  if (getState('isPost') === 'true') return await runPost();
  try {
    saveState('isPost', 'true');
  } catch (cause) {
    // Without it the post step would run the whole gate again.
    error(`The state of the action cannot be saved: ${describeError(cause)}`);
    return 3;
  }
  return await runMain();
}
