import { isRecord, type JsonObject, listRecords, tryParseJson } from '../../base/json.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import type { ProviderRequest, ProviderResponse, ShownTool, Wire } from '../driver.ts';
import {
  printEventStream,
  printOpenAiError,
  readContentTexts,
  readEventStream,
  readOpenAiUsage,
} from './openai-parts.ts';

type Content = ModelAnswer['content'][number];
type FinishReason = ModelAnswer['finishReason'];

/** OpenAI's Responses, with the namespaces, the programs and the search of tools that Codex uses. */
export const openAiResponses: Wire = {
  id: 'openai-responses',
  toProviderPath: (path) => (/^\/v1\/responses(?:\?|$)/.test(path) ? path.slice('/v1'.length) : null),
  readModel: ({ body }) => (isRecord(body) && typeof body['model'] === 'string' ? body['model'] : null),
  readTools: (request) => listDeclared(request).flatMap((tool) => readTool(tool, null)),
  readTexts: (request) => {
    const { instructions } = isRecord(request.body) ? request.body : {};
    const described = listDeclared(request).filter(({ type }) => type === 'namespace');
    return [
      ...readContentTexts(instructions),
      ...readInput(request).flatMap(({ content }) => readContentTexts(content)),
      ...described.flatMap(({ description }) => readContentTexts(description)),
    ];
  },
  // Results of earlier answers are among them: an order of calls and results is not prescribed.
  readResults: (request) =>
    readInput(request).flatMap(({ type, call_id: callId, output, tools }) => {
      if (typeof type !== 'string' || !type.endsWith('_output') || typeof callId !== 'string') return [];
      return [{ callId, output: { content: output ?? tools ?? [] } }];
    }),
  readAnswer: ({ contentType, body }) => {
    const response = /event-stream/.test(contentType) ? joinEvents(readEventStream(body)) : tryParseJson(body);
    if (!isRecord(response) || !Array.isArray(response['output'])) throw new Error('The answer is no response.');
    const { status, usage } = response;
    if (status !== 'completed' && status !== 'incomplete') throw new Error(`The response is ${String(status)}.`);
    const content = response['output'].filter(isRecord).flatMap(readItem);
    return {
      content,
      finishReason: readFinish(response, content),
      usage: readOpenAiUsage(usage, ['input', 'output']),
    };
  },
  printAnswer: (answer, { body }) => {
    const { model, stream } = isRecord(body) ? body : {};
    const response = printResponse(answer, String(model));
    if (stream === true) return printEvents(response);
    return { status: 200, contentType: 'application/json', body: JSON.stringify(response) };
  },
  printError: printOpenAiError,
};

function readInput({ body }: ProviderRequest): JsonObject[] {
  return listRecords(isRecord(body) ? body['input'] : null);
}

/** Lists the declared tools and namespaces: those of the request, and those that items of the conversation add. */
function listDeclared(request: ProviderRequest): JsonObject[] {
  const { tools } = isRecord(request.body) ? request.body : {};
  const added = readInput(request).flatMap((item) => (item['type'] === 'additional_tools' ? item['tools'] : []));
  return [...(Array.isArray(tools) ? tools : []), ...added].filter(isRecord);
}

function readTool(tool: JsonObject, namespace: string | null): ShownTool[] {
  const { type, name, description, parameters, tools } = tool;
  if (type === 'namespace') {
    return listRecords(tools).flatMap((each) => readTool(each, String(name)));
  }
  const own = typeof name === 'string' ? name : String(type);
  return [
    {
      name: namespace === null ? own : `${namespace}__${own}`,
      description: typeof description === 'string' ? description : null,
      schema: isRecord(parameters) ? parameters : {},
    },
  ];
}

/** Keeps each item but messages as it is, for a replay; a call also has its name and its arguments. */
function readItem({ id: _id, status: _status, ...item }: JsonObject): Content[] {
  const { type, content, call_id: callId, name, namespace, arguments: args, input } = item;
  if (type === 'message') {
    const text = readContentTexts(content).join('');
    return text === '' ? [] : [{ type: 'text', text }];
  }
  const providerMetadata = { openai: { item: JSON.stringify(item) } };
  if (typeof callId !== 'string') return [{ type: 'custom', kind: 'openai.item', providerMetadata }];
  const given = args ?? input ?? {};
  return [
    {
      type: 'tool-call',
      toolCallId: callId,
      toolName: [namespace, name ?? type].filter((part) => typeof part === 'string').join('__'),
      input: typeof given === 'string' ? given : JSON.stringify(given),
      providerMetadata,
    },
  ];
}

function readFinish({ status, incomplete_details: details }: JsonObject, content: readonly Content[]): FinishReason {
  if (status === 'completed') {
    return { unified: content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop', raw: 'completed' };
  }
  const reason = isRecord(details) ? String(details['reason']) : 'unknown';
  if (reason === 'max_output_tokens') return { unified: 'length', raw: reason };
  return { unified: reason === 'content_filter' ? 'content-filter' : 'other', raw: reason };
}

/** Returns the response of the last event, with the items that came before it. Undefined unless the stream is complete. */
function joinEvents(events: readonly JsonObject[]): JsonObject | undefined {
  const items = events.flatMap(({ type, item }) =>
    type === 'response.output_item.done' && isRecord(item) ? [item] : [],
  );
  const failed = events.find(({ type }) => type === 'error' || type === 'response.failed');
  if (failed !== undefined) throw new Error(`The stream ended with an error: ${JSON.stringify(failed)}`);
  const last = events.findLast(({ type }) => type === 'response.completed' || type === 'response.incomplete');
  const response = last?.['response'];
  return isRecord(response) ? { ...response, ...(items.length > 0 && { output: items }) } : undefined;
}

function printItem(part: Content, index: number): JsonObject[] {
  if (part.type === 'text') {
    const content = [{ type: 'output_text', text: part.text, annotations: [] }];
    return [{ type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed', content }];
  }
  const kept = 'providerMetadata' in part ? part.providerMetadata?.['openai']?.['item'] : undefined;
  const item = typeof kept === 'string' ? tryParseJson(kept) : undefined;
  if (!isRecord(item)) return [];
  const call = part.type === 'tool-call' ? { call_id: part.toolCallId, status: 'completed' } : {};
  const id = part.type === 'tool-call' ? `fc_${part.toolCallId}` : `rs_${index}`;
  return [{ ...item, id, ...call }];
}

function printResponse({ content, finishReason, usage }: ModelAnswer, model: string): JsonObject {
  const { total: input = 0, cacheRead = 0 } = usage.inputTokens;
  const { total: output = 0, reasoning = 0 } = usage.outputTokens;
  const isComplete = finishReason.unified === 'stop' || finishReason.unified === 'tool-calls';
  return {
    id: 'resp_recorded',
    object: 'response',
    created_at: 1,
    model,
    status: isComplete ? 'completed' : 'incomplete',
    incomplete_details: isComplete ? null : { reason: finishReason.raw ?? 'max_output_tokens' },
    output: content.flatMap(printItem),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

function printEvents(response: JsonObject): ProviderResponse {
  const items = listRecords(response['output']);
  const events: JsonObject[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
      ...readContentTexts(item['type'] === 'message' ? item['content'] : []).map((delta) => ({
        type: 'response.output_text.delta',
        item_id: item['id'],
        output_index: index,
        content_index: 0,
        delta,
      })),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: `response.${String(response['status'])}`, response },
  ];
  return printEventStream(events.map((event, index) => ({ ...event, sequence_number: index })));
}
