import type { ModelReply, ScriptedToolCall } from './scripted-provider.ts';

const incomplete = { length: 'max_output_tokens', 'content-filter': 'content_filter' } as const;

function buildCall({ id, name, namespace, arguments: given }: ScriptedToolCall, callId: string) {
  const call = { id: `item_${callId}`, call_id: id ?? callId, status: 'completed' };
  if (name === 'tool_search') return { ...call, type: 'tool_search_call', execution: 'client', arguments: given };
  if (name === 'exec') return { ...call, type: 'custom_tool_call', name, namespace: 'functions', input: given };
  const input = typeof given === 'string' ? given : JSON.stringify(given);
  return { ...call, type: 'function_call', name, ...(namespace !== undefined && { namespace }), arguments: input };
}

/** Writes an answer as OpenAI's Responses API does, with the search of tools and the programs that Codex offers to models that it knows. */
export function buildResponse(reply: ModelReply, { model, number }: { model: string; number: number }) {
  const { reasoning, text, toolCalls = [], finishReason, usage = {} } = reply;
  const reason = finishReason === 'length' || finishReason === 'content-filter' ? incomplete[finishReason] : null;
  const content = [{ type: 'output_text', text, annotations: [] }];
  const [input, cached, output] = [usage.input ?? 10, usage.cacheRead ?? 0, usage.output ?? 5];
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_767_225_600,
    model,
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    output: [
      ...(reasoning === undefined
        ? []
        : [
            {
              type: 'reasoning',
              id: `rs_${number}`,
              summary: [{ type: 'summary_text', text: reasoning.text }],
              encrypted_content: reasoning.signature,
            },
          ]),
      ...(text === undefined
        ? []
        : [{ type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content }]),
      ...toolCalls.map((call, index) => buildCall(call, `call_${number}_${index + 1}`)),
    ],
    usage: {
      input_tokens: input + cached,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
      total_tokens: input + cached + output,
    },
  };
}

/** Writes a response as a stream, in which each item is added and done. */
export function streamResponse(response: ReturnType<typeof buildResponse>): string {
  const events: Array<{ type: string; [name: string]: unknown }> = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...response.output.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: `response.${response.status}`, response },
  ];
  return events
    .map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`)
    .join('');
}
