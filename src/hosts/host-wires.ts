/** A format in which the programs of hosts ask a model, with the providers that have it. */
interface HostWire {
  title: string;
  isOf(provider: string): boolean;
}

/** By the references of these providers; a provider that the user names can have it, too. */
const withoutResponses: ReadonlySet<string> = new Set(['anthropic', 'google', 'mistral', 'deepseek']);

export const hostWires = {
  'anthropic-messages': { title: "Anthropic's Messages", isOf: (provider) => provider === 'anthropic' },
  'google-generate-content': { title: "Google's generateContent", isOf: (provider) => provider === 'google' },
  'openai-chat': { title: 'Chat Completions', isOf: (provider) => provider !== 'anthropic' },
  'openai-responses': { title: "OpenAI's Responses", isOf: (provider) => !withoutResponses.has(provider) },
} as const satisfies Readonly<Record<string, HostWire>>;

export type HostWireId = keyof typeof hostWires;
