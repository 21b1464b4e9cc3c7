import { AsyncLocalStorage } from 'node:async_hooks';
import type { Secret } from '../../../src/base/redaction.ts';

/** What a key may do in its organization. A guest reads; an administrator also changes what members share. */
export type Role = 'admin' | 'member' | 'guest';

/** For whom a request is made: a key acts as its creator, within one organization. */
export interface Caller {
  /** Of the key; requests are metered by it. */
  keyId: string;
  user: { id: string; email: string; name: string };
  organizationId: string;
  role: Role;
}

/** A key that the service accepts. */
export interface AcceptedKey {
  secret: Secret;
  caller: Caller;
}

/** The body of a request as Node reads it from a socket; absent for a request that was made in this process. */
export type IncomingBody = AsyncIterable<Uint8Array> & {
  /** Whether it arrived whole; false of one whose client has gone. */
  readonly complete?: boolean;
};

/** What the routes find in the context of a request. */
export interface ApiEnv {
  Bindings: { incoming?: IncomingBody };
  Variables: { caller: Caller };
}

/** The one user of a service that has one key. */
export const localCaller: Caller = {
  keyId: 'key_local',
  user: { id: 'user_local', email: 'local@localhost', name: 'Local user' },
  organizationId: 'org_local',
  role: 'admin',
};

/** Who calls an operation that needs no key. */
export const anonymousCaller: Caller = {
  keyId: 'none',
  user: { id: 'none', email: '', name: '' },
  organizationId: 'none',
  role: 'guest',
};

/**
 * For whom the request under way is made, wherever its work is done: connecting to a server happens far below the routes, and also for
 * the requests that the agent makes for its caller.
 */
export const currentCaller = new AsyncLocalStorage<Caller>();
