import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import type { ProtocolChoice } from '../model/protocol.ts';

/**
 * The two families of the protocol: `legacy` opens with an `initialize` handshake and may have sessions (up to 2025-11-25),
 * `modern` is stateless and describes itself in `server/discover` (from 2026-07-28).
 */
export type ProtocolEra = 'legacy' | 'modern';

/** An era, or the first of them that the server accepts. */
export type EraChoice = ProtocolEra | 'auto';

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

/** The era in which a server is asked first, and the one in which it is asked where it refuses that. */
export function listEras(choice: ProtocolChoice): [ProtocolEra, ProtocolEra] {
  return choice === modernVersion ? ['modern', 'legacy'] : ['legacy', 'modern'];
}

/** Whether a handshake is in a revision that the gate speaks and that was asked for. */
export function isWanted({ protocol, protocolVersion }: Handshake, choice: ProtocolChoice): boolean {
  if (choice !== 'auto') return protocolVersion === choice;
  return protocol === 'legacy' ? legacyVersions.includes(protocolVersion) : protocolVersion === modernVersion;
}
