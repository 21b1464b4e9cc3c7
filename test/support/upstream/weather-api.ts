import { startUpstreamApi, type UpstreamApi } from './upstream-api.ts';

/** Starts the API behind `weather-server.mjs`, which wants `key`. */
export async function startWeatherApi(key: string, options: { isTls?: boolean } = {}): Promise<UpstreamApi> {
  const stations: string[] = [];
  return await startUpstreamApi((request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://api');
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': `session=${key}-session` });
      response.end(JSON.stringify(value));
    };
    if (request.headers.authorization !== `Bearer ${key}`) return send(401, { error: 'wrong key' });
    if (url.pathname === '/weather') return send(200, { city: url.searchParams.get('city'), temperature: 21, key });
    if (url.pathname !== '/stations') return send(404, { error: 'no such path' });
    if (request.method === 'GET') return send(200, { stations: [...stations] });
    stations.push(body);
    return send(201, { created: true });
  }, options);
}
