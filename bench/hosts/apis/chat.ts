import type { JsonObject } from '../../../src/base/json.ts';
import {
  joinTexts,
  type ProviderApi,
  readDataUrl,
  readObject,
  readParts,
  readRecords,
  readText,
  type SeenPart,
  writeEvents,
  writeJson,
} from '../seen.ts';

function readPart(part: JsonObject): SeenPart {
  const { type, text, image_url: image } = part;
  if (type === 'text') return { kind: 'text', text: readText(text) };
  if (type === 'image_url') return { kind: 'image', text: readDataUrl(readObject(image)['url']) };
  return { kind: 'other', text: JSON.stringify(part) };
}

const isSystem = (role: unknown) => role === 'system' || role === 'developer';

/** The chat completions of OpenAI. */
export const chat: ProviderApi = {
  matches: (path) => path.endsWith('/chat/completions'),
  read(body) {
    const all = readRecords(body['messages']).map((message) => ({
      role: readText(message['role']),
      id: readText(message['tool_call_id']),
      parts: readParts(message['content'], readPart),
    }));
    return {
      model: readText(body['model']),
      isStream: body['stream'] === true,
      system: all
        .filter(({ role }) => isSystem(role))
        .map(({ parts }) => joinTexts(parts))
        .join('\n'),
      messages: all
        .filter(({ role, parts }) => !isSystem(role) && role !== 'tool' && parts.length > 0)
        .map(({ role, parts }) => ({ role, parts })),
      tools: readRecords(body['tools']).map((tool) => {
        const { name, description, parameters } = readObject(tool['function']);
        return {
          namespace: null,
          name: readText(name),
          description: readText(description),
          schema: readObject(parameters),
        };
      }),
      otherTools: '',
      results: all.filter(({ role }) => role === 'tool').map(({ id, parts }) => ({ id, parts, isError: null })),
    };
  },
  write(answer, { model, isStream }) {
    const calls =
      answer.kind === 'text'
        ? []
        : answer.calls.map(({ id, name, arguments: input }, index) => ({
            index,
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          }));
    const message = {
      role: 'assistant',
      content: answer.kind === 'text' ? answer.text : null,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const reason = answer.kind === 'text' ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const base = { id: 'chatcmpl-probe', created: 1, model };
    if (!isStream) {
      const choice = { index: 0, message, finish_reason: reason };
      return writeJson({ ...base, object: 'chat.completion', choices: [choice], usage });
    }
    const chunk = { ...base, object: 'chat.completion.chunk' };
    return writeEvents([
      { data: { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] } },
      { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage } },
      { data: '[DONE]' },
    ]);
  },
};
