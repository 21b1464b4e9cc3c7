import type OpenAI from 'openai';
import type { ModelReply } from './scripted-provider.ts';

const finishReasons = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} as const;

/** Fields that providers other than OpenAI add to their messages. */
interface ReasoningMessage extends OpenAI.ChatCompletionMessage {
  reasoning_content?: string;
}

/** Writes an answer as the Chat Completions API does, with the types of OpenAI's own package. */
export function buildChatCompletion(
  reply: ModelReply,
  { model, number }: { model: string; number: number },
): OpenAI.ChatCompletion {
  const { text, toolCalls = [], reasoning, usage = {} } = reply;
  const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
  const calls = toolCalls.map((call, index) => ({
    id: call.id ?? `call_${number}_${index + 1}`,
    type: 'function' as const,
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  const message = {
    role: 'assistant',
    content: text ?? null,
    refusal: null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning.text }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  } satisfies ReasoningMessage;
  const promptTokens = (usage.input ?? 10) + (usage.cacheRead ?? 0);
  const completionTokens = usage.output ?? 5;
  return {
    id: `chatcmpl_${number}`,
    object: 'chat.completion',
    created: 1_767_225_600,
    model,
    choices: [{ index: 0, message, finish_reason: finishReasons[finishReason], logprobs: null }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    },
  } satisfies OpenAI.ChatCompletion;
}

/** Writes a completion as a stream: each text and each list of arguments in two parts, and the tokens in the last chunk. */
export function streamChatCompletion({ choices, usage, ...completion }: OpenAI.ChatCompletion): string {
  const halve = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  const [{ message, finish_reason: reason } = { message: null, finish_reason: 'stop' }] = choices;
  const calls = message?.tool_calls?.filter((call) => call.type === 'function') ?? [];
  const deltas: object[] = [
    { role: 'assistant', content: '' },
    ...halve(message?.content ?? '').map((content) => ({ content })),
    ...calls.flatMap(({ id, type, function: { name, arguments: input } }, index) => [
      { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
      ...halve(input).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
  ];
  const chunk = { ...completion, object: 'chat.completion.chunk' };
  const chunks = [
    ...deltas.map((delta) => ({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    { ...chunk, choices: [], usage },
  ];
  return [...chunks.map((each) => JSON.stringify(each)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

/** Writes an error as OpenAI's APIs do. */
export function buildCompatibleError(code: string | null, message: string): object {
  return { error: { message, type: 'scripted_error', param: null, code } };
}
