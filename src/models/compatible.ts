import { createOpenAICompatible, VERSION } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV4,
  LanguageModelV4FilePart,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { adaptOptions } from './adapt-options.ts';
import type { ModelName } from './language-model.ts';
import type { AssistantMessage } from './model-messages.ts';
import { type ProviderSettings, writeHeaders } from './providers.ts';

export const providerPackage = { name: '@ai-sdk/openai-compatible', version: VERSION };

/** Makes a model that speaks the Chat Completions API. */
export function createModel(
  { provider: name, baseUrl, apiKey, headers }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const adaptBody = bodyAdapters.get(name);
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl.href,
    ...(apiKey === null ? {} : { apiKey: apiKey.reveal() }),
    headers: writeHeaders(headers),
    fetch,
    ...(adaptBody === undefined ? {} : { transformRequestBody: adaptBody }),
  });
  const chat = adaptOptions(provider.languageModel(model.name), (options) => ({
    ...options,
    prompt: adaptPrompt(options.prompt, name),
  }));
  return { ...chat, doGenerate: async (options) => keepReasoning(await chat.doGenerate(options)) };
}

type Body = Record<string, unknown>;

/** Changes the members of a body that a provider's reference names or writes in another way. */
const bodyAdapters: ReadonlyMap<string, (body: Body) => Body> = new Map([
  // OpenAI's reasoning models refuse `max_tokens`. The other providers know only this name.
  ['openai', (body) => rename(body, 'max_tokens', 'max_completion_tokens')],
  ['mistral', (body) => rename(body, 'seed', 'random_seed')],
  // DeepSeek ends its thinking by another member than the one for the effort.
  [
    'deepseek',
    ({ reasoning_effort: effort, ...body }) => {
      if (effort === 'none') return { ...body, thinking: { type: 'disabled' } };
      return effort === undefined ? body : { ...body, reasoning_effort: effort };
    },
  ],
]);

function rename(body: Body, from: string, to: string): Body {
  const { [from]: value, ...others } = body;
  return value === undefined ? others : { ...others, [to]: value };
}

/** The name under which a part of an answer keeps data that its provider requires with the next request. */
const keptName = 'message';

const reasoningSchema = z.object({
  choices: z
    .tuple([z.object({ message: z.object({ reasoning_details: z.array(z.json()).min(1) }) })])
    .rest(z.unknown()),
});

/**
 * Keeps OpenRouter's `reasoning_details`, which the package drops, in the first part of the answer. Without them in the message, reasoning
 * models refuse or repeat a turn with tools.
 */
function keepReasoning(result: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult {
  const [choice] = reasoningSchema.safeParse(result.response?.body).data?.choices ?? [];
  const [first, ...others] = result.content;
  if (choice === undefined || first === undefined) return result;
  const { reasoning_details } = choice.message;
  const providerMetadata = { ...first.providerMetadata, [keptName]: { reasoning_details } };
  return { ...result, content: [{ ...first, providerMetadata }, ...others] };
}

/** Copies the data that the parts kept to their message. The package sends data under its own name with the message. */
function restoreReasoning(message: AssistantMessage): AssistantMessage {
  const kept = message.content
    .map(({ providerOptions }) => providerOptions?.[keptName])
    .find((part) => part !== undefined);
  return kept === undefined ? message : { ...message, providerOptions: { openaiCompatible: kept } };
}

/**
 * Adapts a prompt to Chat Completions: a tool result is text there, so its images follow in a user message. Mistral refuses reasoning that
 * is sent back.
 */
function adaptPrompt(prompt: LanguageModelV4Prompt, provider: string): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role === 'assistant' && provider === 'mistral') {
      return [{ ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }];
    }
    if (message.role === 'assistant') return [restoreReasoning(message)];
    return message.role === 'tool' ? splitImages(message) : [message];
  });
}

type ToolMessage = Extract<LanguageModelV4Prompt[number], { role: 'tool' }>;

function splitImages(message: ToolMessage): LanguageModelV4Prompt {
  const images: LanguageModelV4FilePart[] = [];
  const content = message.content.map((result) => {
    if (result.type !== 'tool-result' || result.output.type !== 'content') return result;
    const lines = result.output.value.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type !== 'file') return '';
      images.push({ type: 'file', mediaType: part.mediaType, data: part.data });
      return `[image ${images.length} of the next message]`;
    });
    return { ...result, output: { type: 'text' as const, value: lines.join('\n') } };
  });
  const results: ToolMessage = { ...message, content };
  if (images.length === 0) return [results];
  const introduction = { type: 'text' as const, text: 'The images of the tool results above, in their order:' };
  return [results, { role: 'user', content: [introduction, ...images] }];
}
