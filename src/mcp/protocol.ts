import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import type { ProtocolChoice, ProtocolRevision } from '../model/protocol.ts';

/**
 * The era of the protocol. `legacy` begins with an `initialize` handshake and may have sessions (up to 2025-11-25). `modern` is
 * stateless, and the server describes itself in `server/discover` (from 2026-07-28). `sse` is `legacy` over the transport HTTP+SSE of
 * 2024-11-05: one stream of events carries all messages, and its `endpoint` event names the URL for the client's POST requests.
 */
export type ProtocolEra = 'legacy' | 'modern' | 'sse';

/** An era, or `auto` for the first one that the server accepts. */
export type EraChoice = ProtocolEra | 'auto';

export const latestLegacyVersion = LATEST_PROTOCOL_VERSION;
export const legacyVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;
export const modernVersion = '2026-07-28';

/** The server's introduction of itself. */
export interface Handshake {
  protocol: ProtocolEra;
  protocolVersion: string;
  name: string | null;
  version: string | null;
}

/** Finds the era of a revision that a gate can be pinned to. */
export function readEra(revision: ProtocolRevision): ProtocolEra {
  return revision === modernVersion ? 'modern' : 'legacy';
}

/** Lists the era in which a server is asked first, and the era in which it is asked after a refusal. */
export function listEras(choice: ProtocolChoice): ['legacy' | 'modern', 'legacy' | 'modern'] {
  return choice === modernVersion ? ['modern', 'legacy'] : ['legacy', 'modern'];
}

/** The statuses of a refused handshake after which the specification asks clients to try HTTP+SSE ("Backwards Compatibility"). */
const statusesOfOldServers: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

/** Checks if a server that refused the handshake with this status may speak HTTP+SSE. */
export function mayBeOldServer(status: number | undefined): boolean {
  return statusesOfOldServers.has(status);
}

/** Checks if a handshake is in a revision that the gate speaks and the caller wants. */
export function isWanted({ protocol, protocolVersion }: Handshake, choice: ProtocolChoice): boolean {
  if (choice !== 'auto') return protocolVersion === choice;
  return protocol === 'modern' ? protocolVersion === modernVersion : legacyVersions.includes(protocolVersion);
}
