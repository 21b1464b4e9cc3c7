import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createTeardown } from '../../../src/gate/run/run-lifetime.ts';

function createRecorder() {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warning: (message: string) => void warnings.push(message) } };
}

describe('createTeardown', () => {
  it('runs all cleanups concurrently', async () => {
    const { logger, warnings } = createRecorder();
    const teardown = createTeardown(logger);
    const first = Promise.withResolvers<void>();
    const log: string[] = [];
    // The first ends only after the second has begun, which one after the other would never happen.
    teardown.add('do the first', async () => {
      await first.promise;
      log.push('first');
    });
    teardown.add('do the second', async () => {
      log.push('second');
      first.resolve();
    });
    await teardown[Symbol.asyncDispose]();
    expect(log).toEqual(['second', 'first']);
    expect(warnings).toEqual([]);
  });

  it('warns about a cleanup that fails, and runs the others', async () => {
    const { logger, warnings } = createRecorder();
    const teardown = createTeardown(logger);
    let isDone = false;
    teardown.add('close the tunnel', async () => {
      throw new Error('the service is gone');
    });
    teardown.add('stop the server', async () => {
      isDone = true;
    });
    await teardown[Symbol.asyncDispose]();
    expect(isDone).toBe(true);
    expect(warnings).toEqual(['Could not close the tunnel: the service is gone. The verdict stands.']);
  });

  it.each<[string, (() => number) | undefined, boolean]>([
    ['nothing is said of the time', undefined, true],
    ['there is none left', () => 0, true],
    ['seconds are left', () => 2500, true],
    ['there is time', () => 20_000, false],
    ['nothing limits it', () => Number.POSITIVE_INFINITY, false],
  ])('is in a hurry or not where %s', async (_, readTimeLeftMs, expected) => {
    const { logger } = createRecorder();
    const teardown = createTeardown(logger, readTimeLeftMs);
    const seen: boolean[] = [];
    teardown.add('close the tunnel', async (signal, isHurried) => {
      signal.throwIfAborted();
      seen.push(isHurried);
    });
    await teardown[Symbol.asyncDispose]();
    expect(seen).toEqual([expected]);
  });
});
