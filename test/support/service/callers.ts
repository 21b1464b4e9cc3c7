import { Secret } from '../../../src/base/redaction.ts';
import type { AcceptedKey, Role } from '../../../packages/eval-service/src/callers.ts';

/** A key of a user with a role; its text is `sk_<name>`. */
export function holdKey(name: string, organizationId: string, role: Role): AcceptedKey {
  const user = { id: `user_${name}`, email: `${name}@localhost`, name };
  return { secret: new Secret(`sk_${name}`), caller: { keyId: `key_${name}`, user, organizationId, role } };
}
