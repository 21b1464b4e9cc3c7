import { describe, expect, it } from 'vitest';
import { ConfigurationError, NetworkError, ProtocolError, ServiceError } from '../../src/base/errors.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { addHint, isQueueRefusal, readFailedAnswer, readTransportError } from '../../src/service/failure.ts';

const envelope = (code: string, details?: object) => JSON.stringify({ code, message: 'Because.', details });
const read = (status: number, text: string, headers = {}) =>
  readFailedAnswer({ status, text, headers }, 'GET /x', serviceProfiles.svc.serverUnreachableHint);

describe('readFailedAnswer', () => {
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

describe('readTransportError', () => {
  const url = new URL('https://h.example/v1/me?k=secret');
  const options = { url, what: 'GET /v1/me', attemptTimeoutMs: 60_000, proxy: null };
  const systemError = (fields: object) => Object.assign(new Error('it broke'), fields);

  it.each([
    [{ code: 'ECONNREFUSED', syscall: 'connect' }, 'always'],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'always'],
    [{ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }, 'always'],
    [{ code: 'ETIMEDOUT', syscall: 'connect' }, 'always'],
    [{ code: 'UND_ERR_CONNECT_TIMEOUT' }, 'always'],
    [{ code: 'ETIMEDOUT', syscall: 'read' }, 'if-safe'],
    [{ code: 'ECONNRESET', syscall: 'read' }, 'if-safe'],
    [{ code: 'EPIPE', syscall: 'write' }, 'if-safe'],
    [{ code: 'UND_ERR_SOCKET' }, 'if-safe'],
    [{ code: 'UND_ERR_HEADERS_TIMEOUT' }, 'if-safe'],
    [{ code: 'CERT_HAS_EXPIRED' }, 'never'],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'never'],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'never'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'never'],
    [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, 'never'],
    [{ code: 'UND_ERR_PRX_TLS' }, 'never'],
    [{ code: 'UND_ERR_PRX_CONN' }, 'always'],
    [{}, 'if-safe'],
  ])('knows what %j allows', (fields, repeat) => {
    const failure = readTransportError(systemError(fields), options);
    expect(failure.repeat).toBe(repeat);
    const code = 'code' in fields ? `${fields.code}, ` : '';
    expect(failure.error.message).toBe(`No answer from h.example:443 to GET /v1/me: ${code}it broke.`);
  });

  it('takes a refusal for the proxy’s only where there is a proxy', () => {
    const error = new Error('Proxy response (407) !== 200 when HTTP Tunneling');
    const proxy = { place: 'p.example:3128', hasCredentials: false, variable: 'HTTPS_PROXY' } as const;
    expect(readTransportError(error, options).error.code).toBe('NETWORK');
    expect(readTransportError(error, { ...options, proxy })).toMatchObject({
      error: { code: 'CONFIGURATION' },
      repeat: 'never',
    });
  });

  it('survives things that are not errors', () => {
    expect(readTransportError('odd', options).error.message).toBe('No answer from h.example:443 to GET /v1/me: odd.');
  });
});

describe('addHint', () => {
  const serviceFields = { code: 'C', status: 500, details: { a: 1 }, retryAfterMs: 5 };

  it.each([
    [new ServiceError('m', { ...serviceFields, hint: 'First.', cause: 'c' }), serviceFields],
    [new NetworkError('m', { hint: 'First.', cause: 'c' }), { code: 'NETWORK' }],
    [new ProtocolError('m', { hint: 'First.', cause: 'c', path: 'items.0' }), { path: 'items.0' }],
    [new ConfigurationError([{ code: 'm', message: 'm' }], { hint: 'First.', cause: 'c' }), { message: 'm (m)' }],
  ])('keeps the class, every field and the first hint: %s', (error, fields) => {
    const added = addHint(error, 'Second.');
    expect(added.constructor).toBe(error.constructor);
    expect(added).toMatchObject({ message: error.message, cause: 'c', hint: 'First. Second.', ...fields });
  });

  it('is the only hint where there was none', () => {
    expect(addHint(new NetworkError('m'), 'Second.').hint).toBe('Second.');
  });
});
