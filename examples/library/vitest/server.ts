// A shop that refunds invoices.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const refundable = new Set(['inv_123']);
const server = new McpServer({ name: 'shop', version: '1.0.0' });
const inputSchema = { id: z.string() };
const say = (value: object) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
server.registerTool('lookup_invoice', { description: 'Looks an invoice up.', inputSchema }, ({ id }) =>
  say({ id, refundable: refundable.has(id) }),
);
server.registerTool('create_refund', { description: 'Refunds an invoice.', inputSchema }, ({ id }) =>
  say({ id, status: refundable.delete(id) ? 'approved' : 'denied' }),
);
await server.connect(new StdioServerTransport());
