import { join } from 'node:path';
import type { ConfiguredServer, HostAdapter, ProviderRequest, ShownServers, ShownTool } from '../driver.ts';
import { tryParseJson } from '../../base/json.ts';
import { classifyByTools, findShown } from '../requests.ts';
import { readStreamJson } from '../stream-json.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** Qwen Code, as 0.24.4 was measured. */
export const qwenCodeAdapter: HostAdapter = {
  id: 'qwen-code',
  program: 'qwen',
  wire: openAiChat,
  canDropBuiltIns: false,
  start: ({ home, servers, provider, model, prompt }) => {
    const settings = {
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      mcpServers: Object.fromEntries(
        servers.map(({ name, command: [command, ...args] }) => [name, { command, args, trust: true }]),
      ),
    };
    return {
      files: new Map([[join(home, '.qwen/settings.json'), JSON.stringify(settings)]]),
      args: ['-m', model, '--output-format', 'stream-json', '-p', prompt],
      env: {
        OPENAI_API_KEY: provider.token,
        OPENAI_BASE_URL: `${provider.url}/v1`,
        OPENAI_MODEL: model,
        QWEN_CODE_NO_RELAUNCH: 'true',
      },
    };
  },
  readOutput: readStreamJson,
  classify: (request) => classifyByTools(request, openAiChat),
  readShown,
  nameTool,
};

function nameTool(server: string, tool: string): string {
  const replace = (name: string) => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `mcp__${replace(server)}__${replace(tool)}`;
}

/** A tool that the model can search for: its name and the beginning of its description, both as JSON. */
const deferredTool = /^- ("(?:[^"\\]|\\.)*")(?:: ("(?:[^"\\]|\\.)*"))?$/gm;

function readShown(request: ProviderRequest, servers: readonly ConfiguredServer[]): ShownServers {
  const { tools, instructions } = findShown(request, servers, { wire: openAiChat, nameTool });
  const prefixes = servers.map(({ name }) => nameTool(name, ''));
  const shown = new Map<string, ShownTool>();
  for (const text of openAiChat.readTexts(request)) {
    for (const [, quoted = '', described = ''] of text.matchAll(deferredTool)) {
      const [name, description] = [tryParseJson(quoted), tryParseJson(described)];
      if (typeof name !== 'string' || !prefixes.some((prefix) => name.startsWith(prefix))) continue;
      shown.set(name, { name, description: typeof description === 'string' ? description : null, schema: null });
    }
  }
  for (const tool of tools) shown.set(tool.name, tool);
  return { tools: [...shown.values()], instructions };
}
