import { isRecord, type JsonObject } from '../../../src/base/json.ts';
import {
  joinTexts,
  type ProviderApi,
  readDataUrl,
  readObject,
  readParts,
  readRecords,
  readText,
  type SeenMessage,
  type SeenPart,
  type SeenResult,
  type SeenTool,
  writeEvents,
  writeJson,
} from '../seen.ts';

const texts = new Set(['input_text', 'output_text', 'text']);

function readPart(part: JsonObject): SeenPart {
  const { type, text, image_url: url } = part;
  if (texts.has(readText(type))) return { kind: 'text', text: readText(text) };
  if (type === 'input_image') return { kind: 'image', text: readDataUrl(url) };
  return { kind: 'other', text: JSON.stringify(part) };
}

const readFunction = (tool: JsonObject, namespace: string | null): SeenTool => ({
  namespace,
  name: readText(tool['name']),
  description: readText(tool['description']),
  schema: readObject(tool['parameters']),
});

/** The responses of OpenAI, with the namespaces that Codex puts tools in. */
export const responses: ProviderApi = {
  matches: (path) => path.endsWith('/responses'),
  read(body) {
    const results: SeenResult[] = [];
    const messages: SeenMessage[] = [];
    const system = [readText(body['instructions'])];
    for (const item of readRecords(body['input'])) {
      const { type, role, content, call_id: id, output } = item;
      if (type === 'function_call_output' || type === 'custom_tool_call_output') {
        // Some hosts wrap the text in an object.
        const inner = isRecord(output) ? output['content'] : output;
        results.push({ id: readText(id), parts: readParts(inner, readPart), isError: null });
      } else if (role === 'system' || role === 'developer') system.push(joinTexts(readParts(content, readPart)));
      else if (typeof role === 'string') messages.push({ role, parts: readParts(content, readPart) });
    }
    const tools = readRecords(body['tools']);
    const spaces = tools.filter(({ type }) => type === 'namespace');
    return {
      model: readText(body['model']),
      isStream: body['stream'] === true,
      system: system.join('\n'),
      messages,
      tools: [
        ...tools.filter(({ type }) => type === 'function').map((tool) => readFunction(tool, null)),
        ...spaces.flatMap((space) =>
          readRecords(space['tools']).map((tool) => readFunction(tool, readText(space['name']))),
        ),
      ],
      otherTools: [
        ...spaces.map((space) => readText(space['description'])),
        JSON.stringify(tools.filter(({ type }) => type !== 'function' && type !== 'namespace')),
      ].join('\n'),
      results,
    };
  },
  write(answer, { model, isStream }) {
    const items: JsonObject[] =
      answer.kind === 'text'
        ? [
            {
              type: 'message',
              id: 'msg_probe',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: answer.text, annotations: [] }],
            },
          ]
        : answer.calls.map(({ id, namespace, name, arguments: input }) => ({
            type: 'function_call',
            id: `fc_${id}`,
            call_id: id,
            name,
            ...(namespace === null ? {} : { namespace }),
            arguments: JSON.stringify(input),
            status: 'completed',
          }));
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 110,
    };
    const response = { id: 'resp_probe', object: 'response', created_at: 1, model };
    const done = { ...response, status: 'completed', output: items, usage };
    if (!isStream) return writeJson(done);
    const events: JsonObject[] = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...items.flatMap((item, index): JsonObject[] => [
        { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
        ...(answer.kind === 'text'
          ? [
              {
                type: 'response.output_text.delta',
                item_id: 'msg_probe',
                output_index: index,
                content_index: 0,
                delta: answer.text,
              },
            ]
          : []),
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      { type: 'response.completed', response: done },
    ];
    return writeEvents(
      events.map((data, index) => ({ event: readText(data['type']), data: { ...data, sequence_number: index } })),
    );
  },
};
