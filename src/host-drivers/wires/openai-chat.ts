import { isRecord, type JsonObject, listRecords, tryParseJson } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import type { ProviderRequest, ProviderResponse, Wire } from '../driver.ts';
import {
  printEventStream,
  printOpenAiError,
  readContentTexts,
  readEventStream,
  readOpenAiUsage,
} from './openai-parts.ts';

type Content = ModelAnswer['content'][number];
type FinishReason = ModelAnswer['finishReason'];

const finishReasons: ReadonlyArray<readonly [string, FinishReason['unified']]> = [
  ['stop', 'stop'],
  ['tool_calls', 'tool-calls'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
];

/** Chat Completions, which several hosts and most providers have. */
export const openAiChat: Wire = {
  id: 'openai-chat',
  toProviderPath: (path) => (/^\/v1\/chat\/completions(?:\?|$)/.test(path) ? path.slice('/v1'.length) : null),
  readModel: ({ body }) => (isRecord(body) && typeof body['model'] === 'string' ? body['model'] : null),
  readTools: ({ body }) => {
    const tools = listRecords(isRecord(body) ? body['tools'] : null);
    return tools.flatMap(({ function: declared }) => {
      const { name, description, parameters } = isRecord(declared) ? declared : {};
      if (typeof name !== 'string') return [];
      const described = typeof description === 'string' ? description : null;
      return [{ name, description: described, schema: isRecord(parameters) ? parameters : {} }];
    });
  },
  readTexts: (request) => readMessages(request).flatMap(({ content }) => readContentTexts(content)),
  readResults: (request) => {
    const messages = readMessages(request);
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    const results: Array<{ callId: string; output: { content: unknown; attached?: JsonObject[] } }> = [];
    for (const { role, tool_call_id: callId, content } of messages.slice(last + 1)) {
      if (role === 'tool' && typeof callId === 'string') results.push({ callId, output: { content: content ?? [] } });
      // Hosts add images in a message of the user, because that of a tool has only texts.
      const media = role === 'user' ? listMedia(content) : [];
      const latest = results.at(-1);
      if (latest !== undefined && media.length > 0) appendAll((latest.output.attached ??= []), media);
    }
    return results;
  },
  readAnswer: ({ contentType, body }) => {
    const completion = /event-stream/.test(contentType) ? joinChunks(readEventStream(body)) : tryParseJson(body);
    const choice = isRecord(completion) && Array.isArray(completion['choices']) ? completion['choices'][0] : undefined;
    if (!isRecord(completion) || !isRecord(choice) || !isRecord(choice['message'])) {
      throw new Error('The answer is no completion.');
    }
    const { message, finish_reason: raw } = choice;
    if (typeof raw !== 'string') throw new Error('The answer has no finish reason.');
    return {
      content: readMessage(message),
      finishReason: { unified: finishReasons.find(([name]) => name === raw)?.[1] ?? 'other', raw },
      usage: readOpenAiUsage(completion['usage'], ['prompt', 'completion']),
    };
  },
  printAnswer: (answer, { body }) => {
    const { model, stream } = isRecord(body) ? body : {};
    return printCompletion(answer, { model: String(model), isStream: stream === true });
  },
  printError: printOpenAiError,
};

function readMessages({ body }: ProviderRequest): JsonObject[] {
  return listRecords(isRecord(body) ? body['messages'] : null);
}

/** Lists the parts of a content that are no text: images, audio and files. */
function listMedia(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isRecord).filter(({ type }) => type !== 'text') : [];
}

function readMessage({ content, reasoning_content: reasoning, tool_calls: calls }: JsonObject): Content[] {
  const text = readContentTexts(content).join('');
  return [
    ...(typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning' as const, text: reasoning }] : []),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...listRecords(calls).map(({ id, function: called }): Content => {
      const { name, arguments: input } = isRecord(called) ? called : {};
      return {
        type: 'tool-call',
        toolCallId: String(id),
        toolName: String(name),
        input: typeof input === 'string' ? input : '{}',
      };
    }),
  ];
}

/** Joins the chunks of a stream to the completion that they build. Undefined if they have no choice. */
function joinChunks(chunks: readonly JsonObject[]): JsonObject | undefined {
  const message: JsonObject = {};
  const calls: Array<{ id: string; function: { name: string; arguments: string } }> = [];
  let [finishReason, usage]: [unknown, unknown] = [undefined, undefined];
  for (const chunk of chunks) {
    if (chunk['error'] !== undefined) {
      throw new Error(`The stream ended with an error: ${JSON.stringify(chunk['error'])}`);
    }
    usage = chunk['usage'] ?? usage;
    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isRecord(choice)) continue;
    finishReason = choice['finish_reason'] ?? finishReason;
    const delta = isRecord(choice['delta']) ? choice['delta'] : {};
    for (const name of ['content', 'reasoning_content'] as const) {
      const text = readContentTexts(delta[name]).join('');
      if (text !== '') message[name] = `${readContentTexts(message[name]).join('')}${text}`;
    }
    for (const part of listRecords(delta['tool_calls'])) {
      const { index, id, function: called } = part;
      // Some providers number no calls, and start each with its id.
      const at = typeof index === 'number' ? index : typeof id === 'string' ? calls.length : calls.length - 1;
      const call = (calls[at] ??= { id: '', function: { name: '', arguments: '' } });
      if (typeof id === 'string' && id !== '') call.id = id;
      if (!isRecord(called)) continue;
      if (typeof called['name'] === 'string') call.function.name += called['name'];
      if (typeof called['arguments'] === 'string') call.function.arguments += called['arguments'];
    }
  }
  const choice = { message: { ...message, tool_calls: calls.filter(isRecord) }, finish_reason: finishReason };
  return finishReason === undefined ? undefined : { choices: [choice], usage };
}

function printCompletion(
  { content, finishReason, usage }: ModelAnswer,
  { model, isStream }: { model: string; isStream: boolean },
): ProviderResponse {
  const join = (type: 'text' | 'reasoning') =>
    content.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : [])).join('');
  const [text, reasoning] = [join('text'), join('reasoning')];
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: part.input } }]
      : [],
  );
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: isStream ? calls.map((call, index) => ({ index, ...call })) : calls }),
  };
  const { unified, raw } = finishReason;
  const reason = raw ?? finishReasons.find(([, name]) => name === unified)?.[0] ?? 'stop';
  const { total: input = 0, cacheRead = 0 } = usage.inputTokens;
  const { total: output = 0, reasoning: reasoned = 0 } = usage.outputTokens;
  const counts = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoned },
  };
  const base = { id: 'chatcmpl-recorded', created: 1, model };
  if (!isStream) {
    const choices = [{ index: 0, message, finish_reason: reason }];
    const body = JSON.stringify({ ...base, object: 'chat.completion', choices, usage: counts });
    return { status: 200, contentType: 'application/json', body };
  }
  const chunk = { ...base, object: 'chat.completion.chunk' };
  return printEventStream([
    { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    { ...chunk, choices: [], usage: counts },
    '[DONE]',
  ]);
}
