/** One JSON-RPC message, as it is on the wire. */
export type Message = Record<string, unknown>;

/** The way from a shim to the gate: stdout, or the response to one HTTP request. */
export interface Channel {
  send(message: Message): void;
  /** Writes text where a message belongs. */
  sendText(text: string): void;
  /** Writes the beginning of a message, and never the rest. */
  sendPart(text: string): void;
  /** Sends a request to the client and resolves with the response. */
  ask(method: string, params: Message): Promise<Message>;
  writeStderr(text: string): void;
  /** Ends the process once everything is written. */
  exit(code: number): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Stops talking for good while the process goes on. */
  closeOutput(): Promise<void>;
}

/** How a shim writes messages, where it is not the usual way. */
export interface Framing {
  lineEnd?: string;
  /** Cuts a message within a character of several bytes, and sends the halves one after the other. */
  splitsCharacters?: boolean;
  startsWith?: string;
  /** Text before each message, that is none. */
  noise?: string;
}

export interface Fault {
  /** The requests at which it happens: `call` means calls of the tool in the shim's arguments. */
  at: 'start' | 'initialize' | 'tools/list' | 'call';
  framing?: Framing;
  onStart?: (channel: Pick<Channel, 'writeStderr' | 'exit'>) => unknown;
  /** Acts on a request instead of the server. */
  onRequest?: (request: Message, channel: Channel) => unknown;
  /** Acts instead of passing on the response of the server. Both transports end the exchange once it has resolved. */
  onResponse?: (response: Message, channel: Channel) => unknown;
  /** Whether the HTTP exchange stays open, as that of a server that is still at work. */
  staysOpen?: boolean;
}

/** What a shim writes to stderr before it ends its process. */
export const lastWords = 'The shim fails as its arguments require.';

/** How long a slow answer takes: longer than any other, and shorter than the time-out of a case. */
const slowMs = 300;

/** How long an answer takes that misses the time-out of its case, in milliseconds. See `shortTimeout`. */
const tooLateMs = 2500;

const megabyte = 1024 * 1024;

const sleep = (ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  return promise;
};

const notify = (method: string, params: Message): Message => ({ jsonrpc: '2.0', method, params });

const replaceResult = (change: (result: Message) => unknown): Pick<Fault, 'onResponse'> => ({
  onResponse: (response, channel) => channel.send({ ...response, result: change(response['result'] as Message) }),
});

const sendBefore = (count: number, message: Message): Pick<Fault, 'onResponse'> => ({
  onResponse: (response, channel) => {
    for (let sent = 0; sent < count; sent += 1) channel.send(message);
    channel.send(response);
  },
});

const askBefore = (method: string, params: Message): Pick<Fault, 'onResponse'> => ({
  onResponse: async (response, channel) => {
    await channel.ask(method, params);
    channel.send(response);
  },
});

const replaceError = (error: Message): Pick<Fault, 'onResponse'> => ({
  onResponse: ({ id }, channel) => channel.send({ jsonrpc: '2.0', id, error }),
});

const exit = (code: number) => (_: Message, channel: Channel) => {
  channel.writeStderr(`${lastWords}\n`);
  return channel.exit(code);
};

const samplingRequest = { messages: [{ role: 'user', content: { type: 'text', text: 'Who?' } }], maxTokens: 5 };

