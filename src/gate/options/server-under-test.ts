import { z } from 'zod';
import {
  choice,
  duration,
  environment,
  flag,
  issue,
  lines,
  option,
  optionalOrigin,
  optionalProtocol,
  optionalSecret,
  optionalText,
  words,
} from './values.ts';
import { headers, oauthClient } from './server-access.ts';

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

export const serverOptions = {
  serverCommand: option(optionalText, {
    group: 'The server under test',
    hint: '<command>',
    brief: 'Start the server with this command. No shell reads it, and the server is spoken to over stdio.',
    description:
      'The command that starts the MCP server; no shell runs it. The server speaks over stdio unless `server-url` says where it listens.',
    default: '',
  }),
  serverUrl: option(optionalText, {
    group: 'The server under test',
    hint: '<url>',
    brief: 'Where the server listens on HTTP. Alone, it names a server that runs already.',
    description:
      'The URL of the MCP endpoint (streamable HTTP or HTTP+SSE). Alone it names a running server; with `server-command`, where the started one listens.',
    default: '',
  }),
  mcpConfig: option(mcpConfig, {
    group: 'The server under test',
    hint: '<path[#names]>',
    brief: 'Test servers of a file: .mcp.json, or .mcp.json#notes for one of them.',
    description:
      'A file with `mcpServers`, as clients of MCP read it, such as `.mcp.json`; `.mcp.json#notes,search` chooses servers. It excludes `server-command`, `server-url` and `server-cwd`.',
    default: '',
  }),
  serverHeaders: option(headers, {
    group: 'The server under test',
    hint: '<Name: value>',
    brief: 'A header that the server at --server-url needs; may be given again.',
    isList: true,
    isSecret: true,
    description:
      'Headers for the server at `server-url`, one `Name: value` per line, from secrets. No other origin gets them.',
    default: '',
  }),
  serverOauth: option(oauthClient, {
    group: 'The server under test',
    hint: '<key=value>',
    brief: 'Get tokens as an OAuth client: client-id, issuer and scope.',
    isList: true,
    description:
      'The OAuth client that gets tokens for `server-url`: `client-id=…`, `issuer=…` and, if needed, `scope=…`, one per line.',
    default: '',
  }),
  serverOauthSecret: option(optionalSecret, {
    group: 'The server under test',
    hint: '<secret>',
    isSecret: true,
    brief: 'The secret of that client, or its private key in PEM.',
    description: 'The secret of the client in `server-oauth`, or its private key in PEM.',
    default: '',
  }),
  oauthTokenOrigin: option(optionalOrigin, {
    group: 'The server under test',
    hint: '<origin>',
    brief: 'Another origin than that of the issuer that may get the secret for a token.',
    description:
      'The origin of the token endpoint, such as `https://tokens.example.com`, if it is another one than that of the `issuer` in `server-oauth`. Default: the origin of the issuer alone.',
    default: '',
  }),
  serverEnv: option(environment, {
    group: 'The server under test',
    hint: '<NAME=value>',
    brief: 'Set a variable of the server, or pass one on by its name; may be given again.',
    isList: true,
    description:
      'Variables for the server, for `{{env.NAME}}` in evals and `${NAME}` in `mcp-config`, one per line: `NAME=value` sets one, `NAME` passes one of the job on.',
    default: '',
  }),
  allowEnvHosts: option(words, {
    group: 'The server under test',
    hint: '<host,…>',
    brief: 'Hosts to which the mcp-config of a pull request may send variables of --server-env.',
    isList: true,
    description:
      'Hosts to which `mcp-config` of a pull request may send variables of `server-env`, such as `staging.example.com`. Default: those that the file names in the base.',
    default: '',
  }),
  serverCwd: option(optionalText, {
    group: 'The server under test',
    hint: '<directory>',
    brief: 'Start the server in this directory.',
    description:
      'The directory to start the server in, relative to the working directory. Default: the working directory.',
    default: '',
  }),
  serverReadyTimeout: option(duration, {
    group: 'The server under test',
    hint: '<duration>',
    brief: 'How long the server may take to answer.',
    description: 'How long the server may take to answer its first MCP request, such as `90s` or `2m`.',
    default: '60s',
  }),
  isolation: option(choice('isolation', ['iteration', 'run']), {
    group: 'The server under test',
    hint: '<iteration|run>',
    brief: 'Give every iteration a fresh session, or keep one process for the whole run.',
    description:
      'What iterations share: `iteration` gives each a fresh session and, over stdio, a fresh process. `run` keeps one stdio process.',
    default: 'iteration',
  }),
  sandbox: option(choice('sandbox', ['auto', 'off', 'required']), {
    group: 'The server under test',
    hint: '<auto|off|required>',
    brief: 'Isolate the started server: where possible, not at all, or strictly or not at all.',
    description:
      'How the started server is isolated. `auto` hides other processes and makes what decides the verdict read-only, where the machine allows it; `required` also limits writes, or ends the gate.',
    default: 'auto',
  }),
  sandboxNetwork: option(choice('sandbox network', ['on', 'off']), {
    group: 'The server under test',
    hint: '<on|off>',
    brief: 'Take the network away from a stdio server: off.',
    description:
      'Whether the server reaches the network. `off` leaves a server on stdio a loopback interface of its own; where the machine cannot do that, the gate is inconclusive.',
    default: 'on',
  }),
  sandboxWrite: option(lines, {
    group: 'The server under test',
    hint: '<path>',
    brief: 'A path that the server may write to with --sandbox required or --base; may be given again.',
    isList: true,
    description:
      'Existing paths that the server may write to with `sandbox: required` or a `base`, one per line. Default: none but its own directories.',
    default: '',
  }),
  protocol: option(optionalProtocol, {
    group: 'The server under test',
    hint: '<revision>',
    brief: 'Test this revision of MCP: auto, 2025-11-25, 2026-07-28 or both.',
    description:
      'The MCP revision to test: `auto`, `2025-11-25`, `2026-07-28`, or `both` to run every case in each. It overrides the key `protocol` of evals files.',
    default: '',
  }),
  allowPullRequestTarget: option(flag, {
    group: 'The server under test',
    hint: '[bool]',
    brief: 'Start it on pull_request_target, too.',
    description:
      'Whether a server may start on `pull_request_target`, where code of a pull request gets the secrets of the repository: `true` or `false`.',
    default: 'false',
  }),
};
