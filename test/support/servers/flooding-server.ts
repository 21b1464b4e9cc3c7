/**
 * An MCP server on stdio whose tools write endlessly without reading. `healthy` answers. `ERA=modern` speaks only 2026-07-28. Run by Node
 * itself: `node test/support/servers/flooding-server.ts`.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const isModern = process.env['ERA'] === 'modern';

const clock = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the process as long as there is a reader; at most 4 GiB. While the pipe is full, it leaves the processor to the reader. */
function writeForever(chunk: string): void {
  const bytes = Buffer.from(chunk);
  for (let written = 0; written < 2 ** 32;) {
    try {
      written += writeSync(1, bytes);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) process.exit(0);
      Atomics.wait(clock, 0, 0, 1);
    }
  }
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const filler = 'x'.repeat(300);

const tools: Record<string, () => unknown> = {
  requests: () => {
    const params = { messages: [{ role: 'user', content: { type: 'text', text: filler } }], maxTokens: 1 };
    writeForever(line({ id: 'ask', method: 'sampling/createMessage', params }).repeat(200));
  },
  notifications: () =>
    writeForever(line({ method: 'notifications/message', params: { level: 'info', data: filler } }).repeat(200)),
  line: () => writeForever(filler.repeat(200)),
  logs: () => writeForever(`${filler}\n`.repeat(200)),
  deep: () => ({ content: [], structuredContent: JSON.parse('{"deep":[]}') as unknown }),
  healthy: () => ({ content: [{ type: 'text', text: 'healthy' }] }),
};

const capabilities = { tools: {}, logging: {} };
const serverInfo = { name: 'flooding', version: '1.0.0' };
const methods: Record<string, (params: { protocolVersion?: string; name?: string }) => unknown> = {
  ...(isModern
    ? { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities, serverInfo }) }
    : { initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo }) }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name = '' }) => tools[name]?.(),
};

for await (const text of createInterface({ input: process.stdin })) {
  const { id, method = '', params } = JSON.parse(text) as { id?: number; method?: string; params?: object };
  if (id === undefined || method === '') continue;
  const result = methods[method]?.({ ...params });
  const full = isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...Object(result) } : result;
  const answer = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result: full };
  const rendered = line({ id, ...answer });
  // Nested deeper than this process could print.
  process.stdout.write(rendered.replace('"deep":[]', `"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}`));
}
