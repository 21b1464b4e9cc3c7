import type { JsonObject } from '../../../src/base/json.ts';
import {
  joinTexts,
  type ProviderApi,
  readObject,
  readParts,
  readRecords,
  readText,
  type SeenMessage,
  type SeenPart,
  type SeenResult,
  writeEvents,
  writeJson,
} from '../seen.ts';

function readPart(part: JsonObject): SeenPart {
  const { type, text, source } = part;
  if (type === 'text') return { kind: 'text', text: readText(text) };
  if (type === 'image') return { kind: 'image', text: readText(readObject(source)['data']) };
  return { kind: 'other', text: JSON.stringify(part) };
}

const usage = { input_tokens: 100, output_tokens: 10 };

/** The messages of Anthropic. */
export const anthropic: ProviderApi = {
  matches: (path) => path.endsWith('/messages'),
  read(body) {
    const results: SeenResult[] = [];
    const messages: SeenMessage[] = [];
    for (const { role, content } of readRecords(body['messages'])) {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : readRecords(content);
      for (const part of parts) {
        if (part['type'] !== 'tool_result') continue;
        const { tool_use_id: id, is_error: isError, content: inner } = part;
        results.push({ id: readText(id), parts: readParts(inner, readPart), isError: isError === true });
      }
      const own = parts.filter(({ type }) => type !== 'tool_result' && type !== 'tool_use').map(readPart);
      if (own.length > 0) messages.push({ role: readText(role), parts: own });
    }
    const tools = readRecords(body['tools']);
    return {
      model: readText(body['model']),
      isStream: body['stream'] === true,
      system: joinTexts(readParts(body['system'], readPart)),
      messages,
      tools: tools
        .filter((tool) => 'input_schema' in tool)
        .map((tool) => ({
          namespace: null,
          name: readText(tool['name']),
          description: readText(tool['description']),
          schema: readObject(tool['input_schema']),
        })),
      otherTools: JSON.stringify(tools.filter((tool) => !('input_schema' in tool))),
      results,
    };
  },
  write(answer, { model, isStream }) {
    const blocks =
      answer.kind === 'text'
        ? [{ type: 'text', text: answer.text }]
        : answer.calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input }));
    const reason = answer.kind === 'text' ? 'end_turn' : 'tool_use';
    const message = { id: 'msg_probe', type: 'message', role: 'assistant', model, stop_sequence: null, usage };
    if (!isStream) return writeJson({ ...message, content: blocks, stop_reason: reason });
    const events: JsonObject[] = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...blocks.flatMap((block, index): JsonObject[] => {
        const isText = 'text' in block;
        const empty = isText ? { type: 'text', text: '' } : { ...block, input: {} };
        const delta = isText
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
        return [
          { type: 'content_block_start', index, content_block: empty },
          { type: 'content_block_delta', index, delta },
          { type: 'content_block_stop', index },
        ];
      }),
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    return writeEvents(events.map((data) => ({ event: readText(data['type']), data })));
  },
};
