import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { startHttpServer, type ReceivedRequest } from '../network/http-server.ts';
import { buildAnthropicError, buildMessage } from './anthropic-wire.ts';
import { buildChatCompletion, buildCompatibleError } from './compatible-wire.ts';

/** The wire formats: Anthropic's Messages, and Chat Completions, which the other providers are compatible with. */
export type ProviderFormat = 'anthropic' | 'compatible';

/** What a model answers. An answer that calls no tool and gives no reason ends with `stop`. */
export interface ModelReply {
  text?: string;
  toolCalls?: readonly ScriptedToolCall[];
  /** Sent before the rest of the answer; the signature exists in Anthropic's format only. */
  reasoning?: { text: string; signature: string };
  finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter';
  usage?: ScriptedUsage;
  /** Next to the content type. */
  headers?: Readonly<Record<string, string>>;
}

export interface ScriptedToolCall {
  /** `call_<request>_<place>` unless given. */
  id?: string;
  name: string;
  /** A text is sent as it is, even if it is no JSON; Anthropic's format sends it as a JSON string. */
  arguments: Readonly<Record<string, unknown>> | string;
}

/** Tokens; 10 of input and 5 of output unless given. */
export interface ScriptedUsage {
  /** Cached ones are not among them. */
  input?: number;
  output?: number;
  cacheRead?: number;
  /** Exists in Anthropic's format only. */
  cacheWrite?: number;
  /** Part of the output. */
  reasoning?: number;
}

/** An HTTP answer. A body that is no text is sent as JSON; without one, the format's own error is sent. */
export interface StatusReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

/**
 * - `cut`: the connection breaks in the middle of the body.
 * - `html`: a page of a proxy, with status 200.
 * - `wrong-json`: JSON that is no answer of a model.
 * - `drip`: a body that gains a byte every 20 ms and never ends.
 * - `hang`: no answer at all.
 */
export interface FaultReply {
  fault: 'cut' | 'html' | 'wrong-json' | 'drip' | 'hang';
}

export type ScriptedReply = ModelReply | StatusReply | FaultReply;
export type ScriptedAnswer = ScriptedReply | ((request: ProviderRequest) => ScriptedReply);

/** A request as it came, and what scripts ask of it. */
export interface ProviderRequest {
  /** Counted from 1 over all requests of this provider. */
  number: number;
  /** Counted from 1 within the conversation: the answers of the model in it, and one. */
  turn: number;
  /** The last text that a user said in it. */
  userText: string;
  path: string;
  headers: ReceivedRequest['headers'];
  /** The body, decoded. */
  body: Readonly<Record<string, unknown>>;
}

export interface ScriptedProvider extends AsyncDisposable {
  /** Ends in `/v1`, as the base URLs of providers do. */
  baseUrl: string;
  /** Everything received so far, oldest first. */
  requests: ProviderRequest[];
}

export interface ScriptedProviderOptions {
  format: ProviderFormat;
  /**
   * The first answers the first request, and so on. A function answers each request unless it stands in an array. A request after
   * the last answer of an array gets status 400, so that a test which asks too often fails at once.
   */
  answers: readonly ScriptedAnswer[] | ScriptedAnswer;
}

/**
 * Starts a provider of models on the loopback interface, which answers by a script. Requests of parallel iterations come in any order; a
 * function that looks at `turn` and `userText` answers them alike.
 */
export async function openScriptedProvider({ format, answers }: ScriptedProviderOptions): Promise<ScriptedProvider> {
  const requests: ProviderRequest[] = [];
  const server = await startHttpServer((response, received) => {
    if (received.method !== 'POST' || received.url !== paths[format]) {
      sendStatus(response, format, { status: 404, body: buildError(format, `No route ${received.url}.`) });
      return;
    }
    const request = readRequest(received, requests.length + 1);
    requests.push(request);
    const scripted = isList(answers) ? answers[request.number - 1] : answers;
    const reply = typeof scripted === 'function' ? scripted(request) : scripted;
    sendReply(response, { format, request, reply: reply ?? endOfScript });
  });
  return {
    baseUrl: `${server.origin}/v1`,
    requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const paths = { anthropic: '/v1/messages', compatible: '/v1/chat/completions' } as const;
const endOfScript = { status: 400, body: 'The script of this provider has no answer left.' } as const;

function isList(answers: ScriptedProviderOptions['answers']): answers is readonly ScriptedAnswer[] {
  return Array.isArray(answers);
}

const textPartSchema = z.object({ type: z.literal('text'), text: z.string() });
const messageSchema = z.looseObject({ role: z.string(), content: z.unknown() });
const bodySchema = z.looseObject({ model: z.string(), messages: z.array(messageSchema) });

function readRequest({ url, headers, body: text }: ReceivedRequest, number: number): ProviderRequest {
  const body = bodySchema.parse(JSON.parse(text));
  const userTexts = body.messages.filter(({ role }) => role === 'user').flatMap(({ content }) => readTexts(content));
  return {
    number,
    turn: 1 + body.messages.filter(({ role }) => role === 'assistant').length,
    userText: userTexts.at(-1) ?? '',
    path: url,
    headers,
    body,
  };
}

function readTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => textPartSchema.safeParse(part).data?.text ?? []);
}

function sendReply(
  response: ServerResponse,
  { format, request, reply }: { format: ProviderFormat; request: ProviderRequest; reply: ScriptedReply },
): void {
  if ('fault' in reply) return sendFault(response, reply.fault);
  if ('status' in reply) return sendStatus(response, format, reply);
  const model = String(request.body['model']);
  const answer =
    format === 'anthropic'
      ? buildMessage(reply, { model, number: request.number })
      : buildChatCompletion(reply, { model, number: request.number });
  sendStatus(response, format, { status: 200, headers: reply.headers ?? {}, body: answer });
}

function sendStatus(response: ServerResponse, format: ProviderFormat, { status, headers, body }: StatusReply): void {
  const content = body ?? buildError(format, `The script answers ${status}.`);
  const type = typeof content === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(typeof content === 'string' ? content : JSON.stringify(content));
}

function buildError(format: ProviderFormat, message: string): object {
  return format === 'anthropic' ? buildAnthropicError('api_error', message) : buildCompatibleError(null, message);
}

const dripEveryMs = 20;

function sendFault(response: ServerResponse, fault: FaultReply['fault']): void {
  switch (fault) {
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      // Only once this has been sent: else the answer is missing as a whole.
      response.write('{"id":"msg_1",', () => response.destroy());
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please sign in.</body></html>');
      return;
    case 'wrong-json':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"result":"ok"}');
      return;
    case 'drip': {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), dripEveryMs);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'hang':
      return;
  }
}
