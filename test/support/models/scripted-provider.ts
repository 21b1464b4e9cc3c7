import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { startHttpServer, type ReceivedRequest } from '../network/http-server.ts';
import { buildAnthropicError, buildMessage, streamMessage } from './anthropic-wire.ts';
import { buildChatCompletion, buildCompatibleError, streamChatCompletion } from './compatible-wire.ts';
import { buildGenerated, streamGenerated } from './google-wire.ts';
import { buildResponse, streamResponse } from './responses-wire.ts';

/** The wire formats: Anthropic's Messages, and Chat Completions, with which the other providers are compatible. */
export type ProviderFormat = 'anthropic' | 'compatible';

/** Those in which hosts ask, OpenAI's Responses and Google's generateContent among them. */
export type HostFormat = ProviderFormat | 'responses' | 'google';

/** The answer of a model. An answer without tool calls and without a reason ends with `stop`. */
export interface ModelReply {
  text?: string;
  toolCalls?: readonly ScriptedToolCall[];
  /** Sent before the rest of the answer. Only Anthropic's format has the signature. */
  reasoning?: { text: string; signature: string };
  finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter';
  usage?: ScriptedUsage;
  /** In addition to the content type. */
  headers?: Readonly<Record<string, string>>;
}

export interface ScriptedToolCall {
  /** `call_<request>_<place>` by default. */
  id?: string;
  name: string;
  /** Only in Responses. */
  namespace?: string;
  /** A text is sent unchanged, even if it is not JSON; Anthropic's format sends it as a JSON string. */
  arguments: Readonly<Record<string, unknown>> | string;
}

/** Tokens; by default, 10 of input and 5 of output. */
export interface ScriptedUsage {
  /** Does not include cached tokens. */
  input?: number;
  output?: number;
  cacheRead?: number;
  /** Only in Anthropic's format. */
  cacheWrite?: number;
  /** Part of the output. */
  reasoning?: number;
}

/** An HTTP answer. A body other than text is sent as JSON; without a body, the format's own error is sent. */
export interface StatusReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

/**
 * - `cut`: the connection breaks in the middle of the body.
 * - `html`: a page of a proxy, with status 200.
 * - `wrong-json`: JSON that is not an answer of a model.
 * - `drip`: an endless body that gets a byte every 20 ms.
 * - `hang`: no answer at all.
 */
export interface FaultReply {
  fault: 'cut' | 'html' | 'wrong-json' | 'drip' | 'hang';
}

export type ScriptedReply = ModelReply | StatusReply | FaultReply;
export type ScriptedAnswer = ScriptedReply | ((request: ProviderRequest) => ScriptedReply);

/** A received request, with the values that scripts use. */
export interface ProviderRequest {
  /** Counted from 1 over all requests of this provider. */
  number: number;
  /** The number of the turn in the conversation, from 1: the model's answers so far, plus one. */
  turn: number;
  /** The last text of the user in the conversation. */
  userText: string;
  path: string;
  headers: ReceivedRequest['headers'];
  /** The decoded body. */
  body: Readonly<Record<string, unknown>>;
}

export interface ScriptedProvider extends AsyncDisposable {
  /** Ends in `/v1`, as the base URLs of providers do. */
  baseUrl: string;
  /** All received requests, oldest first. */
  requests: ProviderRequest[];
}

export interface ScriptedProviderOptions {
  format: HostFormat;
  /**
   * The first answer is for the first request, and so on. A function outside of an array answers all requests. A request after the last answer of
   * an array gets status 400, so that a test with too many requests fails at once.
   */
  answers: readonly ScriptedAnswer[] | ScriptedAnswer;
}

/** The model and the kind of answer are parts of the path there. */
const googlePath = /^\/v1\/models\/([^:]+):(generateContent|streamGenerateContent)(?:\?|$)/;

/**
 * Starts a provider of models on the loopback interface that answers by a script. Requests of parallel iterations arrive in any order; a
 * function that uses `turn` and `userText` answers them consistently.
 */