/** What a shim can do to a conversation, on stdio and over HTTP alike. */
export const faults = {
  'answers-slowly': {
    at: 'call',
    onResponse: async (response, channel) => {
      await sleep(slowMs);
      channel.send(response);
    },
  },
  'answers-twice': {
    at: 'call',
    onResponse: (response, channel) => {
      channel.send(response);
      channel.send(response);
    },
  },
  'prints-banner': { at: 'start', framing: { startsWith: 'Welcome to the server!\nListening for requests.\n' } },
  'prints-between-messages': { at: 'start', framing: { noise: '[info] a request came in' } },
  'ends-lines-with-crlf': { at: 'start', framing: { lineEnd: '\r\n' } },
  'splits-characters': { at: 'start', framing: { splitsCharacters: true } },
  'answers-20-megabytes': {
    at: 'call',
    ...replaceResult((result) => ({
      ...result,
      content: [...(result['content'] as unknown[]), { type: 'text', text: 'x'.repeat(20 * megabyte) }],
    })),
  },
  'floods-log-notifications': {
    at: 'call',
    ...sendBefore(2000, notify('notifications/message', { level: 'info', data: 'still at work' })),
  },
  'reports-unasked-progress': {
    at: 'call',
    ...sendBefore(20, notify('notifications/progress', { progressToken: 'never-given', progress: 1 })),
  },
  'announces-changed-tools': { at: 'call', ...sendBefore(3, notify('notifications/tools/list_changed', {})) },
  'pings-the-client': { at: 'call', ...askBefore('ping', {}) },
  'asks-for-sampling': { at: 'call', ...askBefore('sampling/createMessage', samplingRequest) },
  'floods-stderr': {
    at: 'call',
    onResponse: (response, channel) => {
      for (let line = 0; line < 5000; line += 1) channel.writeStderr(`${'e'.repeat(1023)}\n`);
      channel.send(response);
    },
  },
  'lists-a-tool-twice': {
    at: 'tools/list',
    ...replaceResult((result) => {
      const tools = result['tools'] as unknown[];
      return { ...result, tools: [...tools, ...tools.slice(0, 1)] };
    }),
  },
  'declares-unknown-capability': {
    at: 'initialize',
    ...replaceResult((result) => ({
      ...result,
      capabilities: { ...(result['capabilities'] as Message), teleportation: { range: 5 } },
    })),
  },
  'exits-0-after-answer': {
    at: 'call',
    onResponse: async (response, channel) => {
      channel.send(response);
      await sleep(50);
      await channel.exit(0);
    },
  },
  'answers-with-string-id': {
    at: 'call',
    onResponse: (response, channel) => channel.send({ ...response, id: String(response['id']) }),
  },

  'answers-is-error': {
    at: 'call',
    ...replaceResult(() => ({ content: [{ type: 'text', text: 'Disk full.' }], isError: true })),
  },
  'answers-json-rpc-error': { at: 'call', ...replaceError({ code: -32_603, message: 'Internal error' }) },
  'answers-error-without-message': { at: 'call', ...replaceError({ code: -32_603 }) },
  'answers-null': { at: 'call', ...replaceResult(() => null) },
  'answers-without-content': { at: 'call', ...replaceResult(() => ({})) },
  'answers-unknown-content': { at: 'call', ...replaceResult(() => ({ content: [{ type: 'hologram', data: '' }] })) },
  'answers-wrong-id': {
    at: 'call',
    onResponse: (response, channel) => channel.send({ ...response, id: 987_654 }),
  },
  'answers-malformed-json': {
    at: 'call',
    onResponse: (response, channel) => channel.sendText(JSON.stringify(response).slice(0, -1)),
  },
  'answers-too-late': {
    at: 'call',
    onResponse: async (response, channel) => {
      await sleep(tooLateMs);
      channel.send(response);
    },
  },
  'never-answers': { at: 'call', staysOpen: true, onRequest: () => {} },
  'breaks-its-output-schema': {
    at: 'call',
    ...replaceResult((result) => ({ ...result, structuredContent: { mended: 'not at all' } })),
  },

  'exits-mid-answer': {
    at: 'call',
    onResponse: (response, channel) => {
      const text = JSON.stringify(response);
      channel.sendPart(text.slice(0, text.length / 2));
      return exit(1)(response, channel);
    },
  },
  'exits-1-under-call': { at: 'call', onRequest: exit(1) },
  'exits-0-under-call': { at: 'call', onRequest: exit(0) },
  'is-killed-under-call': { at: 'call', onRequest: (_, channel) => channel.kill('SIGKILL') },
  'segfaults-under-call': { at: 'call', onRequest: (_, channel) => channel.kill('SIGSEGV') },
  'closes-its-output': { at: 'call', onRequest: (_, channel) => channel.closeOutput() },

  'hangs-at-initialize': { at: 'initialize', staysOpen: true, onRequest: () => {} },
  'exits-at-start': {
    at: 'start',
    onStart: (channel) => {
      channel.writeStderr(`${lastWords}\n`);
      return channel.exit(1);
    },
  },
  'speaks-unknown-version': {
    at: 'initialize',
    ...replaceResult((result) => ({ ...result, protocolVersion: '1999-12-31', supportedVersions: ['1999-12-31'] })),
  },
  'starts-with-byte-order-mark': { at: 'start', framing: { startsWith: '\uFEFF' } },
  'fails-tools-list': { at: 'tools/list', ...replaceError({ code: -32_603, message: 'No tools today' }) },
  'exits-in-tools-list': { at: 'tools/list', onRequest: exit(1) },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** Reads the name of a fault from the arguments of a shim. */
export function findFault(name: string): Fault {
  if (!Object.hasOwn(faults, name)) throw new Error(`There is no fault called ${name}.`);
  return faults[name as FaultName];
}

/** The schema that `breaks-its-output-schema` adds to the tool in `tools/list`. */
const brokenSchema = { type: 'object', properties: { mended: { type: 'boolean' } }, required: ['mended'] };

/** Whether a fault happens at a request. A server that speaks both eras is asked `server/discover` instead of `initialize`. */
export function isFaultyRequest({ at }: Fault, request: Message, targetTool: string): boolean {
  const { method } = request;
  if (request['id'] === undefined || typeof method !== 'string') return false;
  if (at === 'call') return method === 'tools/call' && (request['params'] as Message)['name'] === targetTool;
  return method === at || (at === 'initialize' && method === 'server/discover');
}

/** Adds the schema that the tool then breaks to the answer to `tools/list`. */
export function declareBrokenSchema(response: Message, targetTool: string): Message {
  const result = response['result'] as Message;
  const tools = (result['tools'] as Message[]).map((tool) =>
    tool['name'] === targetTool ? { ...tool, outputSchema: brokenSchema } : tool,
  );
  return { ...response, result: { ...result, tools } };
}
