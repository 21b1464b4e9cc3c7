import { describe, expect, it } from 'vitest';
import { serviceProfiles } from '../../src/service/profile.ts';
import { isQueueRefusal, readServiceFailure } from '../../src/service/service-failure.ts';

const envelope = (code: string, details?: object) => JSON.stringify({ code, message: 'Because.', details });
const read = (status: number, text: string, headers = {}) =>
  readServiceFailure({ status, text, headers }, 'GET /x', serviceProfiles.svc.serverUnreachableHint);

describe('readServiceFailure', () => {
  it.each([
    [400, 'VALIDATION_ERROR', 'never', undefined],
    [401, 'UNAUTHORIZED', 'never', /whole key/],
    [401, 'OAUTH_REQUIRED', 'never', /OAuth/],
    [403, 'FORBIDDEN', 'never', /access to the project/],
    [404, 'NOT_FOUND', 'never', /Check the ids/],
    [409, 'CONFLICT', 'never', undefined],
    [422, 'FEATURE_NOT_SUPPORTED', 'never', undefined],
    [429, 'RATE_LIMITED', 'always', /in parallel/],
    [500, 'INTERNAL_ERROR', 'if-safe', /later/],
    [502, 'SERVER_UNREACHABLE', 'always', /tunnel/],
    [504, 'TIMEOUT', 'if-safe', /later/],
    [418, 'SOMETHING_NEW', 'never', undefined],
    [599, 'SOMETHING_NEW', 'if-safe', /later/],
  ] as const)('reads %i %s, repeats it %s and gives advice of its own', (status, code, repeat, hint) => {
    const failure = read(status, envelope(code));
    expect(failure.repeat).toBe(repeat);
    expect(failure.error).toMatchObject({ code, status, details: {}, retryAfterMs: undefined });
    expect(failure.error.message).toBe(`The service answered ${status} ${code} to GET /x: Because.`);
    if (hint === undefined) expect(failure.error.hint).toBeUndefined();
    else expect(failure.error.hint).toMatch(hint);
  });

  it('says that runs are queued where too many are in progress', () => {
    const details = { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 };
    const { error, repeat, isRateLimited } = read(429, envelope('RATE_LIMITED', details));
    // Not a matter of pace: to ask again at once is no use, and to slow everything down neither.
    expect({ repeat, isRateLimited }).toEqual({ repeat: 'never', isRateLimited: undefined });
    expect([isQueueRefusal(error), isQueueRefusal(read(429, envelope('RATE_LIMITED')).error)]).toEqual([true, false]);
    expect(error.hint).toMatch(/are in progress/);
    expect(error).toMatchObject({ details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 } });
  });

  it.each([
    [401, 'UNAUTHORIZED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [429, 'RATE_LIMITED'],
    [400, 'INTERNAL_ERROR'],
    [503, 'INTERNAL_ERROR'],
  ])('goes by the status %i where the body is a page', (status, code) => {
    const { error } = read(status, '<html>Sorry</html>', { 'content-type': 'text/html' });
    expect(error).toMatchObject({ code, status });
    expect(error.message).toBe(`The service answered ${status} ${code} to GET /x: no reason was given (text/html).`);
  });

  it.each(['', 'null', '[]', '{"error":"x"}', '{"code":1,"message":"x"}', '['.repeat(1000)])(
    'goes by the status where the body is %j',
    (text) => {
      expect(read(404, text.slice(0, 400)).error).toMatchObject({ code: 'NOT_FOUND' });
    },
  );

  it('reads an envelope whose details are of another kind', () => {
    const { error } = read(400, '{"code":"VALIDATION_ERROR","message":"Bad.","details":"none","extra":1}');
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: {} });
  });

  it('cuts a message that is a dump', () => {
    const { error } = read(500, JSON.stringify({ code: 'INTERNAL_ERROR', message: 'x'.repeat(100_000) }));
    expect(error.message.length).toBeLessThan(600);
  });
});
