import type { ConfigurationIssue } from '../../base/errors.ts';
import type { GateOptions } from './schema.ts';

/** Finds isolation that is asked for and cannot be had, whatever the machine allows. */
export function findSandboxIssues({
  sandbox,
  sandboxNetwork,
  sandboxWrite,
  serverCommand,
  serverUrl,
}: GateOptions): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  if (sandbox === 'required' && serverCommand === null && serverUrl !== null) {
    const message =
      'is `required`, and the gate cannot isolate a server that it does not start; give `server-command`, or leave it at `auto`';
    issues.push({ input: 'sandbox', code: 'needs-server-command', message });
  }
  if (sandboxNetwork === 'off' && serverUrl !== null) {
    const message =
      'is `off`, and a server without a network cannot be reached at `server-url`; use stdio, or leave it `on`';
    issues.push({ input: 'sandbox-network', code: 'network-and-url', message });
  }
  if (sandboxNetwork === 'off' && sandbox === 'off') {
    const message = 'is `off`, which takes a sandbox; set `sandbox` to `auto` or `required`, or leave it `on`';
    issues.push({ input: 'sandbox-network', code: 'needs-sandbox', message });
  }
  if (sandboxWrite.length > 0 && sandbox !== 'required') {
    const message = 'has no effect without `sandbox: required`; set that, or remove it';
    issues.push({ input: 'sandbox-write', code: 'needs-sandbox', message });
  }
  return issues;
}
