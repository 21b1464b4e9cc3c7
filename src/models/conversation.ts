import type { LanguageModelV4Prompt, LanguageModelV4ToolCall, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import type { ModelParameters } from '../cases/case.ts';
import { ModelError } from '../base/errors.ts';
import { FilteredError } from './filtered-error.ts';
import { type AnswerOptions, isCutOff, type ModelAnswer, type ModelCall, type ModelSession } from './language-model.ts';
import { toAssistantMessage, type ToolResult, toToolMessage } from './model-messages.ts';
import { appendAll } from '../base/lists.ts';

/** The settings of a conversation; null leaves a setting to the provider. */
export interface ConversationSettings {
  system: string | null;
  /** The beginning of the message with the first prompt; none by default. */
  opening?: string | null;
  temperature: number | null;
  /** Applies only to the first answer to a prompt: a model that must call a tool in every answer could never end a turn. */
  toolChoice: LanguageModelV4ToolChoice | null;
  /** Calls of the model per prompt. */
  maxSteps: number;
  /** Further parameters of every call. */
  parameters?: ModelParameters;
  /** The time limit of one call; null or absent for that of the source. */
  timeoutMs?: number | null;
}

/** The answer that a model gets to one call of a tool. */
export type ToolOutput = Pick<ToolResult, 'content' | 'isError'>;

/** The tools of a turn, and the callbacks for its answers and calls. `Stop` is the reason when a call of a tool ends the turn. */
export interface TurnHandlers<Stop> {
  tools: ModelCall['tools'];
  /** Replaces that of the settings in this turn. */
  toolChoice?: LanguageModelV4ToolChoice | null;
  /** Lists the tools again before each further answer of the turn; absent if they never change. */
  refreshTools?: () => Promise<ModelCall['tools'] | { stop: Stop }>;
  onAnswer: (answer: ModelAnswer) => void;
  /** Calls a tool for the model. Calls of one answer are made one after the other, in their order. */
  callTool: (call: LanguageModelV4ToolCall) => Promise<ToolOutput | { stop: Stop }>;
}

/** The end of a turn; `cut-off`: the model reached a limit before it was done. */
export type TurnEnd<Stop> =
  | { kind: 'answered' }
  | { kind: 'cut-off'; reason: string }
  | { kind: 'stopped'; stop: Stop };

/** The conversation of one iteration with a model. All prompts of the iteration belong to it. */
export interface Conversation {
  /**
   * Says something to the model and calls the tools that it asks for, until it answers without asking for one.
   *
   * @throws {ModelError} if the model gives no answer; `onAnswer` is called before a {FilteredError} is thrown
   * @throws the signal's reason once it aborts
   */
  ask<Stop>(prompt: string, handlers: TurnHandlers<Stop>, options: AnswerOptions): Promise<TurnEnd<Stop>>;
}

/** Starts a conversation. `history` has the earlier messages of a conversation that continues. */
export function startConversation(
  session: ModelSession,
  settings: ConversationSettings,
  history: LanguageModelV4Prompt = [],
): Conversation {
  const { system, opening = null, temperature, maxSteps, parameters = {}, timeoutMs = null } = settings;
  let isFirst = true;
  const messages: LanguageModelV4Prompt = system === null ? [] : [{ role: 'system', content: system }];
  appendAll(messages, history);
  return {
    ask: async (prompt, { tools: firstTools, refreshTools, onAnswer, callTool, ...turn }, options) => {
      const { toolChoice = settings.toolChoice } = turn;
      let tools = firstTools;
      const texts = isFirst && opening !== null ? [opening, prompt] : [prompt];
      isFirst = false;
      messages.push({ role: 'user', content: texts.map((text) => ({ type: 'text', text })) });
      for (let step = 1; step <= maxSteps; step += 1) {
        // The array is copied, because a session may keep it and the conversation goes on.
        const call: ModelCall = {
          prompt: [...messages],
          tools,
          ...(step === 1 && toolChoice !== null && { toolChoice }),
          ...(temperature !== null && { temperature }),
          ...parameters,
        };
        const { answer, filtered } = await askOnce(session, call, {
          ...options,
          ...(timeoutMs !== null && { timeoutMs }),
        });
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

/** Returns the withheld answer with the error, because the answer was paid for and may contain the reason. */
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

/** Explains why an answer is incomplete; null if it is complete. */
function explainCutOff(answer: ModelAnswer): string | null {
  if (isCutOff(answer)) return 'The model reached its output limit before it was done.';
  const { unified } = answer.finishReason;
  if (unified === 'error' || unified === 'interrupted') {
    throw new ModelError('The provider ended the answer of the model with an error.', { kind: 'unavailable' });
  }
  return null;
}
