import type { LanguageModelV4Content } from '@ai-sdk/provider';
import type { ModelAnswer, ModelCall, ModelSession } from '../../../src/models/language-model.ts';

/** One answer of a scripted model: its text and its tool calls. */
export interface ScriptedAnswer {
  text?: string;
  /** `input` is an object, and `text` is the JSON text of a model, which may be invalid. */
  calls?: ReadonlyArray<{ tool: string; input: unknown } | { tool: string; text: string }>;
  finish?: ModelAnswer['finishReason']['unified'];
  tokens?: { input: number; output: number };
}

/**
 * A model that gives the answers of a script, one after the other, and records its calls. An entry that is an error is thrown. It is for tests
 * that use answers; code that speaks HTTP is tested with `scripted-provider.ts`.
 */
export function createScriptedSession(
  script: ReadonlyArray<ScriptedAnswer | Error>,
): ModelSession & { asked: ModelCall[] } {
  const asked: ModelCall[] = [];
  return {
    asked,
    model: { provider: 'scripted', name: 'one' },
    answer: async (call, { signal }) => {
      signal.throwIfAborted();
      const answer = script[asked.length];
      asked.push(call);
      if (answer === undefined) throw new Error(`The script has ${script.length} answers, and was asked once more.`);
      if (answer instanceof Error) throw answer;
      return toAnswer(answer, asked.length);
    },
  };
}

function toAnswer({ text = '', calls = [], finish, tokens }: ScriptedAnswer, position: number): ModelAnswer {
  const content: LanguageModelV4Content[] = text === '' ? [] : [{ type: 'text', text }];
  for (const [index, call] of calls.entries()) {
    const input = 'text' in call ? call.text : JSON.stringify(call.input);
    content.push({ type: 'tool-call', toolCallId: `${position}-${index}`, toolName: call.tool, input });
  }
  const unified = finish ?? (calls.length === 0 ? 'stop' : 'tool-calls');
  return {
    content,
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: tokens?.input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: tokens?.output, text: undefined, reasoning: undefined },
    },
    isReplayed: false,
  };
}
