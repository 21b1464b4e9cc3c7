import { isRecord, type JsonObject, listRecords, tryParseJson } from '../../base/json.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import type { ProviderRequest, ProviderResponse, ReturnedResult, Wire } from '../driver.ts';

type Content = ModelAnswer['content'][number];
type FinishReason = ModelAnswer['finishReason'];

const stopReasons: ReadonlyArray<readonly [string, FinishReason['unified']]> = [
  ['end_turn', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['refusal', 'content-filter'],
  ['stop_sequence', 'stop'],
];

/** Anthropic's Messages. */
export const anthropicMessages: Wire = {
  id: 'anthropic-messages',
  toProviderPath: (path) => (/^\/v1\/messages(?:\?|$)/.test(path) ? path.slice('/v1'.length) : null),
  readModel: ({ body }) => (isRecord(body) && typeof body['model'] === 'string' ? body['model'] : null),
  readTools: ({ body }) => {
    const tools = listRecords(isRecord(body) ? body['tools'] : null);
    return tools.flatMap(({ name, description, input_schema: schema }) => {
      if (typeof name !== 'string') return [];
      const described = typeof description === 'string' ? description : null;
      return [{ name, description: described, schema: isRecord(schema) ? schema : {} }];
    });
  },
  readTexts: ({ body }) => {
    const { system, messages } = isRecord(body) ? body : {};
    const said = listRecords(messages);
    return [...readTexts(system), ...said.flatMap(({ content }) => readTexts(content))];
  },
  readResults: (request) =>
    readLastUserBlocks(request).flatMap((block): ReturnedResult[] => {
      const { type, tool_use_id: callId, content, is_error: isError } = block;
      if (type !== 'tool_result' || typeof callId !== 'string') return [];
      return [{ callId, output: { content: content ?? [], ...(isError === true && { isError: true }) } }];
    }),
  readAnswer: ({ contentType, body }) => {
    const message = /event-stream/.test(contentType) ? joinEvents(body) : tryParseJson(body);
    if (!isRecord(message) || !Array.isArray(message['content'])) throw new Error('The answer is no message.');
    const raw = typeof message['stop_reason'] === 'string' ? message['stop_reason'] : null;
    if (raw === null) throw new Error('The answer has no stop reason.');
    const unified = stopReasons.find(([name]) => name === raw)?.[1] ?? 'other';
    const usage = isRecord(message['usage']) ? message['usage'] : {};
    return {
      content: message['content'].filter(isRecord).map(readBlock),
      finishReason: { unified, raw },
      usage: readUsage(usage),
    };
  },
  printAnswer: (answer, { body }) => {
    const request = isRecord(body) ? body : {};
    const message = printMessage(answer, readText(request['model']));
    if (request['stream'] !== true) {
      return { status: 200, contentType: 'application/json', body: JSON.stringify(message) };
    }
    return { status: 200, contentType: 'text/event-stream', body: printEvents(message) };
  },
  printError: (status, message): ProviderResponse => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
  }),
};

function readTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content
    .filter(isRecord)
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
}

/** Returns the blocks of the messages of the user after the latest answer. */
function readLastUserBlocks({ body }: ProviderRequest): JsonObject[] {
  const messages = listRecords(isRecord(body) ? body['messages'] : null);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap(({ content }) => listRecords(content));
}

/** Returns a text; an empty one for anything else. */
function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readBlock(block: JsonObject): Content {
  const { type } = block;
  if (type === 'text') return { type: 'text', text: readText(block['text']) };
  if (type === 'tool_use') {
    const input = JSON.stringify(block['input'] ?? {});
    return { type: 'tool-call', toolCallId: String(block['id']), toolName: String(block['name']), input };
  }
  if (type === 'thinking') {
    const signature = readText(block['signature']);
    const providerMetadata = { anthropic: { signature } };
    return { type: 'reasoning', text: readText(block['thinking']), providerMetadata };
  }
  // Keeps what only this wire knows, so that a replay can send it as it was.
  const kept: { [name: string]: string } = { block: JSON.stringify(block) };
  return { type: 'custom', kind: 'anthropic.block', providerMetadata: { anthropic: kept } };
}

function printBlock(part: Content): JsonObject[] {
  const own = 'providerMetadata' in part ? (part.providerMetadata?.['anthropic'] ?? {}) : {};
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'tool-call':
      return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: tryParseJson(part.input) ?? {} }];
    case 'reasoning':
      return [{ type: 'thinking', thinking: part.text, signature: own['signature'] ?? '' }];
    case 'custom': {
      const block = typeof own['block'] === 'string' ? tryParseJson(own['block']) : undefined;
      return isRecord(block) ? [block] : [];
    }
    default:
      return [];
  }
}

