import { describe, expect, it } from 'vitest';
import { readFailedAnswer } from '../../src/http/failed-answer.ts';

const read = (status: number, text: string, headers = {}) =>
  readFailedAnswer({ status, text, headers }, 'POST /v1/traces');

describe('readFailedAnswer', () => {
  it('gives no advice about an API key', () => {
    expect([401, 403, 404, 429].map((status) => read(status, '').error.hint)).toEqual(Array(4).fill(undefined));
    expect([407, 503].map((status) => read(status, '').error.hint)).toEqual([
      'A proxy in between asks for credentials; give them in the URL of HTTPS_PROXY.',
      'The service has a problem of its own; run the job again later.',
    ]);
  });

  it.each([
    [400, 'never', undefined],
    [429, 'always', true],
    [503, 'if-safe', undefined],
  ])('repeats after status %i: %s', (status, repeat, isRateLimited) => {
    expect(read(status, '')).toMatchObject({ repeat });
    expect(read(status, '').isRateLimited).toBe(isRateLimited);
  });

  it('reads how long to wait from the header before the body', () => {
    const text = JSON.stringify({ code: 'RATE_LIMITED', message: 'Slow down.', details: { retryAfterMs: 7000 } });
    expect(read(429, text).retryAfterMs).toBe(7000);
    expect(read(429, text, { 'retry-after': '2' }).retryAfterMs).toBe(2000);
    expect(read(429, '', { 'retry-after': 'soon' }).retryAfterMs).toBeUndefined();
  });

  it('follows no redirect', () => {
    expect(read(302, '')).toMatchObject({ error: { code: 'PROTOCOL' }, repeat: 'never' });
  });
});
