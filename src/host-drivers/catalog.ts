import { claudeCodeAdapter } from './adapters/claude-code.ts';
import type { HostAdapter } from './driver.ts';

const adapters: readonly HostAdapter[] = [claudeCodeAdapter];

/** Finds the adapter of a host; undefined if no host with this id can be driven. */
export function findAdapter(id: string): HostAdapter | undefined {
  return adapters.find((adapter) => adapter.id === id);
}
