import type { EraChoice, ProtocolEra } from '../mcp/protocol.ts';

/**
 * How the servers of this process are spoken to, by server id. It belongs to the process and not to the API: a server record has
 * no field for it, and only the gate in the same process knows what its server negotiated.
 */
export interface ProtocolTable {
  /** Has every later run speak to the server in this era. */
  pin(serverId: string, era: ProtocolEra): void;
  /** `auto` where nothing is pinned. */
  choose(serverId: string): EraChoice;
  /** Records the revision that a session of a run negotiated. */
  addSpoken(serverId: string, protocolVersion: string): void;
  /** Every revision that sessions of runs have spoken with the server so far, oldest first. */
  listSpoken(serverId: string): string[];
}

export function createProtocolTable(): ProtocolTable {
  const pinned = new Map<string, ProtocolEra>();
  const spoken = new Map<string, Set<string>>();
  return {
    pin: (serverId, era) => {
      pinned.set(serverId, era);
    },
    choose: (serverId) => pinned.get(serverId) ?? 'auto',
    addSpoken: (serverId, protocolVersion) => {
      const versions = spoken.get(serverId) ?? new Set();
      spoken.set(serverId, versions.add(protocolVersion));
    },
    // Revisions are dates, so their order is that of their text.
    listSpoken: (serverId) => [...(spoken.get(serverId) ?? [])].toSorted(),
  };
}
