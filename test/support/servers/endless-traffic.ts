import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { answerContent, type RawCall, type RawTool } from './raw-mcp-server.ts';

const jsonHeaders = { 'content-type': 'application/json' };
const streamHeaders = { 'content-type': 'text/event-stream' };

/** Writes as long as the client listens, as fast as the client reads, and at most 2 GiB. */
async function writeForever(response: ServerResponse, chunk: string | Buffer): Promise<void> {
  const closed = new Promise<void>((resolve) => void response.once('close', resolve));
  for (let bytes = 0; !response.destroyed && bytes < 2 ** 31; bytes += chunk.length) {
    if (response.write(chunk)) await sleep(0);
    else await Promise.race([closed, new Promise<void>((resolve) => void response.once('drain', resolve))]);
  }
  response.destroy();
}

const endless =
  (headers: Record<string, string>, begin: string, chunk: string | Buffer): RawCall =>
  async (response) => {
    response.writeHead(200, headers);
    response.write(begin);
    await writeForever(response, chunk);
  };

const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

/** One member of a gzip file; a file may have any number of members. */
const compressedBlanks = gzipSync(' '.repeat(1024 * 1024));

/** Tools that each exceed one limit of an iteration, with the error of their case. */
export const excessiveTools: Record<string, RawTool & { error: RegExp }> = {
  'endless-body': {
    call: endless(jsonHeaders, '{"jsonrpc":"2.0","id":1,"result":{"text":"', 'x'.repeat(64 * 1024)),
    error: /^The server sent more than 64 MiB in \d+ responses, the limit for one iteration\.$/,
  },
  'compressed-body': {
    call: endless({ ...jsonHeaders, 'content-encoding': 'gzip' }, '', compressedBlanks),
    error: /^The server sent more than 64 MiB in \d+ responses/,
  },
  'endless-line': {
    call: endless(streamHeaders, 'data: "', 'x'.repeat(64 * 1024)),
    error: /^The server sent more than 64 MiB in \d+ responses/,
  },
  'endless-error': {
    call: async (response) => {
      response.writeHead(500, { 'content-type': 'text/html' });
      await writeForever(response, '<p>'.repeat(20_000));
    },
    error: /^The server sent more than 64 MiB in \d+ responses/,
  },
  'endless-events': {
    call: endless(streamHeaders, '', event({ method: 'notifications/message', params: { level: 'info' } }).repeat(500)),
    error: /^The server sent more than 10000 messages, the limit for one iteration\.$/,
  },
  'endless-requests': {
    call: endless(streamHeaders, '', event({ id: 1, method: 'ping' }).repeat(100)),
    error:
      /^The server (?:sent more than 10000 messages|caused more than 2000 requests), the limit for one iteration\.$/,
  },
  'large-batch': {
    call: (response) => {
      const item = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}';
      response.writeHead(200, jsonHeaders).end(`[${`${item},`.repeat(200_000)}${item}]`);
    },
    error: /^The server sent more than 10000 messages/,
  },
  'many-values': {
    call: answerContent(`{"values":[${'[],'.repeat(8_000_000)}[]]}`),
    error: /^The server sent a message of more than 100000 arrays and objects, the limit for one iteration\.$/,
  },
  'deep-result': {
    call: answerContent(`{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
    error: /^The server sent JSON that is nested deeper than 1000 levels, the limit for one iteration\.$/,
  },
};

/** Tools that stay within all limits. */
export const moderateTools: Record<string, RawTool> = {
  healthy: { call: answerContent('{"n":1}') },
  large: { call: answerContent(`{"text":"${'x'.repeat(20 * 1024 * 1024)}","numbers":[${'1,'.repeat(500_000)}1]}`) },
};
