import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';

/**
 * The two families of the protocol: `legacy` opens with an `initialize` handshake and may have sessions (up to 2025-11-25),
 * `modern` is stateless and describes itself in `server/discover` (from 2026-07-28).
 */
export type ProtocolEra = 'legacy' | 'modern';

export const latestLegacyVersion = LATEST_PROTOCOL_VERSION;
export const legacyVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;
export const modernVersion = '2026-07-28';

/** What a server said of itself when it was first asked. */
export interface Handshake {
  protocol: ProtocolEra;
  protocolVersion: string;
  name: string | null;
  version: string | null;
}

/** Who we are while we only find out whether a server answers. */
export const probeClientInfo = { name: 'mcp-eval-ci', version: '1' };
