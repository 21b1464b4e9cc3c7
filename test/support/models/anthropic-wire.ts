import type Anthropic from '@anthropic-ai/sdk';
import type { ModelReply } from './scripted-provider.ts';

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} as const;

/** Writes an answer as Anthropic's Messages API does, with the types of its own package. */
export function buildMessage(reply: ModelReply, { model, number }: { model: string; number: number }): object {
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
