import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { answerWithin } from '../src/time-limit.ts';
import { VirtualClock } from '../../../test/support/clocks/virtual-clock.ts';

describe('an answer with a time limit', () => {
  const client = new AbortController().signal;
  const waitForEnd = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });

  it('is the answer of work that is done in time, whose signal stays quiet', async () => {
    const limit = { clock: systemClock, timeoutMs: 60_000, client, what: 'The turn' };
    const signal = await answerWithin(async (given) => given, limit);
    expect(signal.aborted).toBe(false);
  });

  it('is TIMEOUT for work that takes longer, which is stopped', async () => {
    const stopped: unknown[] = [];
    const limit = { clock: new VirtualClock(), timeoutMs: 90_000, client, what: 'The turn' };
    const answer = answerWithin(
      (signal) =>
        waitForEnd(signal).catch((error: unknown) => {
          stopped.push(error);
          throw error;
        }),
      limit,
    );
    const message = 'The turn took longer than 1 min 30 s.';
    await expect(answer).rejects.toMatchObject({ code: 'TIMEOUT', message });
    expect(stopped).toMatchObject([{ code: 'TIMEOUT', message }]);
  });

  it('stops work whose client leaves, or has left', async () => {
    const leaving = new AbortController();
    const limit = { clock: systemClock, timeoutMs: 60_000, client: leaving.signal, what: 'the turn' };
    const answer = answerWithin(waitForEnd, limit);
    leaving.abort();
    const refusal = { code: 'TIMEOUT', message: 'The client left before the turn was over.' };
    await expect(answer).rejects.toMatchObject(refusal);
    await expect(answerWithin(waitForEnd, limit)).rejects.toMatchObject(refusal);
  });

  it('is the error of the work', async () => {
    const limit = { clock: systemClock, timeoutMs: 60_000, client, what: 'The turn' };
    await expect(answerWithin(() => Promise.reject(new Error('Broken.')), limit)).rejects.toThrow('Broken.');
  });
});
