// An MCP server on stdio in front of the API. A real one uses an SDK.
import { createInterface } from 'node:readline';

const { WEATHER_URL, WEATHER_KEY } = process.env;

async function getWeather({ city }) {
  const headers = { authorization: `Bearer ${WEATHER_KEY}` };
  const response = await fetch(`${WEATHER_URL}/weather?city=${encodeURIComponent(city)}`, { headers });
  const answer = await response.json();
  if (!response.ok) return { isError: true, content: [{ type: 'text', text: `${city}: ${answer.error}` }] };
  return { content: [{ type: 'text', text: `${city}: ${answer.temperature} °C` }] };
}

const tool = {
  name: 'get_weather',
  description: 'The temperature in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  annotations: { readOnlyHint: true },
};

const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'weather', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: given }) => getWeather(given),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome = answer
    ? { result: await answer(params) }
    : { error: { code: -32601, message: `Unknown method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}
