/** A repository by its owner and name. */
export interface Repository {
  owner: string;
  repo: string;
}

/** Reads `owner/name`; null for text that cannot name a repository. */
export function parseRepository(text: string): Repository | null {
  const [, owner, repo] = /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined || /^\.+$/.test(owner) || /^\.+$/.test(repo)) return null;
  return { owner, repo };
}
