// Draws a chart of bars as an image.
import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { PNG } from 'pngjs';
import { z } from 'zod';

const width = 120;
const height = 80;

export function createChartServer(): McpServer {
  const server = new McpServer({ name: 'charts', version: '1.0.0' });
  const inputSchema = { values: z.array(z.number().min(0).max(1)).min(1).max(20) };
  server.registerTool('draw_bars', { description: 'Draws a bar for each value.', inputSchema }, ({ values }) => {
    const image = new PNG({ width, height });
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const value = values[Math.floor((x * values.length) / width)] ?? 0;
        const color = height - y <= value * height ? [46, 110, 210, 255] : [255, 255, 255, 255];
        image.data.set(color, (y * width + x) * 4);
      }
    }
    const data = PNG.sync.write(image).toString('base64');
    return { content: [{ type: 'image', data, mimeType: 'image/png' }] };
  });
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await createChartServer().connect(new StdioServerTransport());
