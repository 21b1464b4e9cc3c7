import { z } from 'zod';
import type { Clock } from '../../../src/base/time.ts';
import { createServerAccess, type ServerAccess } from '../../../src/mcp/access.ts';
import { refreshTokens } from '../../../src/mcp/refresh-token.ts';
import type { Caller } from './callers.ts';
import { createId } from '../../../src/base/ids.ts';
import type { DocumentRecord } from './store/documents.ts';
import type { Store } from './store/open-store.ts';
import type { ServerRecord } from './store/server-store.ts';

const contentSchema = z.object({
  userId: z.string(),
  /** The server of the tokens, in the form of `identifyServer`. */
  server: z.string(),
  accessToken: z.string(),
  scope: z.string().nullable(),
  /** Epoch milliseconds. */
  expiresAt: z.number().nullable(),
  /** Null if the tokens cannot be refreshed. */
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

/** The OAuth tokens that callers imported for servers. The API never returns them. */
export interface TokenBook {
  /** Replaces the tokens that the caller imported for the server earlier. */
  keep(server: ServerRecord, caller: Caller, tokens: Omit<StoredTokens, 'userId' | 'server'>): void;
  /** Returns the caller's access; null if the caller imported no tokens for the current URL of the record. */
  find(server: ServerRecord, caller: Caller | undefined): ServerAccess | null;
}

/**
 * Keeps tokens per user, project and server. All requests of a user to a server share one access, because a refresh may invalidate the
 * token that it used.
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
    // If the refresh fails, the server refuses the old token and answers that it needs a grant, which is the answer that the caller needs.
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
      // A user who may edit the record must not be able to send the tokens of other users to another URL.
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

/** Returns a server's URL without its query and final slash. Tokens are bound to it. */
export function identifyServer(url: string): string {
  const { origin = '', pathname = '' } = URL.parse(url) ?? {};
  return `${origin}${pathname.replace(/\/$/, '')}`;
}
