import { claudeCodeAdapter } from './adapters/claude-code.ts';
import { codexAdapter } from './adapters/codex.ts';
import { gooseAdapter } from './adapters/goose.ts';
import { opencodeAdapter } from './adapters/opencode.ts';
import { qwenCodeAdapter } from './adapters/qwen-code.ts';
import type { HostAdapter } from './driver.ts';

const adapters: readonly HostAdapter[] = [
  claudeCodeAdapter,
  codexAdapter,
  gooseAdapter,
  opencodeAdapter,
  qwenCodeAdapter,
];

/** Finds the adapter of a host; undefined if no host with this id can be driven. */
export function findAdapter(id: string): HostAdapter | undefined {
  return adapters.find((adapter) => adapter.id === id);
}
