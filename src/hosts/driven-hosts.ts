/** The hosts whose programs the gate can drive, and the provider whose models each can ask. */
export const drivenHosts: ReadonlyMap<string, { provider: string }> = new Map([
  ['claude-code', { provider: 'anthropic' }],
]);
