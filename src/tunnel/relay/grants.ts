import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/time.ts';
import { Secret } from '../../base/redaction.ts';
import { digestText, isSecretOf } from '../../http/credentials.ts';

/** The credentials of both sides for a tunnel to one server. */
export interface Grant {
  serverId: string;
  /** The same for every grant of the server. */
  slug: string;
  /** The secret in the public URL, which callers present. */
  secret: Secret;
  /** The token that the host presents. */
  connectToken: Secret;
  /** Epoch milliseconds. */
  connectTokenExpiresAt: number;
  /** Counts the grants of the server from 1, also across restarts of the service. */
  secretVersion: number;
}

/** The reason why a host is refused: its token is unknown or too old, or its grant was replaced or revoked. */
export type Refusal = 'invalid' | 'superseded';

export interface GrantBook {
  /**
   * Grants a tunnel, and revokes the earlier grants of the server. `lastVersion` is the version of the latest grant by another process,
   * or 0.
   */
  issue(serverId: string, lastVersion: number): Grant;
  revoke(serverId: string): void;
  /** Checks if `secret` belongs to the server's current grant. Takes as long for a server without one. */
  isSecret(serverId: string, secret: string): boolean;
  admit(connectToken: string): { serverId: string; slug: string } | Refusal;
}

/** As long as a GitHub job may run, so that a host that reconnects does not need a new grant. */
const tokenLifetimeMs = 6 * 60 * 60_000;

/** Stores the grants of this process, as digests only. */
export function createGrantBook(clock: Clock): GrantBook {
  const versions = new Map<string, number>();
  const secrets = new Map<string, Buffer>();
  // Includes replaced tokens, to distinguish a host with an earlier grant from one with an invented token.
  const tokens = new Map<string, { serverId: string; version: number; expiresAt: number }>();
  const unknownDigest = randomBytes(32);
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
    isSecret: (serverId, secret) => isSecretOf(secret, secrets.get(serverId) ?? unknownDigest),
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

/** Tokens are found by their digest, so that the timing of the lookup reveals nothing about them. */
function nameToken(connectToken: string): string {
  return digestText(connectToken).toString('base64');
}

function nameServer(serverId: string): string {
  return digestText(serverId).toString('hex').slice(0, 12);
}
