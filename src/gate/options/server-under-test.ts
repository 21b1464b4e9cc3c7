import { option } from './option.ts';
import { choice, duration, environment, flag, lines, optionalProtocol, optionalText } from './values.ts';

export const serverOptions = {
  serverCommand: option(optionalText, {
    group: 'The server under test',
    hint: '<command>',
    brief: 'Start the server with this command. No shell reads it, and the server is spoken to over stdio.',
    description:
      "The command that starts the MCP server, such as `node build/index.js`. It is split into words as a POSIX shell would, but no shell runs it; write `bash -c '…'` where you need one. The server is spoken to over stdio, unless `server-url` says where it listens. Either this or `server-url` is required.",
    default: '',
  }),
  serverUrl: option(optionalText, {
    group: 'The server under test',
    hint: '<url>',
    brief: 'Where the server listens on HTTP. Alone, it names a server that runs already.',
    description:
      'The http or https URL of the MCP endpoint (streamable HTTP), such as `http://127.0.0.1:3000/mcp`. Alone, it names a server that you started yourself; together with `server-command`, it says where the started server listens.',
    default: '',
  }),
  serverEnv: option(environment, {
    group: 'The server under test',
    hint: '<NAME=value>',
    brief: 'Set a variable of the server, or pass one on by its name; may be given again.',
    isList: true,
    description:
      'Environment variables for the server, one per line: `NAME=value` sets one, `NAME` alone passes the variable of the job through. The server otherwise sees only harmless variables such as PATH and HOME, never secrets of the job. Only valid with `server-command`. Default: none.',
    default: '',
  }),
  serverCwd: option(optionalText, {
    group: 'The server under test',
    hint: '<directory>',
    brief: 'Start the server in this directory.',
    description:
      'The directory the server is started in, relative to the working directory. Only valid with `server-command`. Default: the working directory.',
    default: '',
  }),
  serverReadyTimeout: option(duration, {
    group: 'The server under test',
    hint: '<duration>',
    brief: 'How long the server may take to answer.',
    description:
      'How long the server may take until it answers an MCP `initialize` or `server/discover`, as a number and a unit (`ms`, `s`, `m`, `h`). A server that does not is reported with its last words, and no eval is run.',
    default: '60s',
  }),
  isolation: option(choice('isolation', ['iteration', 'run']), {
    group: 'The server under test',
    hint: '<iteration|run>',
    brief: 'Give every iteration a fresh session, or keep one process for the whole run.',
    description:
      'What iterations share. `iteration` gives each one a fresh MCP session, which over stdio is a fresh process. `run` keeps one stdio process for the whole run and serves the sessions on it one after another, for servers that are slow to start and keep no state.',
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
      'Whether the server reaches the network. `off` leaves it a loopback interface of its own; only for a server on stdio. The gate ends where the machine cannot do that.',
    default: 'on',
  }),
  sandboxWrite: option(lines, {
    group: 'The server under test',
    hint: '<path>',
    brief: 'A path that the server may write to with --sandbox required; may be given again.',
    isList: true,
    description:
      'Paths that the server may write to with `sandbox: required`, one per line, relative to the working directory. They have to exist. Default: none but a temporary directory.',
    default: '',
  }),
  protocol: option(optionalProtocol, {
    group: 'The server under test',
    hint: '<revision>',
    brief: 'Test this revision of MCP: auto, 2025-11-25 or 2026-07-28.',
    description:
      'The revision of MCP to test: `auto`, `2025-11-25` or `2026-07-28`; overrides the key `protocol` of evals files. `auto` tries `initialize` first. Only for the embedded service. Default: `auto`.',
    default: '',
  }),
  allowPullRequestTarget: option(flag, {
    group: 'The server under test',
    hint: '[bool]',
    brief: 'Start it on pull_request_target, too.',
    description:
      'Whether a server may be started in a workflow that runs on `pull_request_target`, where the code of a stranger would run with the secrets and the token of your repository. Refused unless this is `true`. `true` or `false`.',
    default: 'false',
  }),
};
