import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { ModelAnswer } from './language-model.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/** Turns an answer into the message by which the next call repeats it. Reasoning goes back as it came, signatures included. */
export function toAssistantMessage({ content }: Pick<ModelAnswer, 'content'>): LanguageModelV4Message {
  return {
    role: 'assistant',
    content: content.flatMap((part): AssistantContent => {
      const options =
        'providerMetadata' in part && part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
      if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text, ...options }];
      if (part.type !== 'tool-call') return [];
      const { toolCallId, toolName, input } = part;
      return [{ type: 'tool-call', toolCallId, toolName, input: readInput(input), ...options }];
    }),
  };
}

/** An input that is no JSON goes back as the text that it was. */
function readInput(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

export function toToolMessage(results: readonly LanguageModelV4ToolResultPart[]): LanguageModelV4Message {
  return { role: 'tool', content: [...results] };
}
