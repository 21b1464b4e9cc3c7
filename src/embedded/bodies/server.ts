import type { ServerChanges, ServerContent } from '../../service/operations/servers.ts';

/** Applies a write to a server record. */
export function changeServerContent(before: ServerContent, changes: ServerChanges): ServerContent {
  const { clearClientSecret, clearXaaConfig, ...fields } = changes;
  const after: ServerContent = { ...before, ...fields };
  if (clearClientSecret === true) delete after.clientSecret;
  if (clearXaaConfig === true) {
    for (const key of xaaKeys) delete after[key];
  }
  return after;
}

const xaaKeys = [
  'useXaa',
  'xaaAuthzIssuer',
  'xaaAllowPathScopedIssuer',
  'xaaSubject',
  'xaaEmail',
  'xaaIdentityAssertionFormat',
  'xaaClientAuth',
] as const;
