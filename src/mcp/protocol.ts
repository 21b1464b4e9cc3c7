import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import type { ProtocolChoice, ProtocolRevision } from '../model/protocol.ts';

/**
 * How a server is spoken to. `legacy` opens with an `initialize` handshake and may have sessions (up to 2025-11-25), `modern` is
 * stateless and describes itself in `server/discover` (from 2026-07-28). `sse` is `legacy` over the transport HTTP+SSE of
 * 2024-11-05: one stream of events brings all messages, and its `endpoint` event says where the client posts.
 */
export type ProtocolEra = 'legacy' | 'modern' | 'sse';

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

/** The era of a revision that a gate can be pinned to. */
export function readEra(revision: ProtocolRevision): ProtocolEra {
  return revision === modernVersion ? 'modern' : 'legacy';
}

/** The era in which a server is asked first, and the one in which it is asked where it refuses that. */
export function listEras(choice: ProtocolChoice): ['legacy' | 'modern', 'legacy' | 'modern'] {
  return choice === modernVersion ? ['modern', 'legacy'] : ['legacy', 'modern'];
}

/** The statuses of a refused handshake after which the specification has clients try HTTP+SSE ("Backwards Compatibility"). */
const statusesOfOldServers: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

/** Whether a server that refused the handshake with this status may speak HTTP+SSE. */
export function mayBeOldServer(status: number | undefined): boolean {
  return statusesOfOldServers.has(status);
}

/** Whether a handshake is in a revision that the gate speaks and that was asked for. */
export function isWanted({ protocol, protocolVersion }: Handshake, choice: ProtocolChoice): boolean {
  if (choice !== 'auto') return protocolVersion === choice;
  return protocol === 'modern' ? protocolVersion === modernVersion : legacyVersions.includes(protocolVersion);
}
