// The hosts that the benchmark installs. How each is started is the gate's own knowledge.
import { claudeCodeAdapter } from '../../src/host-drivers/adapters/claude-code.ts';
import type { HostStarter } from '../../src/host-drivers/driver.ts';
import { codexAdapter } from '../../src/host-drivers/adapters/codex.ts';
import { copilotCliAdapter } from '../../src/host-drivers/adapters/copilot-cli.ts';
import { geminiCliAdapter } from '../../src/host-drivers/adapters/gemini-cli.ts';
import { gooseAdapter } from '../../src/host-drivers/adapters/goose.ts';
import { opencodeAdapter } from '../../src/host-drivers/adapters/opencode.ts';
import { qwenCodeAdapter } from '../../src/host-drivers/adapters/qwen-code.ts';

export interface MeasuredHost {
  starter: HostStarter;
  /** The package of npm. */
  package: string;
  /** The program within `node_modules`: scripts of packages do not run, so that a name in `.bin` can lead to a placeholder. */
  program: string;
  /** A model that the host does not know, if it takes one. */
  model: string;
  /** Models that the host knows, and to which it shows other things. */
  models: readonly string[];
  /** The environment in which the host shows all tools at once; null if it has none. */
  showAll: Readonly<Record<string, string>> | null;
}

const system = `${process.platform}-${process.arch}`;

const plain = { model: 'probe-model', models: [], showAll: null };

export const measuredHosts: readonly MeasuredHost[] = [
  {
    ...plain,
    starter: claudeCodeAdapter,
    package: '@anthropic-ai/claude-code',
    program: `@anthropic-ai/claude-code-${system}/claude`,
    model: 'claude-sonnet-4-5',
    showAll: { ENABLE_TOOL_SEARCH: 'false' },
  },
  {
    ...plain,
    starter: codexAdapter,
    package: '@openai/codex',
    program: '@openai/codex/bin/codex.js',
    models: ['gpt-5.5', 'gpt-5.6-sol'],
  },
  {
    ...plain,
    starter: copilotCliAdapter,
    package: '@github/copilot',
    program: `@github/copilot-${system}/copilot`,
  },
  {
    ...plain,
    starter: geminiCliAdapter,
    package: '@google/gemini-cli',
    program: '@google/gemini-cli/bundle/gemini.js',
    model: 'gemini-2.5-flash',
    models: ['gemini-3-pro-preview'],
  },
  {
    ...plain,
    starter: gooseAdapter,
    package: `@aaif/goose-binary-${system}`,
    program: `@aaif/goose-binary-${system}/bin/goose`,
    // goose shows images only to models that it knows to take them.
    model: 'gpt-4o',
  },
  {
    ...plain,
    starter: opencodeAdapter,
    package: 'opencode-ai',
    program: `opencode-${system}/bin/opencode`,
  },
  {
    ...plain,
    starter: qwenCodeAdapter,
    package: '@qwen-code/qwen-code',
    program: '@qwen-code/qwen-code/cli.js',
  },
];

/** The words that start a program of a package; scripts run with the Node that runs the benchmark. */
export function findProgram(modules: string, program: string): string[] {
  const file = `${modules}/${program}`;
  return file.endsWith('.js') ? [process.execPath, file] : [file];
}
