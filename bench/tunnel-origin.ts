// Child of the tunnel's benchmark: the server at the end of all routes. The path selects its behaviour.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const block = Buffer.alloc(65_536, 'x');
const smallAnswer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'Echo: hello' }] },
});

const server = createServer((request, response) => {
  response.on('error', () => {});
  const [, verb = '', count = '0'] = /(\w+)\/(\d+)(?:\?|$)/.exec(request.url ?? '') ?? [];
  void answer(request, response, { verb, count: Number(count) });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('disconnect', () => process.exit());
process.send?.({ port: (server.address() as AddressInfo).port });

async function answer(request: IncomingMessage, response: ServerResponse, task: { verb: string; count: number }) {
  const { verb, count } = task;
  if (verb === 'download') return sendBlocks(response, count);
  if (verb === 'events') return sendEvents(response, count);
  // Neither reads nor answers.
  if (verb === 'ignore') return request.pause();
  request.resume();
  await once(request, 'end').catch(() => {});
  if (verb === 'wait') await new Promise((resolve) => setTimeout(resolve, count));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': smallAnswer.length });
  response.end(smallAnswer);
}

/** Sends the given number of bytes in blocks of 64 KiB, as fast as the client reads. */
function sendBlocks(response: ServerResponse, bytes: number): void {
  let left = bytes;
  response.writeHead(200, { 'content-length': bytes });
  const sendMore = (): void => {
    while (left > 0 && !response.destroyed) {
      const size = Math.min(left, block.length);
      left -= size;
      if (!response.write(block.subarray(0, size))) return void response.once('drain', sendMore);
    }
    response.end();
  };
  sendMore();
}

/** Sends numbered events: the first at once, and then one every 2 ms. */
async function sendEvents(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let number = 1; number <= count && !response.destroyed; number += 1) {
    response.write(`data: ${number}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  response.end();
}
