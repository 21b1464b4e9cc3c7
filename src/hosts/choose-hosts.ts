import { ConfigurationError } from '../base/errors.ts';
import { hostProfiles } from './catalog.ts';
import type { HostProfile } from './profile.ts';

/**
 * Chooses the profiles that a list such as `claude-code,codex` names, in its order; all without a list.
 *
 * @throws {ConfigurationError} if it names an unknown host, or none
 */
export function chooseHosts(list: string | null): readonly HostProfile[] {
  if (list === null) return hostProfiles;
  const ids = [...new Set(list.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  const known = hostProfiles.map(({ id }) => id).join(', ');
  const chosen = ids.map((id) => hostProfiles.find((profile) => profile.id === id) ?? id);
  const unknown = chosen.filter((each) => typeof each === 'string');
  if (ids.length > 0 && unknown.length === 0) return chosen.filter((each) => typeof each !== 'string');
  const problem =
    ids.length === 0
      ? 'names no host'
      : `names ${unknown.map((id) => JSON.stringify(id)).join(', ')}, which ${unknown.length === 1 ? 'is no known host' : 'are no known hosts'}`;
  throw new ConfigurationError([{ input: 'hosts', code: 'unknown-host', message: `${problem}; known are ${known}` }]);
}
