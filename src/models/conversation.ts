import type { LanguageModelV4Prompt, LanguageModelV4ToolCall, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { ModelError } from '../base/errors.ts';
import { FilteredError } from './filtered-error.ts';
import { type AnswerOptions, isCutOff, type ModelAnswer, type ModelCall, type ModelSession } from './language-model.ts';
import { toAssistantMessage, type ToolResult, toToolMessage } from './messages.ts';
import { appendAll } from '../base/lists.ts';

/** How a conversation is held; null leaves it to the provider. */
export interface ConversationSettings {
  system: string | null;
  temperature: number | null;
  /** Holds for the first answer to a prompt: one that must call a tool could never end a turn. */
  toolChoice: LanguageModelV4ToolChoice | null;
  /** Calls of the model per prompt. */
  maxSteps: number;
}

/** What a model is answered to one call. */
export type ToolOutput = Pick<ToolResult, 'content' | 'isError'>;

/** What a model may do in a turn, and who hears of it. `Stop` is why a call of a tool ends the turn. */
export interface TurnPartner<Stop> {
  tools: ModelCall['tools'];
  /** Lists the tools again before each further answer of the turn; absent where they never change. */
  refreshTools?: () => Promise<ModelCall['tools'] | { stop: Stop }>;
  onAnswer: (answer: ModelAnswer) => void;
  /** Calls a tool for the model. Calls of one answer are made one after the other, in their order. */
  callTool: (call: LanguageModelV4ToolCall) => Promise<ToolOutput | { stop: Stop }>;
}

/** How a turn ended; `cut-off`: the model was not done when it reached a limit. */
export type TurnEnd<Stop> =
  | { kind: 'answered' }
  | { kind: 'cut-off'; reason: string }
  | { kind: 'stopped'; stop: Stop };

/** The conversation of one iteration with a model. Its prompts are one conversation. */
export interface Conversation {
  /**
   * Says something to the model and calls the tools that it asks for, until it answers without asking for one.
   *
   * @throws {ModelError} where the model gives no answer; of a {FilteredError}, `onAnswer` hears before
   * @throws the signal's reason once it aborts
   */
  ask<Stop>(prompt: string, partner: TurnPartner<Stop>, options: AnswerOptions): Promise<TurnEnd<Stop>>;
}

/** Starts a conversation, or goes on with one of which the messages so far are `history`. */
export function startConversation(
  session: ModelSession,
  settings: ConversationSettings,
  history: LanguageModelV4Prompt = [],
): Conversation {
  const { system, temperature, toolChoice, maxSteps } = settings;
  const messages: LanguageModelV4Prompt = system === null ? [] : [{ role: 'system', content: system }];
  appendAll(messages, history);
  return {
    ask: async (prompt, { tools: firstTools, refreshTools, onAnswer, callTool }, options) => {
      let tools = firstTools;
      messages.push({ role: 'user', content: [{ type: 'text', text: prompt }] });
      for (let step = 1; step <= maxSteps; step += 1) {
        // A copy: a session may keep what was sent, and the conversation goes on.
        const call: ModelCall = {
          prompt: [...messages],
          tools,
          ...(step === 1 && toolChoice !== null && { toolChoice }),
          ...(temperature !== null && { temperature }),
        };
        const { answer, filtered } = await askOnce(session, call, options);
        onAnswer(answer);
        const message = toAssistantMessage(answer);
        if (filtered !== null) {
          // Providers refuse a message without content.
          if (message.content.length > 0) messages.push(message);
          throw filtered;
        }
        messages.push(message);
        const reason = explainCutOff(answer);
        if (reason !== null) return { kind: 'cut-off', reason };
        const calls = answer.content.filter((part) => part.type === 'tool-call');
        if (calls.length === 0) return { kind: 'answered' };
        if (step === maxSteps) break;
        const results: ToolResult[] = [];
        for (const call of calls) {
          const called = await callTool(call);
          if ('stop' in called) return { kind: 'stopped', stop: called.stop };
          const { toolCallId, toolName } = call;
          results.push({ toolCallId, toolName, ...called });
        }
        messages.push(toToolMessage(results));
        const refreshed = await refreshTools?.();
        if (refreshed !== undefined && 'stop' in refreshed) return { kind: 'stopped', stop: refreshed.stop };
        tools = refreshed ?? tools;
      }
      return {
        kind: 'cut-off',
        reason: `The model asked for another tool in its answer ${maxSteps}, and \`maxSteps\` allows ${maxSteps}.`,
      };
    },
  };
}

/** An answer that the provider withholds has been paid for, and may say why. */
async function askOnce(
  session: ModelSession,
  call: ModelCall,
  options: AnswerOptions,
): Promise<{ answer: ModelAnswer; filtered: FilteredError | null }> {
  try {
    return { answer: await session.answer(call, options), filtered: null };
  } catch (error) {
    if (!(error instanceof FilteredError)) throw error;
    return { answer: error.answer, filtered: error };
  }
}

/** Why an answer is not whole; null for one that is. */
function explainCutOff(answer: ModelAnswer): string | null {
  if (isCutOff(answer)) return 'The model reached its output limit before it was done.';
  const { unified } = answer.finishReason;
  if (unified === 'error' || unified === 'interrupted') {
    throw new ModelError('The provider ended the answer of the model with an error.', { kind: 'unavailable' });
  }
  return null;
}
