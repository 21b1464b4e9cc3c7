import type { Sourced } from './source.ts';

/** The revisions of MCP that a gate can be pinned to, oldest first. */
export const protocolRevisions = ['2025-11-25', '2026-07-28'] as const;
export type ProtocolRevision = (typeof protocolRevisions)[number];

/** How a server is spoken to; `auto`: what it negotiates when it is started, `initialize` first. */
export type ProtocolChoice = 'auto' | ProtocolRevision;

/** What a suite and an option may say; `both` runs every case once in each revision. */
export const protocolSettings = ['auto', ...protocolRevisions, 'both'] as const;
export type ProtocolSetting = (typeof protocolSettings)[number];

/** Where nothing is pinned. */
export const anyProtocol: Sourced<ProtocolChoice> = { value: 'auto', source: 'default' };

/** How the server is spoken to for a setting, once or twice. */
export function listChoices({ value, source }: Sourced<ProtocolSetting>): Array<Sourced<ProtocolChoice>> {
  return value === 'both' ? protocolRevisions.map((revision) => ({ value: revision, source })) : [{ value, source }];
}
