import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { leadsOutOfCheckout, linkOutMessage } from '../../base/files.ts';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import type { PolicyFile } from '../../model/policy.ts';
import { readPolicy, readPolicyInput } from '../../suite/read-policy.ts';
import type { PolicyInput } from '../../suite/policy-schema.ts';

/**
 * Reads the policy of the options: the file at a path, or the object that a program passes. What is wrong with it goes to `issues`;
 * null then, and where there is none.
 */
export async function readPolicyOption(
  policy: string | PolicyInput | null,
  cwd: string,
  issues: ConfigurationIssue[],
): Promise<PolicyFile | null> {
  if (policy === null) return null;
  if (typeof policy === 'string') return await readPolicyFile(policy, cwd, issues);
  const reading = readPolicyInput(policy);
  appendAll(issues, reading.issues);
  return reading.policy;
}

async function readPolicyFile(path: string, cwd: string, issues: ConfigurationIssue[]): Promise<PolicyFile | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    issues.push({ file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage });
    return null;
  }
  let text: string;
  try {
    text = await readFile(resolve(cwd, path), 'utf8');
  } catch (error) {
    const message = `${JSON.stringify(path)} cannot be read: ${describeError(error)}`;
    issues.push({ input: 'policy', code: 'unreadable-policy', message });
    return null;
  }
  const { policy, findings } = readPolicy(text, { file: path });
  appendAll(issues, findings);
  return policy;
}
