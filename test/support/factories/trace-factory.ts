/** A call and its answer as the AI SDK writes them; by default, the output is an MCP result of one text. */
export function createCallMessages(
  toolCallId: string,
  answer: { toolName?: string; text?: string; output?: unknown; part?: object } = {},
) {
  const { toolName = 'get-sum', text = 'The sum is 5.', part = {} } = answer;
  const { output = { type: 'json', value: { content: [{ type: 'text', text }] } } } = answer;
  return [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output, ...part }] },
  ];
}

/** The span of a call of 40 ms, by default. */
export function createCallSpan(toolCallId: string, fields: object = {}) {
  return {
    id: `span-${toolCallId}`,
    name: 'tool',
    category: 'tool',
    toolCallId,
    startMs: 1000,
    endMs: 1040,
    ...fields,
  };
}
