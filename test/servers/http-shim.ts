import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  type Conversation,
  createConversation,
  PacedWriter,
  pickByFault,
  Questions,
  readMessage,
  splitWithinCharacter,
} from './conversation.ts';
import { type Channel, type Fault, findFault, type Message } from './faults.ts';
import { type HttpExchange, httpFaults, isHttpFaultName } from './http-faults.ts';

export interface HttpShim extends AsyncDisposable {
  url: string;
}

export interface HttpShimOptions {
  /** The MCP endpoint of the real server. */
  upstream: string;
  /** Of several, each call of the target tool names its own. */
  faultNames: readonly string[];
  targetTool: string;
  /** 0 for a free one. */
  port: number;
}

/** Headers that belong to a connection, or to a body that is written anew. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'keep-alive',
]);

/** Lets all messages pass, where only HTTP has the fault, and where a message names none. */
const harmless: Fault = { at: 'call' };

/** Puts a fault between an HTTP server and the gate: a reverse proxy on the loopback interface. */
export async function startHttpShim({ upstream, faultNames, targetTool, port }: HttpShimOptions): Promise<HttpShim> {
  const faults = new Map(
    faultNames.map((name) => [
      name,
      isHttpFaultName(name) ? { fault: harmless, act: httpFaults[name] } : { fault: findFault(name), act: null },
    ]),
  );
  const questions = new Questions();
  const sessions = new Set<string>();
  let hasLostSession = false;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {});
    const body = await text(request);
    const message = body === '' ? null : readMessage(body);
    if (message !== null && questions.take(message)) {
      response.writeHead(202).end();
      return;
    }
    const { picked, forwarded } = pickByFault(faults, message);
    const { fault, act: httpFault } = picked ?? { fault: harmless, act: null };
    const left = new AbortController();
    response.once('close', () => left.abort());
    const ask = () =>
      fetch(upstream, {
        method: request.method ?? 'GET',
        headers: passOn(request.headers),
        body: body === '' ? null : forwarded === message ? body : JSON.stringify(forwarded),
        signal: left.signal,
      });
    const session = request.headers['mcp-session-id'];
    if (httpFault !== null) {
      const isTargetCall =
        message?.['method'] === 'tools/call' && (message['params'] as Message)['name'] === targetTool;
      const collect = async () => await collectMessages(await ask());
      const loseSession = () => {
        if (!hasLostSession) sessions.delete(String(session));
        hasLostSession = true;
      };
      const exchange: HttpExchange = { request, response, message, isTargetCall, loseSession, collect };
      if ((await httpFault(exchange)) === 'handled') return;
    }
    if (typeof session === 'string' && !sessions.has(session)) {
      // That of another process, which is gone.
      const error = { code: -32_001, message: 'Session not found' };
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      return;
    }
    // Ids are unique within one client, and here are many.
    const conversation = createConversation(fault, targetTool);
    const passage = forwarded === null ? 'pass' : conversation.judgeRequest(forwarded);
    if (passage === 'pass') {
      const answer = await ask();
      const given = answer.headers.get('mcp-session-id');
      if (given !== null) sessions.add(given);
      await relay(answer, response, { fault, conversation });
      return;
    }
    const channel = openChannel(response, { fault, headers: null });
    await passage(channel);
    if (fault.staysOpen !== true) await channel.end();
  };

  const relay = async (
    answer: Response,
    response: ServerResponse,
    { fault, conversation }: { fault: Fault; conversation: Conversation },
  ) => {
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true;
    const isJson = answer.headers.get('content-type')?.includes('application/json') === true;
    if (!answer.ok || (!isStream && !isJson)) {
      response.writeHead(answer.status, passBack(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
      return;
    }
    const channel = openChannel(response, { fault, headers: answer.headers });
    const work: unknown[] = [];
    for await (const message of isStream ? readEvents(answer) : [JSON.parse(await answer.text()) as Message]) {
      const passage = conversation.judgeAnswer(message);
      if (passage === 'pass') channel.send(message);
      else work.push(passage(channel));
    }
    await Promise.all(work);
    await channel.end();
  };

  const openChannel = (response: ServerResponse, options: { fault: Fault; headers: Headers | null }) =>
    openEventStream(response, { ...options, questions, server });

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** The channel to the gate over HTTP: an event stream in response to one request. */
function openEventStream(
  response: ServerResponse,
  {
    headers,
    fault,
    questions,
    server,
  }: { headers: Headers | null; fault: Fault; questions: Questions; server: Server },
): Channel & { end(): Promise<void> } {
  const { lineEnd = '\n', splitsCharacters = false, startsWith = '', noise } = fault.framing ?? {};
  const output = new PacedWriter((bytes) => response.write(bytes));
  response.writeHead(200, { ...(headers !== null && passBack(headers)), 'content-type': 'text/event-stream' });
  response.flushHeaders();
  // In an event stream a line that begins with a colon is a comment.
  const comment = startsWith.replaceAll(/^(?=.)/gm, startsWith === '\uFEFF' ? '' : ': ');
  if (comment !== '') output.write([Buffer.from(comment)]);
  const sendText = (data: string) => {
    const noiseLines = noise === undefined ? [] : [`: ${noise}`, 'event: log', `data: ${noise}`, ''];
    const lines = [...noiseLines, 'event: message', `data: ${data}`, '', ''];
    const bytes = Buffer.from(lines.join(lineEnd));
    output.write(splitsCharacters ? splitWithinCharacter(bytes) : [bytes]);
  };
  const channel: Channel = {
    send: (message) => sendText(JSON.stringify(message)),
    sendText,
    sendPart: (data) => output.write([Buffer.from(`event: message\ndata: ${data}`)]),
    ask: async (method, params) => {
      const { request, answered } = questions.ask(method, params);
      channel.send(request);
      return await answered;
    },
    writeStderr: (line) => void process.stderr.write(line),
    exit: async (code) => {
      await output.drain();
      process.exit(code);
    },
    kill: async (signal) => {
      await output.drain();
      process.kill(process.pid, signal);
    },
    closeOutput: async () => {
      await output.drain();
      server.close();
      server.closeAllConnections();
    },
  };
  return {
    ...channel,
    end: async () => {
      await output.drain();
      response.end();
    },
  };
}

/** Reads the messages of an event stream. Servers write each on one line. */
async function* readEvents(answer: Response): AsyncGenerator<Message> {
  if (answer.body === null) return;
  let rest = '';
  for await (const chunk of Readable.fromWeb(answer.body as never).setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = line.startsWith('data:') ? readMessage(line.slice('data:'.length)) : null;
      if (message !== null) yield message;
    }
  }
}

async function collectMessages(answer: Response): Promise<Message[]> {
  if (answer.headers.get('content-type')?.includes('text/event-stream') !== true) {
    return [(await answer.json()) as Message];
  }
  const messages: Message[] = [];
  for await (const message of readEvents(answer)) messages.push(message);
  return messages;
}

function passOn(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !ownHeaders.has(name) ? [[name, value]] : [],
    ),
  );
}

function passBack(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => !ownHeaders.has(name) && name !== 'content-encoding' && name !== 'date'),
  );
}
