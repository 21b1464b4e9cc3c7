import type Anthropic from '@anthropic-ai/sdk';
import type { ModelReply } from './scripted-provider.ts';

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} as const;

/** Writes an answer as Anthropic's Messages API does, with the types of its own package. */
export function buildMessage(
  reply: ModelReply,
  { model, number }: { model: string; number: number },
): Anthropic.Message {
  const { text, toolCalls = [], reasoning, usage = {} } = reply;
  const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
  const thinking =
    reasoning === undefined
      ? []
      : [{ type: 'thinking' as const, thinking: reasoning.text, signature: reasoning.signature }];
  const texts = text === undefined ? [] : [{ type: 'text' as const, text, citations: null }];
  const calls = toolCalls.map((call, index) => ({
    type: 'tool_use' as const,
    id: call.id ?? `call_${number}_${index + 1}`,
    name: call.name,
    input: call.arguments,
    caller: { type: 'direct' as const },
  }));
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    diagnostics: null,
    content: [...thinking, ...texts, ...calls],
    stop_reason: stopReasons[finishReason],
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: usage.input ?? 10,
      output_tokens: usage.output ?? 5,
      output_tokens_details: usage.reasoning === undefined ? null : { thinking_tokens: usage.reasoning },
      cache_creation: null,
      cache_creation_input_tokens: usage.cacheWrite ?? 0,
      cache_read_input_tokens: usage.cacheRead ?? 0,
      inference_geo: null,
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
  } satisfies Anthropic.Message;
}

/** Writes an error as Anthropic's APIs do. */
export function buildAnthropicError(type: string, message: string): object {
  return { type: 'error', error: { type, message }, request_id: 'req_scripted' };
}

/** Writes an answer as a stream: the tokens of the input come first, and each text and input in two parts. */
export function streamMessage({ content, stop_reason: reason, usage, ...message }: Anthropic.Message): string {
  const events: object[] = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
  ];
  for (const [index, block] of content.entries()) {
    const { start, deltas } = splitBlock(block);
    events.push({ type: 'content_block_start', index, content_block: start }, { type: 'ping' });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: reason, stop_sequence: null };
  events.push(
    { type: 'message_delta', delta, usage: { output_tokens: usage.output_tokens } },
    { type: 'message_stop' },
  );
  return events
    .map((event) => `event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

function splitBlock(block: Anthropic.ContentBlock): { start: object; deltas: object[] } {
  const halve = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  switch (block.type) {
    case 'text':
      return {
        start: { ...block, text: '' },
        deltas: halve(block.text).map((text) => ({ type: 'text_delta', text })),
      };
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: halve(JSON.stringify(block.input)).map((json) => ({ type: 'input_json_delta', partial_json: json })),
      };
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    default:
      return { start: block, deltas: [] };
  }
}
