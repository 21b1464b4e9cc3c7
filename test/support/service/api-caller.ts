import { request } from 'undici';

export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are compared with literals, field by field
  body: any;
}

/** Calls an eval API like any client, with plain requests. */
export interface ApiCaller {
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  patch(path: string, body?: unknown): Promise<ApiAnswer>;
  delete(path: string, body?: unknown): Promise<ApiAnswer>;
}

/** Creates a caller. With `apiKey` null, it sends no Authorization header. A body that is a string is sent unchanged. */
export function createApiCaller(baseUrl: string, apiKey: string | null): ApiCaller {
  const send = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: { body?: unknown; headers?: Record<string, string> | undefined } = {},
  ): Promise<ApiAnswer> => {
    const answer = await request(`${baseUrl}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...options.headers,
      },
      body:
        options.body === undefined || typeof options.body === 'string'
          ? (options.body ?? null)
          : JSON.stringify(options.body),
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() };
  };
  return {
    get: (path, headers) => send('GET', path, { headers }),
    post: (path, body, headers) => send('POST', path, { body, headers }),
    patch: (path, body) => send('PATCH', path, { body }),
    delete: (path, body) => send('DELETE', path, { body }),
  };
}
