import type { HostTemplate } from '../../../../src/service/operations/hosts.ts';

/** The initial settings of a host that is created from a template. */
export interface TemplateConfig {
  /** The name that people see. */
  title: string;
  modelId: string;
  systemPrompt: string;
  capabilities: Readonly<Record<'apps' | 'elicitation' | 'sampling' | 'roots', boolean>>;
}

const chat = { apps: true, elicitation: false, sampling: false, roots: false };
const terminal = { apps: false, elicitation: true, sampling: false, roots: true };
const editor = { apps: true, elicitation: true, sampling: true, roots: true };
const pipeline = { apps: false, elicitation: false, sampling: false, roots: false };

const chatPrompt = 'You help a person in a chat. Use the tools when they can answer better than you can.';
const codePrompt =
  'You work in a code repository. Use the tools for whatever you do not know, and report what you did.';
const flowPrompt = 'You carry out one step of an automated process. Use the tools, and answer with the result alone.';

const claude = 'anthropic/claude-sonnet-4-5';
const gpt = 'openai/gpt-5-mini';

/**
 * The templates of hosts. This project chose the data as a starting point: it names a model that the client is known to offer, and says
 * nothing about any version of the client.
 */
export const templates: Readonly<Record<HostTemplate, TemplateConfig>> = {
  mcpjam: { title: 'MCPJam', modelId: 'anthropic/claude-haiku-4-5', systemPrompt: chatPrompt, capabilities: editor },
  claude: { title: 'Claude', modelId: claude, systemPrompt: chatPrompt, capabilities: chat },
  'claude-code': { title: 'Claude Code', modelId: claude, systemPrompt: codePrompt, capabilities: terminal },
  chatgpt: { title: 'ChatGPT', modelId: gpt, systemPrompt: chatPrompt, capabilities: chat },
  mistral: {
    title: 'Mistral',
    modelId: 'mistral/mistral-medium-latest',
    systemPrompt: chatPrompt,
    capabilities: pipeline,
  },
  cursor: { title: 'Cursor', modelId: claude, systemPrompt: codePrompt, capabilities: { ...terminal, apps: true } },
  codex: { title: 'Codex', modelId: 'openai/gpt-5-codex', systemPrompt: codePrompt, capabilities: terminal },
  copilot: { title: 'Copilot', modelId: gpt, systemPrompt: codePrompt, capabilities: editor },
  vscode: { title: 'Visual Studio Code', modelId: gpt, systemPrompt: codePrompt, capabilities: editor },
  agentcore: { title: 'AgentCore', modelId: claude, systemPrompt: flowPrompt, capabilities: pipeline },
  n8n: { title: 'n8n', modelId: gpt, systemPrompt: flowPrompt, capabilities: pipeline },
  perplexity: { title: 'Perplexity', modelId: gpt, systemPrompt: chatPrompt, capabilities: pipeline },
};
