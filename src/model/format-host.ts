import type { HostIdentity } from './host-identity.ts';

/** Names a host in a sentence, with its version: `codex 0.169.0`, and `codex 0.169.0 (program)` if its program held the conversation. */
export function formatHost({ id, version, program }: HostIdentity): string {
  const name = version === null ? id : `${id} ${version}`;
  return program === true ? `${name} (program)` : name;
}

/** Names a model in a report, with its host unless that is the gate's own: `openai/gpt-5 in codex 0.169.0`. */
export function formatHostedModel({ model, host }: { model: string; host?: HostIdentity }): string {
  return host === undefined ? model : `${model} in ${formatHost(host)}`;
}

/** Checks if two hosts are the same in the same version; absent and null stand for the gate's own. */
export function isSameHost(one: HostIdentity | null = null, other: HostIdentity | null = null): boolean {
  return one?.id === other?.id && one?.version === other?.version && one?.program === other?.program;
}
