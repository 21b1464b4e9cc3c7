/**
 * An MCP server without an SDK, so that it starts fast. Its environment selects how its process ends: on stdio, or over HTTP at the `PORT` of
 * its environment, in either era (`ERA=modern`). bundle-servers.ts bundles it into one file, which tests start.
 *
 * `END_AT=initialize` or `tools/list` ends it there with `END_WITH`, an exit code or a signal. `STARTS` is a file that counts its starts;
 * with it, `END_FROM` is the first start that ends so.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';

type Send = (text: string) => void;
interface Request {
  id?: number | string;
  method: string;
  params?: { name?: string; arguments?: Record<string, string | number> };
}

const { PORT, ERA, END_AT, END_WITH = '1', STARTS, END_FROM = '1' } = process.env;
const isModern = ERA === 'modern';
let starts = 1;
if (STARTS !== undefined) {
  appendFileSync(STARTS, '.');
  starts = readFileSync(STARTS).length;
}
/** On stdio, the first process only identifies the server. */
const firstServing = PORT === undefined ? 2 : 1;
const endsItself = starts >= Number(END_FROM);

function endWith(how: string): never {
  process.stderr.write(`about to end with ${how}\n`);
  if (/^\d+$/.test(how)) process.exit(Number(how));
  process.kill(process.pid, how);
  for (;;) Date.now();
}

const serverInfo = { name: 'crashing-server', version: '1.0.0' };
const complete = isModern ? { resultType: 'complete' } : {};
const text = (value: string) => ({ ...complete, content: [{ type: 'text', text: value }] });
const toolNames = ['echo', 'end', 'refuse'];

/**
 * The tool `end` has the argument `with`, and `when` relative to the answer: `before`, `during`, `after`, or `later`, 20 ms after. `once` ends
 * before the answer in the first process that serves calls, but in no later one. With `leaves`, a child of the process holds its output open
 * for that many milliseconds.
 */
function callTool(id: unknown, { name, arguments: args = {} }: NonNullable<Request['params']>, send: Send): void {
  const answer = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
  const how = String(args['with'] ?? '0');
  if (args['leaves'] !== undefined) {
    spawn(process.execPath, ['-e', `setTimeout(() => {}, ${args['leaves']})`], { stdio: 'inherit' });
  }
  if (name === 'echo') {
    setTimeout(() => send(`${answer(text(String(args['value'])))}\n`), Number(args['delayMs'] ?? 0));
  } else if (name === 'refuse') {
    const error = { code: -32_000, message: 'gone', data: { reason: 'server_exited', exitCode: 1 } };
    send(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  } else {
    setTimeout(
      () => {
        if (args['when'] === 'before' || (args['when'] === 'once' && starts <= firstServing)) endWith(how);
        if (args['when'] === 'once') return send(`${answer(text('alive'))}\n`);
        if (args['when'] === 'during') send(answer(text('cut')).slice(0, 20));
        else send(`${answer(text('bye'))}\n`);
        setTimeout(() => endWith(how), args['when'] === 'later' ? 20 : 0);
      },
      Number(args['delayMs'] ?? 0),
    );
  }
}

function serve({ id, method, params = {} }: Request, send: Send): void {
  if (endsItself && method === END_AT) endWith(END_WITH);
  if (id === undefined) return;
  const reply = (body: object) => send(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
  if (method === 'tools/call') return callTool(id, params, send);
  const inputSchema = { type: 'object' };
  const tools = toolNames.map((name) => ({ name, inputSchema, annotations: { readOnlyHint: true } }));
  const results: Record<string, object> = {
    'tools/list': { tools, ...(isModern ? { ttlMs: 0, cacheScope: 'private' } : {}) },
    ping: {},
    ...(isModern
      ? { 'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo } }
      : { initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } }),
  };
  const result = results[method];
  reply(
    result === undefined
      ? { error: { code: -32_601, message: 'Method not found' } }
      : { result: { ...complete, ...result } },
  );
}

function serveHttp(response: ServerResponse, body: string): void {
  const request = JSON.parse(body) as Request;
  if (request.id === undefined) response.writeHead(202).end();
  serve(request, (sent) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
    if (sent.endsWith('\n')) response.end(sent);
    else response.write(sent);
  });
}

process.stderr.write(`crashing-server ${process.pid} is up\n`);
if (PORT === undefined) {
  createInterface({ input: process.stdin })
    .on('line', (line) => serve(JSON.parse(line) as Request, (sent) => process.stdout.write(sent)))
    .on('close', () => process.exit());
} else {
  const { createServer } = await import('node:http');
  createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    return void request.on('end', () => serveHttp(response, body));
  }).listen(Number(PORT), '127.0.0.1');
}
