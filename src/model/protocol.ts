import type { Sourced } from './source.ts';

/** The revisions of MCP that a gate can be pinned to, oldest first. */
export const protocolRevisions = ['2025-11-25', '2026-07-28'] as const;
export type ProtocolRevision = (typeof protocolRevisions)[number];

/** The revision that the gate uses with a server. `auto` negotiates it when the server starts, with `initialize` first. */
export type ProtocolChoice = 'auto' | ProtocolRevision;

/** The values that a suite and an option can set. `both` runs every case once in each revision. */
export const protocolSettings = ['auto', ...protocolRevisions, 'both'] as const;
export type ProtocolSetting = (typeof protocolSettings)[number];

/** The default, if no revision is set. */
export const anyProtocol: Sourced<ProtocolChoice> = { value: 'auto', source: 'default' };

/** Lists the revisions that a setting selects, one or two. */
export function listChoices({ value, source }: Sourced<ProtocolSetting>): Array<Sourced<ProtocolChoice>> {
  return value === 'both' ? protocolRevisions.map((revision) => ({ value: revision, source })) : [{ value, source }];
}
