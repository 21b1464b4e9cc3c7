/** A format in which the programs of hosts ask a model, with the providers that have it. */
export interface HostWire {
  title: string;
  isOf(provider: string): boolean;
}

const anthropicMessages: HostWire = { title: "Anthropic's Messages", isOf: (provider) => provider === 'anthropic' };
const openAiChat: HostWire = { title: 'Chat Completions', isOf: (provider) => provider !== 'anthropic' };

/** The hosts whose programs the gate can drive, and the format in which each asks a model. */
export const drivenHosts: ReadonlyMap<string, HostWire> = new Map([
  ['claude-code', anthropicMessages],
  ['goose', openAiChat],
  ['opencode', openAiChat],
  ['qwen-code', openAiChat],
]);
