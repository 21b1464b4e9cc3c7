/**
 * The variables that send the requests of a program through a proxy, and have it trust the proxy's certificate. No library reads all of
 * them, and each of these is read by some.
 */
export function listProxyVariables(proxyUrl: string, certificatePath: string): Record<string, string> {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const certificates = [
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'REQUESTS_CA_BUNDLE',
    'CURL_CA_BUNDLE',
    'AWS_CA_BUNDLE',
    'GIT_SSL_CAINFO',
    'DENO_CERT',
    'CARGO_HTTP_CAINFO',
    'NIX_SSL_CERT_FILE',
  ];
  return {
    ...Object.fromEntries(proxies.map((name) => [name, proxyUrl])),
    // No host is reached around the proxy.
    NO_PROXY: '',
    no_proxy: '',
    ...Object.fromEntries(certificates.map((name) => [name, certificatePath])),
    // Node from 22.21 and 24.5 on then reads the variables of proxies.
    NODE_USE_ENV_PROXY: '1',
  };
}
