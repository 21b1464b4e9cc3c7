import { DeadlineError, describeError, NetworkError, ProtocolError, readErrorCode } from '../base/errors.ts';
import { formatDuration } from '../base/time.ts';
import { explainProxyRefusal, type ProxyHop, readProxyStatus } from './proxy.ts';
import type { AttemptFailure } from './retry.ts';

/** Turns an error that prevented an answer into a failure. It names host and port, and never the rest of the URL. */
export function readTransportError(
  error: unknown,
  options: { url: URL; what: string; attemptTimeoutMs: number; proxy: ProxyHop | null },
): AttemptFailure {
  if (error instanceof ProtocolError) {
    const message = `${error.message} (${options.what})`;
    return { error: new ProtocolError(message, { cause: error, hint: notThisServiceHint }), repeat: 'if-safe' };
  }
  const { hostname, port, protocol } = options.url;
  const hostPort = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
  const proxyStatus = options.proxy === null ? undefined : readProxyStatus(error);
  if (options.proxy !== null && proxyStatus !== undefined) {
    const refusal = explainProxyRefusal(proxyStatus, options.proxy, hostPort);
    return { error: refusal, repeat: proxyStatus < 500 ? 'never' : 'always' };
  }
  if (error instanceof DeadlineError) {
    const message = `No complete answer from ${hostPort} to ${options.what} within ${formatDuration(options.attemptTimeoutMs)}.`;
    return { error: new NetworkError(message), repeat: 'if-safe' };
  }
  const code = readErrorCode(error);
  const message = `No answer from ${hostPort} to ${options.what}: ${describeCause(error, code)}.`;
  if (isTlsError(error)) return { error: new NetworkError(message, { cause: error, hint: tlsHint }), repeat: 'never' };
  return {
    error: new NetworkError(message, { cause: error }),
    repeat: wasNeverSent(error) ? 'always' : 'if-safe',
  };
}

const notThisServiceHint = 'Something between here and the service may have answered in its place; check the base URL.';
const tlsHint =
  'Certificates are always checked. Where a proxy signs its own, give its authority in NODE_EXTRA_CA_CERTS.';

function describeCause(error: unknown, code: string | null): string {
  const description = describeError(error);
  return code === null || description.includes(code) ? description : `${code}, ${description}`;
}

/** Checks if the peer's certificate was refused, by the codes of OpenSSL's verification and of Node's check of the host name. */
export function isCertificateError(error: unknown): boolean {
  return /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_CERT)/.test(
    readErrorCode(error) ?? '',
  );
}

/** Checks if a TLS handshake failed, because of the certificate or otherwise; another attempt would fail, too. */
function isTlsError(error: unknown): boolean {
  return isCertificateError(error) || /^(?:ERR_TLS_|ERR_SSL_|EPROTO|UND_ERR_PRX_TLS)/.test(readErrorCode(error) ?? '');
}

const connectCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_PRX_CONN']);

/** Checks if the failure came before a connection existed, so that the peer cannot have seen the request. */
function wasNeverSent(error: unknown): boolean {
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo' || connectCodes.has(readErrorCode(error) ?? '');
}
