import { join } from 'node:path';
import { mapServers } from './define-adapter.ts';
import type { HostPlace, HostStart } from './driver.ts';

/** Starts Gemini CLI or a host that was made from it. */
export function startGeminiFamily(
  { home, servers, model, prompt }: HostPlace,
  { folder, auth }: { folder: string; auth: string },
): Pick<HostStart, 'files' | 'args'> {
  const settings = {
    security: { auth: { selectedType: auth }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true, disableUpdateNag: true },
    mcpServers: mapServers(servers, ({ command, args }) => ({ command, args, trust: true })),
  };
  return {
    files: new Map([[join(home, folder, 'settings.json'), JSON.stringify(settings)]]),
    args: ['-m', model, '--output-format', 'stream-json', '-p', prompt],
  };
}
