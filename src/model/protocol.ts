import type { Sourced } from './source.ts';

/** The revisions of MCP that a gate can be pinned to, oldest first. */
const protocolRevisions = ['2025-11-25', '2026-07-28'] as const;

/** `auto`: what the server negotiates when it is started, `initialize` first. */
export const protocolChoices = ['auto', ...protocolRevisions] as const;
export type ProtocolChoice = (typeof protocolChoices)[number];

/** Says why the value `both` is refused. */
export const bothProtocolsMessage =
  '`both` is not supported yet; run the gate once with 2025-11-25 and once with 2026-07-28';

/** Where nothing is pinned. */
export const anyProtocol: Sourced<ProtocolChoice> = { value: 'auto', source: 'default' };
