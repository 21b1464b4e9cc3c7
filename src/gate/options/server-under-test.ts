import { z } from 'zod';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { openGroup, type OptionRule, type OptionValues, serverCommands } from './define-option.ts';
import { headers, oauthClient } from './server-access.ts';
import {
  choice,
  duration,
  environment,
  flag,
  issue,
  lines,
  optionalOrigin,
  optionalProtocol,
  optionalSecret,
  optionalText,
  words,
} from './values.ts';

/** A file in which MCP clients list their servers, and the chosen servers. */
export interface McpConfigOption {
  path: string;
  /** The names after `#`; empty for all servers of the file. */
  names: readonly string[];
}

const mcpConfig = optionalText.transform((text, context): McpConfigOption | null => {
  if (text === null) return null;
  const [, path = text, list] = /^(.+)#(.*)$/.exec(text) ?? [];
  const names = [...new Set((list ?? '').split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (list === undefined || names.length > 0) return { path, names };
  context.addIssue(issue(`${JSON.stringify(text)} names no server after \`#\`; write one such as ${path}#notes`));
  return z.NEVER;
});

const defineOption = openGroup('The server under test');

const withoutCommand = {
  code: 'needs-server-command',
  message: 'has no effect without `server-command`; remove it or start the server here',
};

/** Credentials for the server that would never be sent. */
const accessRules: OptionRule[] = [
  {
    needs: ['server-url', 'mcp-config'],
    code: 'needs-server-url',
    message: 'goes over HTTP, and the server speaks over stdio; give `server-url`, or pass it with `server-env`',
  },
  {
    excludes: ['tunnel: never'],
    when: ['server-url'],
    unless: ['service: embedded', 'mcp-config'],
    code: 'needs-tunnel',
    message:
      'is sent by the tunnel, and without one the service {service} reaches the server itself; leave `tunnel` at auto',
  },
];

export const serverOptions = {
  serverCommand: defineOption({
    schema: optionalText,
    hint: '<command>',
    text: 'The command that starts the MCP server; no shell runs it. The server speaks over stdio unless `server-url` says where it listens.',
    commands: serverCommands,
    rules: [
      {
        isRequired: true,
        unless: ['server-url', 'mcp-config', 'suite'],
        code: 'missing-server',
        message: 'no server to test; give `server-command` to start one, `server-url` to name one, or `mcp-config`',
      },
    ],
    isRepeated: true,
  }),
  serverUrl: defineOption({
    schema: optionalText,
    hint: '<url>',
    text: 'The URL of the MCP endpoint (streamable HTTP or HTTP+SSE). Alone it names a running server. With `server-command`, it says where the started server listens.',
    commands: serverCommands,
    isRepeated: true,
  }),
  mcpConfig: defineOption({
    schema: mcpConfig,
    hint: '<path[#names]>',
    text: 'A file with `mcpServers`, such as `.mcp.json`, or `.mcp.json#notes,search` for some of its servers. It excludes `server-command`, `server-url` and `server-cwd`.',
    commands: serverCommands,
    rules: [
      {
        excludes: ['server-command', 'server-url', 'server-cwd', 'server-headers', 'server-oauth'],
        code: 'mcp-config-and-server',
        message: 'says how the servers are started and reached; leave out {found}, or the file',
      },
    ],
    isRepeated: true,
  }),
  serverHeaders: defineOption({
    schema: headers,
    text: 'Headers for the server at `server-url`, each as `Name: value`. Write one per line, and take secrets from the store of the CI system. No other origin gets them.',
    variables: ['MCP_EVAL_SERVER_HEADERS'],
    commands: serverCommands,
    rules: accessRules,
  }),
  serverOauth: defineOption({
    schema: oauthClient,
    text: 'The OAuth client that gets tokens for `server-url`: `client-id=…`, `issuer=…` and, if needed, `scope=…`. Write one per line.',
    commands: serverCommands,
    rules: [
      ...accessRules,
      {
        isRequired: true,
        when: ['server-oauth-secret'],
        unless: ['mcp-config'],
        code: 'missing-server-oauth',
        message: 'is needed with `server-oauth-secret`',
      },
    ],
    isRepeated: true,
  }),
  serverOauthSecret: defineOption({
    schema: optionalSecret,
    hint: '<secret>',
    text: 'The secret of the client in `server-oauth`, or its private key in PEM.',
    variables: ['MCP_EVAL_SERVER_OAUTH_SECRET'],
    commands: serverCommands,
    rules: [
      ...accessRules,
      {
        isRequired: true,
        when: ['server-oauth'],
        unless: ['mcp-config'],
        code: 'missing-server-oauth-secret',
        message: 'is needed with `server-oauth`',
      },
    ],
  }),
  oauthTokenOrigin: defineOption({
    schema: optionalOrigin,
    hint: '<origin>',
    text: 'The origin of the token endpoint if it differs from that of the `issuer`, such as `https://tokens.example.com`. By default, only the origin of the issuer gets the secret.',
    commands: serverCommands,
    rules: [
      {
        needs: ['server-oauth'],
        code: 'needs-server-oauth',
        message: 'has no effect without `server-oauth`; set that, or remove it',
      },
    ],
    isRepeated: true,
  }),
  serverEnv: defineOption({
    schema: environment,
    text: 'Variables for the server: `NAME=value` sets one, `NAME` passes one of the job on. Write one per line. `{{env.NAME}}` in evals and `${NAME}` in `mcp-config` have the same values.',
    commands: serverCommands,
    // Of the gate, cases may use them, too.
    rules: [{ needs: ['server-command', 'mcp-config'], commands: ['doctor', 'tunnel'], ...withoutCommand }],
    isRepeated: true,
  }),
  allowEnvHosts: defineOption({
    schema: words,
    hint: '<host,…>',
    text: 'The hosts to which `mcp-config` of a pull request may send variables of `server-env`. The default is those that the file names in the base.',
    commands: serverCommands,
    rules: [
      {
        needs: ['mcp-config'],
        code: 'needs-mcp-config',
        message: 'has no effect without `mcp-config`; set that, or remove it',
      },
      {
        needs: ['server-env'],
        when: ['mcp-config'],
        code: 'needs-server-env',
        message: 'has no effect without `server-env`; set that, or remove it',
      },
    ],
    isRepeated: true,
  }),
  serverCwd: defineOption({
    schema: optionalText,
    hint: '<directory>',
    text: 'The directory to start the server in, relative to the working directory, which is the default.',
    commands: serverCommands,
    rules: [{ needs: ['server-command', 'mcp-config'], ...withoutCommand }],
    isRepeated: true,
  }),
  serverReadyTimeout: defineOption({
    schema: duration,
    text: 'How long the server may take to answer its first MCP request, such as `90s` or `2m`.',
    default: '60s',
    commands: serverCommands,
    isRepeated: true,
  }),
  isolation: defineOption({
    schema: choice('isolation', ['iteration', 'run']),
    text: '`iteration` gives each iteration a fresh session, and `run` lets all of a run share one stdio process. Over stdio, a fresh session has a fresh process.',
    default: 'iteration',
    commands: ['run', 'tunnel'],
    isRepeated: true,
  }),
  sandbox: defineOption({
    schema: choice('sandbox', ['auto', 'off', 'required']),
    text: 'How the started server is isolated. `auto` hides other processes and makes what decides the verdict read-only, where the machine allows it. `required` also limits writes, or ends the gate where the machine cannot.',
    default: 'auto',
    commands: ['run', 'doctor', 'explore'],
    rules: [
      {
        is: 'required',
        excludes: ['server-url'],
        unless: ['server-command'],
        commands: ['run'],
        code: 'needs-server-command',
        message:
          'is `required`, and the gate cannot isolate a server that it does not start; give `server-command`, or leave it at `auto`',
      },
    ],
    isRepeated: true,
  }),
  enableSandbox: defineOption({
    schema: flag,
    text: 'Whether to allow the sandbox on a hosted Linux runner, with `sudo sysctl`: `true` or `false`. It changes no other machine, and warns if it cannot.',
    default: 'false',
    commands: ['run', 'doctor', 'explore'],
    rules: [
      {
        excludes: ['sandbox: off'],
        code: 'needs-sandbox',
        message: 'has no effect with `sandbox: off`; remove one of the two',
      },
      { needs: ['server-command', 'mcp-config'], commands: ['run'], ...withoutCommand },
    ],
  }),
  sandboxNetwork: defineOption({
    schema: choice('sandbox network', ['on', 'off']),
    text: 'Whether the server reaches the network. `off` leaves a server on stdio a loopback interface of its own. Where the machine cannot do that, the gate is inconclusive.',
    default: 'on',
    commands: ['run', 'doctor'],
    rules: [
      {
        excludes: ['server-url'],
        commands: ['run'],
        code: 'network-and-url',
        message:
          'is `off`, and a server without a network cannot be reached at `server-url`; use stdio, or leave it `on`',
      },
      {
        excludes: ['sandbox: off'],
        commands: ['run'],
        code: 'needs-sandbox',
        message: 'is `off`, which takes a sandbox; set `sandbox` to `auto` or `required`, or leave it `on`',
      },
    ],
    isRepeated: true,
  }),
  sandboxWrite: defineOption({
    schema: lines,
    hint: '<path>',
    text: 'Existing paths that the server may write to with `sandbox: required` or a `base`. Write one per line. By default, the server writes only to its own directories.',
    commands: ['run', 'doctor'],
    // At `auto`, only a comparison limits writes: each side may write only to its own directories.
    rules: [{ needs: ['sandbox: required', 'base'] }, { excludes: ['sandbox: off'], when: ['base'] }].map((rule) => ({
      ...rule,
      commands: ['run'],
      code: 'needs-sandbox',
      message: 'has no effect without `sandbox: required` or a `base` to compare with; set one, or remove it',
    })),
    isRepeated: true,
  }),
  protocol: defineOption({
    schema: optionalProtocol,
    hint: '<revision>',
    text: 'The MCP revision to test: `auto`, `2025-11-25`, `2026-07-28`, or `both` to run every case in each. It overrides the key `protocol` of evals files.',
    commands: ['run', 'surface'],
    isFlagOnly: true,
    isEvalsKey: true,
    isRepeated: true,
  }),
  allowPullRequestTarget: defineOption({
    schema: flag,
    text: 'Whether a server may start on `pull_request_target`: `true` or `false`. Code of a pull request gets the secrets of the repository there.',
    default: 'false',
  }),
  allowUnsandboxedChecks: defineOption({
    schema: flag,
    text: 'Whether a CI job may run `checkModules` of evals files on a machine without a sandbox: `true` or `false`. A pull request can then run code with the rights of the job.',
    default: 'false',
  }),
};

type Values = OptionValues<typeof serverOptions>;

export const serverChecks = {
  serverUrl: ({ serverUrl }: Values): ConfigurationIssue[] => {
    if (serverUrl === null || /^https?:$/.test(URL.parse(serverUrl)?.protocol ?? '')) return [];
    // Does not quote the URL, because it may hold a key.
    const message = 'is not an http or https URL; write one such as http://127.0.0.1:3000/mcp';
    return [{ input: 'server-url', code: 'bad-url', message }];
  },
  serverHeaders: ({ serverHeaders, serverOauth, mcpConfig: file }: Values): ConfigurationIssue[] => {
    if (file !== null || serverOauth === null || !serverHeaders.has('authorization')) return [];
    const message = 'has the header Authorization, and so has the token of `server-oauth`; give one of the two';
    return [{ input: 'server-headers', code: 'two-authorizations', message }];
  },
  oauthTokenOrigin: ({ oauthTokenOrigin, serverOauth }: Values): ConfigurationIssue[] => {
    if (serverOauth === null || URL.parse(serverOauth.issuer)?.origin !== oauthTokenOrigin) return [];
    const message = 'has no effect, because it is the origin of the `issuer`, which gets the secret anyway; remove it';
    return [{ input: 'oauth-token-origin', code: 'origin-of-issuer', message }];
  },
  allowEnvHosts: ({ allowEnvHosts }: Values): ConfigurationIssue[] =>
    allowEnvHosts
      .filter((host) => !isHost(host))
      .map((host) => {
        const message = `${JSON.stringify(host)} is no host and has no effect; write the host of the URL, such as staging.example.com or staging.example.com:8443`;
        return { input: 'allow-env-hosts', code: 'bad-host', message };
      }),
};

/** Checks if a text can be the host of a URL, with its port unless it is the default one. */
function isHost(text: string): boolean {
  return ['http', 'https'].some((scheme) => URL.parse(`${scheme}://${text}/`)?.host === text.toLowerCase());
}
