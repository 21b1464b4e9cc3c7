import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/time.ts';
import { Secret } from '../../base/redaction.ts';
import { digestText, isSecretOf } from '../../http/credentials.ts';

/** What opens a tunnel to one server, from either side. */
export interface Grant {
  serverId: string;
  /** The same for every grant of the server. */
  slug: string;
  /** What callers of the public URL show. */
  secret: Secret;
  /** What the host shows. */
  connectToken: Secret;
  /** In epoch milliseconds. */
  connectTokenExpiresAt: number;
  /** Counts the grants of the server from 1, also across restarts of the service. */
  secretVersion: number;
}

/** Why a host may not come in: its token was never given out or is too old, or a later grant took its place. */
export type Refusal = 'invalid' | 'superseded';

export interface GrantBook {
  /**
   * Grants a tunnel. What was granted for the server before is worth nothing from then on. `lastVersion` is that of the latest grant
   * that another process gave, or 0.
   */
  issue(serverId: string, lastVersion: number): Grant;
  revoke(serverId: string): void;
  /** Whether `secret` belongs to the server's present grant. Takes as long for a server that has none. */
  isSecret(serverId: string, secret: string): boolean;
  admit(connectToken: string): { serverId: string; slug: string } | Refusal;
}

/** As long as a job of GitHub's may run, so that a host that comes back does not need another grant. */
const tokenLifetimeMs = 6 * 60 * 60_000;

/** Keeps the grants of this process, by digest alone. */
export function createGrantBook(clock: Clock): GrantBook {
  const versions = new Map<string, number>();
  const secrets = new Map<string, Buffer>();
  // Also of the past, to tell a host whose place was taken from one that made its token up.
  const tokens = new Map<string, { serverId: string; version: number; expiresAt: number }>();
  const nobody = randomBytes(32);
  return {
    issue: (serverId, lastVersion) => {
      const version = Math.max(versions.get(serverId) ?? 0, lastVersion) + 1;
      const [secret, connectToken] = [createSecret('k_'), createSecret('ct_')];
      const expiresAt = clock.now() + tokenLifetimeMs;
      versions.set(serverId, version);
      secrets.set(serverId, digestText(secret.reveal()));
      tokens.set(nameToken(connectToken.reveal()), { serverId, version, expiresAt });
      const slug = nameServer(serverId);
      return { serverId, slug, secret, connectToken, connectTokenExpiresAt: expiresAt, secretVersion: version };
    },
    revoke: (serverId) => {
      secrets.delete(serverId);
    },
    isSecret: (serverId, secret) => isSecretOf(secret, secrets.get(serverId) ?? nobody),
    admit: (connectToken) => {
      const token = tokens.get(nameToken(connectToken));
      if (token === undefined) return 'invalid';
      const { serverId, version, expiresAt } = token;
      if (!secrets.has(serverId) || versions.get(serverId) !== version) return 'superseded';
      return expiresAt <= clock.now() ? 'invalid' : { serverId, slug: nameServer(serverId) };
    },
  };
}

function createSecret(prefix: string): Secret {
  return new Secret(`${prefix}${randomBytes(32).toString('base64url')}`);
}

/** Tokens are looked up by digest, which no timing of the lookup helps to find. */
function nameToken(connectToken: string): string {
  return digestText(connectToken).toString('base64');
}

function nameServer(serverId: string): string {
  return digestText(serverId).toString('hex').slice(0, 12);
}