function readUsage(usage: JsonObject): ModelAnswer['usage'] {
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : undefined);
  const [noCache, cacheRead, cacheWrite] = [
    count('input_tokens'),
    count('cache_read_input_tokens'),
    count('cache_creation_input_tokens'),
  ];
  const total = noCache === undefined ? undefined : noCache + (cacheRead ?? 0) + (cacheWrite ?? 0);
  const output = count('output_tokens');
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  };
}

function printMessage({ content, finishReason, usage }: ModelAnswer, model: string): JsonObject {
  const { raw, unified } = finishReason;
  const { noCache, total, cacheRead, cacheWrite } = usage.inputTokens;
  return {
    id: 'msg_recorded',
    type: 'message',
    role: 'assistant',
    model,
    content: content.flatMap(printBlock),
    stop_reason: raw ?? stopReasons.find(([, name]) => name === unified)?.[0] ?? 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: noCache ?? total ?? 0,
      cache_read_input_tokens: cacheRead ?? 0,
      cache_creation_input_tokens: cacheWrite ?? 0,
      output_tokens: usage.outputTokens.total ?? 0,
    },
  };
}

/** Prints a message as a stream, one delta for each block. */
function printEvents(message: JsonObject): string {
  const { content, stop_reason: stopReason, usage, ...start } = message;
  const event = (type: string, data: JsonObject) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const blocks = (Array.isArray(content) ? content : []).flatMap((block: JsonObject, index) => {
    const { started, deltas } = splitBlock(block);
    return [
      event('content_block_start', { index, content_block: started }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
  });
  return [
    event('message_start', { message: { ...start, content: [], stop_reason: null, usage } }),
    ...blocks,
    event('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage }),
    event('message_stop', {}),
  ].join('');
}

function splitBlock(block: JsonObject): { started: JsonObject; deltas: JsonObject[] } {
  switch (block['type']) {
    case 'text':
      return { started: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: block['text'] }] };
    case 'tool_use': {
      const json = JSON.stringify(block['input']);
      return { started: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] };
    }
    case 'thinking':
      return {
        started: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block['thinking'] },
          { type: 'signature_delta', signature: block['signature'] },
        ],
      };
    default:
      return { started: block, deltas: [] };
  }
}

/** Joins the events of a stream to the message that they build. Undefined unless the stream is complete. */
function joinEvents(text: string): JsonObject | undefined {
  let message: JsonObject = {};
  const blocks: JsonObject[] = [];
  const inputs = new Map<number, string>();
  let isComplete = false;
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith('data:')) continue;
    const event = tryParseJson(line.slice('data:'.length).trim());
    if (!isRecord(event)) continue;
    const { type, index } = event;
    const at = typeof index === 'number' ? index : -1;
    if (type === 'error') throw new Error(`The stream ended with an error: ${JSON.stringify(event['error'])}`);
    if (type === 'message_start' && isRecord(event['message'])) message = event['message'];
    if (type === 'content_block_start' && isRecord(event['content_block'])) blocks[at] = { ...event['content_block'] };
    if (type === 'content_block_delta' && isRecord(event['delta'])) applyDelta(blocks[at], event['delta'], inputs, at);
    if (type === 'message_delta') message = joinMessage(message, event);
    if (type === 'message_stop') isComplete = true;
  }
  for (const [at, json] of inputs) {
    const block = blocks[at];
    if (block !== undefined) block['input'] = tryParseJson(json === '' ? '{}' : json) ?? {};
  }
  return isComplete ? { ...message, content: blocks.filter(isRecord) } : undefined;
}

function joinMessage(message: JsonObject, { delta, usage }: JsonObject): JsonObject {
  const counted = isRecord(usage)
    ? Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null))
    : {};
  const before = isRecord(message['usage']) ? message['usage'] : {};
  return { ...message, ...(isRecord(delta) ? delta : {}), usage: { ...before, ...counted } };
}

function applyDelta(block: JsonObject | undefined, delta: JsonObject, inputs: Map<number, string>, at: number): void {
  if (block === undefined) return;
  const extend = (name: string) => {
    block[name] = `${readText(block[name])}${readText(delta[name])}`;
  };
  if (delta['type'] === 'text_delta') extend('text');
  if (delta['type'] === 'thinking_delta') extend('thinking');
  if (delta['type'] === 'signature_delta') extend('signature');
  if (delta['type'] === 'input_json_delta') inputs.set(at, `${inputs.get(at) ?? ''}${readText(delta['partial_json'])}`);
}