export async function openScriptedProvider({ format, answers }: ScriptedProviderOptions): Promise<ScriptedProvider> {
  const requests: ProviderRequest[] = [];
  const server = await startHttpServer((response, received) => {
    if (received.method !== 'POST' || !paths[format].test(received.url)) {
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

const paths: Readonly<Record<HostFormat, RegExp>> = {
  anthropic: /^\/v1\/messages(?:\?|$)/,
  compatible: /^\/v1\/chat\/completions(?:\?|$)/,
  responses: /^\/v1\/responses(?:\?|$)/,
  google: googlePath,
};
const endOfScript = { status: 400, body: 'The script of this provider has no answer left.' } as const;

function isList(answers: ScriptedProviderOptions['answers']): answers is readonly ScriptedAnswer[] {
  return Array.isArray(answers);
}

const textPartSchema = z.object({ type: z.literal('text').optional(), text: z.string() });
const messageSchema = z.looseObject({
  role: z.string().optional(),
  type: z.string().optional(),
  content: z.unknown().optional(),
});
const messagesSchema = z.array(messageSchema);
const bodySchema = z.looseObject({
  model: z.string().optional(),
  messages: messagesSchema.optional(),
  input: messagesSchema.optional(),
  contents: z.array(z.looseObject({ role: z.string(), parts: z.unknown() })).optional(),
});

function readRequest({ url, headers, body: text }: ReceivedRequest, number: number): ProviderRequest {
  const body = bodySchema.parse(JSON.parse(text));
  const contents = body.contents?.map(({ role, parts }) => ({ role, content: parts }));
  const messages: z.infer<typeof messagesSchema> = body.messages ?? body.input ?? contents ?? [];
  const userTexts = messages.filter(({ role }) => role === 'user').flatMap(({ content }) => readTexts(content));
  return {
    number,
    turn:
      1 +
      messages.filter(({ role, type }) => role === 'assistant' || role === 'model' || type?.endsWith('_call')).length,
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
  { format, request, reply }: { format: HostFormat; request: ProviderRequest; reply: ScriptedReply },
): void {
  if ('fault' in reply) return sendFault(response, reply.fault);
  if ('status' in reply) return sendStatus(response, format, reply);
  const [, modelOfPath, kind] = googlePath.exec(request.path) ?? [];
  const named = { model: modelOfPath ?? String(request.body['model']), number: request.number };
  const isStream = request.body['stream'] === true || kind === 'streamGenerateContent';
  const { answer, stream } = write(format, reply, named);
  if (isStream) {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers }).end(stream());
    return;
  }
  sendStatus(response, format, { status: 200, headers: reply.headers ?? {}, body: answer });
}

function write(format: HostFormat, reply: ModelReply, named: { model: string; number: number }) {
  switch (format) {
    case 'anthropic': {
      const answer = buildMessage(reply, named);
      return { answer, stream: () => streamMessage(answer) };
    }
    case 'compatible': {
      const answer = buildChatCompletion(reply, named);
      return { answer, stream: () => streamChatCompletion(answer) };
    }
    case 'google': {
      const answer = buildGenerated(reply, named);
      return { answer, stream: () => streamGenerated(answer) };
    }
    case 'responses': {
      const answer = buildResponse(reply, named);
      return { answer, stream: () => streamResponse(answer) };
    }
  }
}

function sendStatus(response: ServerResponse, format: HostFormat, { status, headers, body }: StatusReply): void {
  const content = body ?? buildError(format, `The script answers ${status}.`);
  const type = typeof content === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(typeof content === 'string' ? content : JSON.stringify(content));
}

function buildError(format: HostFormat, message: string): object {
  return format === 'anthropic' ? buildAnthropicError('api_error', message) : buildCompatibleError(null, message);
}

const dripEveryMs = 20;

function sendFault(response: ServerResponse, fault: FaultReply['fault']): void {
  switch (fault) {
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      // The connection breaks only after this has been sent; otherwise the whole answer would be missing.
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
