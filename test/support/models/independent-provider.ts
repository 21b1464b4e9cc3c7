import { LLMock } from '@copilotkit/aimock';
import type { ProviderFormat } from './scripted-provider.ts';

type Match = Parameters<LLMock['on']>[0];
type ProviderRequest = Parameters<NonNullable<Match['predicate']>>[0];
type Response = Parameters<LLMock['on']>[1];

/** One answer of the provider, and the request that gets it. */
export interface ProviderRule {
  when: Omit<Match, 'turnIndex'> & {
    /** The number of the model's answers so far. */
    turn?: number;
  };
  /** The start of the latest prompt, after the topic. */
  says?: string;
  answer: Response;
}

/** A case that is a conversation with a model, and its expected result. */
export interface Conversation {
  /** The id is also the topic, which every prompt has in brackets. */
  id: string;
  /** Steps in the form of an evals file. */
  steps: readonly object[];
  /** Further keys of the case. */
  settings?: object;
  rules: readonly ProviderRule[];
  /** `reason` matches the reasons of the case that did not pass. */
  expected: { result: 'passed' } | { result: 'failed' | 'unscored'; reason: RegExp };
}

/** A prompt of a conversation. */
export function say(topic: string, text: string): { prompt: string } {
  return { prompt: `[${topic}] ${text}` };
}

/** The name of a tool, and its arguments. */
export type ToolRequest = readonly [name: string, args: object];

/** An answer that calls tools, with the ids `<name>-<place>`. */
export function callTools(...calls: readonly ToolRequest[]) {
  return {
    toolCalls: calls.map(([name, args], place) => ({
      id: `${name}-${place}`,
      name,
      arguments: JSON.stringify(args),
    })),
  };
}

/** Matches after so many answers of the model, if the latest result contains this text. */
export function afterResult(toolResultContains: string, turn = 1): ProviderRule['when'] {
  return { turn, toolResultContains };
}

/** The prefix of the variables for the provider of each format, and a model of it. */
export const independentModels = {
  anthropic: { prefix: 'ANTHROPIC', model: 'anthropic/claude-haiku-4-5' },
  compatible: { prefix: 'OPENAI', model: 'openai/gpt-5-mini' },
} as const satisfies Record<ProviderFormat, object>;

/** Starts an independent provider of models and configures its conversations. A request that matches no rule gets status 404, which ends a run. */
export async function openIndependentProvider(
  conversations: readonly Conversation[],
): Promise<{ provider: LLMock } & AsyncDisposable> {
  const provider = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
  for (const { id, rules } of conversations) {
    for (const { when, says = '', answer } of rules) {
      const { turn, predicate = () => true, ...match } = when;
      // The library treats its own `turnIndex` only as a preference.
      const isTurn = (request: ProviderRequest) =>
        turn === undefined || request.messages.filter(({ role }) => role === 'assistant').length === turn;
      provider.on(
        { userMessage: `[${id}] ${says}`, ...match, predicate: (request) => isTurn(request) && predicate(request) },
        answer,
      );
    }
  }
  await provider.start();
  return { provider, [Symbol.asyncDispose]: () => provider.stop() };
}

/** Writes the evals file of conversations. YAML is a superset of JSON. */
export function writeConversations(conversations: readonly Conversation[], suite: object): string {
  const cases = conversations.map(({ id, steps, settings = {} }) => ({ id, title: `About ${id}`, ...settings, steps }));
  return JSON.stringify({ ...suite, cases }, null, 2);
}
