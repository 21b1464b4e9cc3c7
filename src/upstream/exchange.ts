/** A request of the server under test, as it arrived at the proxy. */
export interface UpstreamRequest {
  method: string;
  url: URL;
  /** Names are in lower case; a repeated header is joined by commas. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** The answer to a request: complete and not compressed. */
export interface UpstreamAnswer {
  status: number;
  /** In their order; a name may repeat. */
  headers: ReadonlyArray<readonly [string, string]>;
  body: Buffer;
}

/** The largest body of a request or an answer. */
export const maxBodyBytes = 5 * 1024 * 1024;

/** Answers the requests of the server's processes. */
export interface UpstreamSession {
  /** Never rejects for a request that cannot be answered; the answer then says so. */
  answer(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Notes traffic that is no HTTP exchange, such as a WebSocket. One sentence. */
  refuse(what: string): void;
}

/** Makes an answer of the proxy itself. No client repeats a request for a 404. */
export function refuseRequest(message: string, status = 404): UpstreamAnswer {
  const body = Buffer.from(JSON.stringify({ error: 'mcp-eval-ci', message }));
  return { status, headers: [['content-type', 'application/json']], body };
}
