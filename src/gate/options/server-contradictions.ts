import { appendAll } from '../../base/lists.ts';
import type { ConfigurationIssue } from '../../base/errors.ts';
import type { GateOptions } from './schema.ts';
import { findAccessContradictions } from './server-access.ts';

const issue = (input: string, code: string, message: string): ConfigurationIssue => ({ input, code, message });

export const idleWithoutCommand = 'has no effect without `server-command`; remove it or start the server here';

/** Finds contradictions between the options about the server, and a missing server. */
export function findServerIssues(options: GateOptions): ConfigurationIssue[] {
  const { serverCommand, serverUrl, serverCwd, mcpConfig, suite, environment } = options;
  const issues: ConfigurationIssue[] = [];
  const hasServer = serverCommand !== null || serverUrl !== null || mcpConfig !== null;
  if (!hasServer && suite === null) {
    issues.push(
      issue(
        'server-command',
        'missing-server',
        'no server to test; give `server-command` to start one, `server-url` to name one, or `mcp-config`',
      ),
    );
  }
  if (serverCommand === null && mcpConfig === null && serverCwd !== null) {
    issues.push(issue('server-cwd', 'needs-server-command', idleWithoutCommand));
  }
  appendAll(issues, mcpConfig === null ? findAccessContradictions(options) : findConfigContradictions(options));
  appendAll(issues, findIdleAllowances(options));
  if (serverUrl !== null && !/^https?:$/.test(URL.parse(serverUrl)?.protocol ?? '')) {
    // Does not quote the URL, because it may hold a key.
    issues.push(
      issue('server-url', 'bad-url', 'is not an http or https URL; write one such as http://127.0.0.1:3000/mcp'),
    );
  }
  if (environment !== null && suite === null) {
    issues.push(issue('environment', 'needs-suite', 'is an environment to run a `suite` of the service in; name one'));
  }
  if (environment !== null && hasServer) {
    issues.push(
      issue(
        'environment',
        'environment-and-server',
        'brings its own servers; leave out `server-command`, `server-url` and `mcp-config`',
      ),
    );
  }
  return issues;
}

/** Finds permissions without effect. */
function findIdleAllowances({
  allowEnvHosts,
  mcpConfig,
  serverEnv,
  oauthTokenOrigin,
  serverOauth,
}: GateOptions): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  if (allowEnvHosts.length > 0) {
    const missing = mcpConfig === null ? 'mcp-config' : serverEnv.size === 0 ? 'server-env' : null;
    if (missing !== null) {
      const message = `has no effect without \`${missing}\`; set that, or remove it`;
      issues.push(issue('allow-env-hosts', `needs-${missing}`, message));
    }
    for (const host of allowEnvHosts.filter((each) => !isHost(each))) {
      const message = `${JSON.stringify(host)} is no host and has no effect; write the host of the URL, such as staging.example.com or staging.example.com:8443`;
      issues.push(issue('allow-env-hosts', 'bad-host', message));
    }
  }
  if (oauthTokenOrigin !== null) {
    if (serverOauth === null) {
      const message = 'has no effect without `server-oauth`; set that, or remove it';
      issues.push(issue('oauth-token-origin', 'needs-server-oauth', message));
    } else if (URL.parse(serverOauth.issuer)?.origin === oauthTokenOrigin) {
      const message =
        'has no effect, because it is the origin of the `issuer`, which gets the secret anyway; remove it';
      issues.push(issue('oauth-token-origin', 'origin-of-issuer', message));
    }
  }
  return issues;
}

/** Checks if a text can be the host of a URL, with its port unless it is the default one. */
function isHost(text: string): boolean {
  return ['http', 'https'].some((scheme) => URL.parse(`${scheme}://${text}/`)?.host === text.toLowerCase());
}

/** Finds options that the file already sets for each of its servers. */
function findConfigContradictions(options: GateOptions): ConfigurationIssue[] {
  const given = {
    'server-command': options.serverCommand !== null,
    'server-url': options.serverUrl !== null,
    'server-cwd': options.serverCwd !== null,
    'server-headers': options.serverHeaders.size > 0,
    'server-oauth': options.serverOauth !== null,
  };
  const excluded = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? [`\`${name}\``] : []));
  if (excluded.length === 0) return [];
  const message = `says how the servers are started and reached; leave out ${excluded.join(', ')}, or the file`;
  return [issue('mcp-config', 'mcp-config-and-server', message)];
}

/** Finds isolation settings that cannot work on any machine. */
export function findSandboxIssues({
  sandbox,
  sandboxNetwork,
  sandboxWrite,
  serverCommand,
  serverUrl,
  base,
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
  // At `auto`, only a comparison limits writes: each side may write only to its own directories.
  const limitsWrites = sandbox === 'required' || (sandbox === 'auto' && base !== null);
  if (sandboxWrite.length > 0 && !limitsWrites) {
    const message = 'has no effect without `sandbox: required` or a `base` to compare with; set one, or remove it';
    issues.push({ input: 'sandbox-write', code: 'needs-sandbox', message });
  }
  return issues;
}
