/** A format in which the programs of hosts ask a model, with the providers that have it. */
export interface HostWire {
  title: string;
  isOf(provider: string): boolean;
}

const anthropicMessages: HostWire = { title: "Anthropic's Messages", isOf: (provider) => provider === 'anthropic' };
const openAiChat: HostWire = { title: 'Chat Completions', isOf: (provider) => provider !== 'anthropic' };
/** By the references of these providers; a provider that the user names can have it, too. */
const withoutResponses: ReadonlySet<string> = new Set(['anthropic', 'google', 'mistral', 'deepseek']);
const openAiResponses: HostWire = { title: "OpenAI's Responses", isOf: (provider) => !withoutResponses.has(provider) };

/** The hosts whose programs the gate can drive, and the format in which each asks a model. */
export const drivenHosts: ReadonlyMap<string, HostWire> = new Map([
  ['claude-code', anthropicMessages],
  ['codex', openAiResponses],
  ['goose', openAiChat],
  ['opencode', openAiChat],
  ['qwen-code', openAiChat],
]);
