import { AsyncLocalStorage } from 'node:async_hooks';
import type { Secret } from '../../../src/base/redaction.ts';

/** The role of a key in its organization. A guest only reads; an administrator may also change settings that members share. */
export type Role = 'admin' | 'member' | 'guest';

/** The caller of a request. A key acts as its creator, within one organization. */
export interface Caller {
  /** The id of the key, by which requests are metered. */
  keyId: string;
  user: { id: string; email: string; name: string };
  organizationId: string;
  role: Role;
}

/** A key that the service accepts, with its caller. */
export interface AcceptedKey {
  secret: Secret;
  caller: Caller;
}

/** The body of a request as Node reads it from a socket; absent if the request was made in this process. */
export type IncomingBody = AsyncIterable<Uint8Array> & {
  /** True if the whole body arrived; false if the client disconnected before that. */
  readonly complete?: boolean;
};

/** The values in the context of a request. */
export interface ApiEnv {
  Bindings: { incoming?: IncomingBody };
  Variables: { caller: Caller };
}

/** The only user of a service with a single key. */
export const localCaller: Caller = {
  keyId: 'key_local',
  user: { id: 'user_local', email: 'local@localhost', name: 'Local user' },
  organizationId: 'org_local',
  role: 'admin',
};

/** The caller of an operation that needs no key. */
export const anonymousCaller: Caller = {
  keyId: 'none',
  user: { id: 'none', email: '', name: '' },
  organizationId: 'none',
  role: 'guest',
};

/**
 * The caller of the current request, for code far below the routes, such as connecting to a server. It is also set for requests that the
 * agent makes for its caller.
 */
export const currentCaller = new AsyncLocalStorage<Caller>();
