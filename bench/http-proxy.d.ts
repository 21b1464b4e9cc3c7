/** The types that the benchmark uses; the package has none. */
declare module 'http-proxy' {
  import type { Agent, IncomingMessage, ServerResponse } from 'node:http';
  interface ProxyServer {
    web(request: IncomingMessage, response: ServerResponse): void;
    on(event: 'error', listener: (error: Error) => void): void;
  }
  const httpProxy: { createProxyServer(options: { target: string; agent?: Agent }): ProxyServer };
  export default httpProxy;
}
