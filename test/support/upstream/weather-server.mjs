import { createInterface } from 'node:readline';

// An MCP server on stdio in front of an API. `MODE` breaks it as a change might.
const { API_URL = '', API_KEY = '', MODE = '' } = process.env;

async function ask(path, options = {}) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const response = await fetch(`${API_URL}${path}`, { headers, ...options });
  if (!response.ok) throw new Error(`The API answered ${response.status}: ${await response.text()}`);
  return await response.json();
}

const tools = {
  async get_weather({ city }) {
    const path =
      MODE === 'other-url' ? `/v2/weather?city=${city}` : `/weather?city=${city}&units=metric&ts=${Date.now()}`;
    const { temperature } = await ask(path);
    return `${city}: ${MODE === 'worse' ? temperature * 2 : temperature} °C`;
  },
  async add_station({ name }) {
    const before = (await ask('/stations')).stations.length;
    await ask('/stations', { method: 'POST', body: JSON.stringify({ name, key: API_KEY, nonce: Math.random() }) });
    const after = (await ask('/stations')).stations.length;
    return `${before} → ${after}`;
  },
  async crash_on_error({ city }) {
    await ask(`/weather?city=${city}&units=metric&ts=1`).catch(() => process.exit(7));
    return 'fine';
  },
};

const string = { type: 'string' };
const list = Object.keys(tools).map((name) => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: { city: string, name: string } },
}));

async function answer({ method, params }) {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'weather', version: '1.0.0' },
    };
  }
  if (method === 'tools/list') return { tools: list };
  if (method !== 'tools/call') throw Object.assign(new Error('Method not found'), { code: -32601 });
  try {
    const text = await tools[params.name](params.arguments);
    return { content: [{ type: 'text', text }] };
  } catch (error) {
    return { content: [{ type: 'text', text: `${error.message} ${error.cause?.message ?? ''}` }], isError: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  void answer(message).then(
    (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result })),
    ({ code = -32603, message: text }) =>
      console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code, message: text } })),
  );
}
