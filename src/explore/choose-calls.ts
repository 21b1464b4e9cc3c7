import type { WorldSource } from './world/world.ts';

/**
 * Names the risk of calling tools that are not declared read-only; null if such calls can have no effect outside of their world. Only a
 * strict sandbox keeps effects and secrets in.
 */
export function findCallRisk(
  { sandbox }: Pick<WorldSource, 'sandbox'>,
  { secrets }: { secrets: readonly unknown[] },
): string | null {
  if (sandbox !== 'confined')
    return `the sandbox is at level ${sandbox}, where calls reach the network and other files`;
  return secrets.length > 0 ? '`server-env` has a value that may be a secret' : null;
}
