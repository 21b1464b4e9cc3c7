import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import type { PolicyFile } from '../../model/policy.ts';
import { readPolicy } from '../../suite/read-policy.ts';

/** Reads the policy file. What is wrong with it goes to `issues`; null then. */
export async function readPolicyFile(
  path: string,
  cwd: string,
  issues: ConfigurationIssue[],
): Promise<PolicyFile | null> {
  let text: string;
  try {
    text = await readFile(resolve(cwd, path), 'utf8');
  } catch (error) {
    const message = `${JSON.stringify(path)} cannot be read: ${describeError(error)}`;
    issues.push({ input: 'policy', code: 'unreadable-policy', message });
    return null;
  }
  const { policy, findings } = readPolicy(text, { file: path });
  issues.push(...findings);
  return policy;
}
