/**
 * An MCP server on stdio without an SDK, which starts in less than half the CPU time of stdio-server.ts. It has those tools of that server that
 * tests call most. For tests of the processes of a server; tests of messages to a server use stdio-server.ts.
 */
import { createInterface } from 'node:readline';
import { type Arguments, processTools, reportStart } from './process-tools.ts';

interface Message {
  id?: number;
  method: string;
  params?: { name?: string; arguments?: Arguments };
}

const invalidParams = -32_602;
const methodNotFound = -32_601;

const tools: Record<string, (args: Arguments) => unknown> = {
  ...processTools,
  /** Never answers. */
  hang: () => new Promise(() => {}),
};

async function answer({ method, params = {} }: Message): Promise<object> {
  switch (method) {
    case 'initialize': {
      const missing = ['protocolVersion', 'capabilities', 'clientInfo'].find((name) => !(name in params));
      if (missing !== undefined) return { error: { code: invalidParams, message: `There is no ${missing}.` } };
      const serverInfo = { name: 'plain-server', version: '1.2.3' };
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } };
    case 'tools/call': {
      const tool = tools[params.name ?? ''];
      if (tool === undefined) return { error: { code: invalidParams, message: `There is no tool ${params.name}.` } };
      const value = await tool(params.arguments ?? {});
      return { result: { content: [{ type: 'text', text: JSON.stringify(value) }] } };
    }
    default:
      return { error: { code: methodNotFound, message: 'Method not found' } };
  }
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    const said = await answer(message);
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...said })}\n`);
  })
  // Like a server of the SDK, it ends with its stdin, even with unanswered requests.
  .on('close', () => process.exit());

reportStart('plain-server');
