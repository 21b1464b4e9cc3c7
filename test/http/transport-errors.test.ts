import { describe, expect, it } from 'vitest';
import { isCertificateError, readTransportError } from '../../src/http/transport-errors.ts';

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
    const proxy = { hostPort: 'p.example:3128', hasCredentials: false, variable: 'HTTPS_PROXY' } as const;
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

describe('isCertificateError', () => {
  it.each(['CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN', 'HOSTNAME_MISMATCH', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'recognizes %s',
    (code) => {
      expect(isCertificateError(Object.assign(new Error('m'), { code }))).toBe(true);
    },
  );

  it.each(['ERR_TLS_HANDSHAKE_TIMEOUT', 'EPROTO', 'ECONNRESET'])('does not take %s for one', (code) => {
    expect(isCertificateError(Object.assign(new Error('m'), { code }))).toBe(false);
  });
});
