/**
 * An MCP server on stdio whose tools show the effects of a bridge. `ERA=modern` refuses the initialize handshake; with `ASKS`, it serves the
 * tools of asking-server.ts instead. Tests start it as one file, which bundle-servers.ts makes.
 */
import { Server } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAskingServer } from './asking-server.ts';
import { type Arguments, processTools, reportStart } from './process-tools.ts';

const cancelled: unknown[] = [];

/** Sends the server's own request to the client and returns the answer. */
async function sample(prompt: string, { mcpReq }: ServerContext): Promise<unknown> {
  const message = { role: 'user' as const, content: { type: 'text' as const, text: prompt } };
  return (await mcpReq.requestSampling({ messages: [message], maxTokens: 10 })).content;
}

const tools: Record<string, (args: Arguments, context: ServerContext) => unknown> = {
  ...processTools,
  traceparent: (_, { mcpReq }) => mcpReq._meta?.['traceparent'] ?? 'none',
  /** Never answers; ends when it is cancelled. */
  hang: ({ label }, { mcpReq }) =>
    new Promise((resolve) => {
      mcpReq.signal.addEventListener('abort', () => {
        cancelled.push(label);
        resolve('too late');
      });
    }),
  cancelled: () => cancelled,
  progress: async ({ steps, delayMs }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 'none';
    for (let progress = 1; progress <= Number(steps); progress += 1) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
      await sleep(Number(delayMs ?? 0));
    }
    return 'done';
  },
  log: async ({ data }, { mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    return 'logged';
  },
  sample: ({ prompt }, context) => sample(String(prompt), context),
};

serveStdio(
  () => {
    if (process.env['ASKS'] !== undefined) return createAskingServer();
    const server = new Server({ name: 'stdio-server', version: '1.2.3' }, { capabilities: { tools: {}, logging: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const value = await tools[params.name]?.(params.arguments ?? {}, context);
      return { content: [{ type: 'text', text: JSON.stringify(value) }] };
    });
    return server;
  },
  { legacy: process.env['ERA'] === 'modern' ? 'reject' : 'serve' },
);
reportStart('stdio-server');
