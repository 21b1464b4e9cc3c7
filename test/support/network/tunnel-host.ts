import { systemClock } from '../../../src/base/time.ts';
import { silentLogger, type Logger } from '../../../src/base/logger.ts';
import { openTunnelHost, type TunnelHost, type TunnelHostOptions } from '../../../src/tunnel/host.ts';
import type { ScriptedRelay } from './scripted-relay.ts';

/** The path at which the relay serves the server of these tests. */
export const scope = '/api/mcp/adapter-http/srv_1';

/** Opens a host of a relay with defaults for all settings that the test does not set. */
export function openTestHost(
  relay: Pick<ScriptedRelay, 'relayWsUrl' | 'connectToken'>,
  target: string,
  overrides: Partial<TunnelHostOptions> = {},
): Promise<TunnelHost> {
  return openTunnelHost({
    relayWsUrl: relay.relayWsUrl,
    connectToken: relay.connectToken,
    subprotocol: 'svc-tunnel.v1',
    target: { url: target },
    serverId: 'srv_1',
    clock: systemClock,
    logger: silentLogger,
    signal: new AbortController().signal,
    random: () => 0,
    ...overrides,
  });
}

/** A logger that keeps every line. */
export function createLineLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  const group = (title: string, rest: readonly string[]) => void lines.push(title, ...rest);
  return { lines, logger: { debug: keep, info: keep, warning: keep, error: keep, group } };
}
