import type { ModelAnswer, ModelCall } from '../language-model.ts';

/**
 * Names the tool calls of a conversation by their order, in a call and in its answer. Providers make a new id for each call, which says
 * nothing about the model, and would make two recordings of the same behaviour differ.
 */
export interface NamedCalls {
  call: ModelCall;
  nameAnswer: <T extends Pick<ModelAnswer, 'content'>>(answer: T) => T;
}

/** Some providers want nine letters and digits, and all accept them. */
const formatId = (number: number) => `call${String(number).padStart(5, '0')}`;

export function nameCalls(call: ModelCall): NamedCalls {
  const names = new Map<string, string>();
  const name = (id: string): string => {
    const known = names.get(id) ?? formatId(names.size + 1);
    names.set(id, known);
    return known;
  };
  const prompt = call.prompt.map((message) => {
    if (message.role === 'assistant')
      return { ...message, content: message.content.map((part) => renamePart(part, name)) };
    if (message.role === 'tool') return { ...message, content: message.content.map((part) => renamePart(part, name)) };
    return message;
  });
  return {
    call: { ...call, prompt },
    nameAnswer: (answer) => ({ ...answer, content: answer.content.map((part) => renamePart(part, name)) }),
  };
}

function renamePart<T extends object>(part: T, name: (id: string) => string): T {
  return 'toolCallId' in part && typeof part.toolCallId === 'string'
    ? { ...part, toolCallId: name(part.toolCallId) }
    : part;
}
