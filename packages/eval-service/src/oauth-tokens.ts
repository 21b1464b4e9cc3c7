import { z } from 'zod';
import type { Clock } from '../../../src/base/time.ts';
import { createServerAccess, type ServerAccess } from '../../../src/mcp/access.ts';
import { refreshTokens } from '../../../src/mcp/refresh-token.ts';
import type { Caller } from './callers.ts';
import { createId } from '../../../src/base/ids.ts';
import type { DocumentRecord } from './store/documents.ts';
import type { Store } from './store/open.ts';
import type { ServerRecord } from './store/servers.ts';

const contentSchema = z.object({
  userId: z.string(),
  /** The server that the tokens are for, as `identifyServer` writes it. */
  server: z.string(),
  accessToken: z.string(),
  scope: z.string().nullable(),
  /** Epoch milliseconds. */
  expiresAt: z.number().nullable(),
  /** Null where the tokens cannot be refreshed. */
  refresh: z
    .object({
      issuer: z.string(),
      clientId: z.string(),
      clientSecret: z.string().nullable(),
      refreshToken: z.string(),
      resource: z.string().nullable(),
    })
    .nullable(),
});
type StoredTokens = z.infer<typeof contentSchema>;

/** The OAuth tokens that callers brought for servers. They are never read back. */
export interface TokenBook {
  /** Replaces what the caller brought for the server before. */
  keep(server: ServerRecord, caller: Caller, tokens: Omit<StoredTokens, 'userId' | 'server'>): void;
  /** What lets the caller's requests in; null where the caller brought no tokens for the URL that the record has now. */
  find(server: ServerRecord, caller: Caller | undefined): ServerAccess | null;
}

/**
 * Keeps tokens per user, project and server. All requests of a user to a server share one access, since a refresh may invalidate
 * the token that it used.
 */
export function openTokenBook({ store, clock }: { store: Store; clock: Clock }): TokenBook {
  const documents = store.documents.open('oauth-tokens', contentSchema);
  const open = new Map<string, ServerAccess>();

  const listOwn = ({ id }: ServerRecord, { user }: Caller) =>
    documents.listOf(id).filter(({ content }) => content.userId === user.id);

  const refresh = async ({ id, projectId }: DocumentRecord<StoredTokens>) => {
    const kept = documents.get(projectId, id);
    if (kept === undefined) throw new Error('The tokens were deleted.');
    const { content } = kept;
    const unchanged = { value: content.accessToken, scope: content.scope, expiresAtMs: null };
    if (content.refresh === null) return unchanged;
    // With the token that it has, the server answers that it needs a grant, and that is what the caller has to know.
    const tokens = await refreshTokens(content.refresh, clock).catch(() => null);
    if (tokens === null) return unchanged;
    const { accessToken, refreshToken, scope, lifetimeS } = tokens;
    const now = clock.now();
    const expiresAt = lifetimeS === null ? null : now + lifetimeS * 1000;
    const renewed = { ...content, accessToken, scope, expiresAt, refresh: { ...content.refresh, refreshToken } };
    documents.update({ id, content: renewed, now });
    return { value: accessToken, scope, expiresAtMs: expiresAt };
  };

  return {
    keep: (server, caller, tokens) => {
      const content = { ...tokens, userId: caller.user.id, server: identifyServer(server.content.url ?? '') };
      store.transact(() => {
        for (const { id } of listOwn(server, caller)) {
          documents.delete(id);
          open.delete(id);
        }
        const { projectId, id: parentId } = server;
        documents.insert({ id: createId('oat'), projectId, parentId, content, now: clock.now() });
      });
    },
    find: (server, caller) => {
      const [kept] = caller === undefined ? [] : listOwn(server, caller);
      const { url } = server.content;
      // A user who may edit the record must not get the tokens of others sent to a URL of their own.
      if (kept === undefined || url === undefined || kept.content.server !== identifyServer(url)) return null;
      const { accessToken: value, scope, expiresAt } = kept.content;
      const access =
        open.get(kept.id) ??
        createServerAccess({
          url,
          headers: new Map(),
          requestToken: kept.content.refresh === null ? null : () => refresh(kept),
          token: { value, scope, expiresAtMs: kept.content.refresh === null ? null : expiresAt },
          clock,
        });
      open.set(kept.id, access);
      return access;
    },
  };
}

/** A server's URL without its query and a final slash: what tokens are bound to. */
export function identifyServer(url: string): string {
  const { origin = '', pathname = '' } = URL.parse(url) ?? {};
  return `${origin}${pathname.replace(/\/$/, '')}`;
}
