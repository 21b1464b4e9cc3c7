import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, formatConfigurationIssue } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { type GatePlan, planGate } from '../../../src/gate/plan/plan.ts';
import { splitCommand } from '../../../src/server/split-command.ts';
import { createPullRequest } from '../../support/github/pull-request.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

async function plan(
  config: string,
  inputs: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<{ plan: GatePlan; directory: string }> {
  await using workspace = await createWorkspace({
    'x.evals.yaml': greenEvals,
    'tools/.mcp.json': config,
    'tools/src/a': '',
  });
  const options = parseGateOptions({ evals: 'x.evals.yaml', 'mcp-config': 'tools/.mcp.json', ...inputs });
  return { plan: await planGate(options, { cwd: workspace.path, environment }), directory: workspace.path };
}

async function findIssues(...asked: Parameters<typeof plan>): Promise<string[]> {
  const error: unknown = await plan(...asked).catch((reason: unknown) => reason);
  if (!(error instanceof ConfigurationError)) throw new Error(`The plan was made: ${String(error)}`);
  return error.issues.map(formatConfigurationIssue);
}

describe('a server of `mcp-config`', () => {
  it('starts with the words of the file, in a directory relative to it, with its variables', async () => {
    const config = `{
  "mcpServers": {
    "notes": {
      "command": "\${NODE:-node}",
      "args": ["server.js", "--say", "it's $HOME; rm -rf / && \\"x\\"", "\${env:MODE}", ""],
      "env": { "MODE": "\${MODE}", "API_KEY": "k-\${TOKEN}" },
      "cwd": "src"
    }
  }
}`;
    const { plan: made, directory } = await plan(
      config,
      { 'server-env': 'MODE=fast\nTOKEN' },
      { TOKEN: 'in-job', HOME: '/home/me' },
    );
    const [server] = made.servers;
    expect(splitCommand(server?.command ?? '')).toEqual([
      'node',
      'server.js',
      '--say',
      `it's $HOME; rm -rf / && "x"`,
      'fast',
      '',
    ]);
    expect(server).toMatchObject({ name: 'notes', url: null, cwd: path.join(directory, 'tools/src') });
    expect([...(server?.environment ?? [])].map(([name, value]) => `${name}=${value.reveal()}`)).toEqual([
      'MODE=fast',
      'API_KEY=k-in-job',
    ]);
    expect(made.secrets.map((secret) => secret.reveal())).toEqual(['in-job', 'k-in-job']);
  });

  it('is reached at its URL, whose query no output shows', async () => {
    const config = '{ "servers": { "notes": { "type": "sse", "url": "http://127.0.0.1:9/sse?key=${KEY}" } } }';
    const { plan: made } = await plan(config, { 'server-env': 'KEY' }, { KEY: 'in-url' });
    expect(made.servers[0]).toMatchObject({ command: null, url: 'http://127.0.0.1:9/sse?key=in-url', isSse: true });
    expect(made.secrets.map((secret) => secret.reveal())).toContain('?key=in-url');
  });

  it('is chosen by its name, and the others need none of their variables', async () => {
    const config = '{ "mcpServers": { "a": { "command": "a", "env": { "X": "${UNSET}" } }, "b": { "command": "b" } } }';
    const { plan: made } = await plan(config, { 'mcp-config': 'tools/.mcp.json#b' });
    expect(made.servers[0]).toMatchObject({ name: 'b', command: 'b' });
  });

  it('may have keys that the gate does not know, which is a warning', async () => {
    const config = '{\n  "mcpServers": {\n    "a": { "command": "a", "autoApprove": [], "disabled": false }\n  }\n}';
    const { plan: made } = await plan(config);
    expect(made.notes).toEqual([
      'tools/.mcp.json:3:28: the gate does not know `autoApprove`, and ignores it.',
      'tools/.mcp.json:3:47: the gate does not know `disabled`, and ignores it.',
    ]);
  });

  it('gets the default of a variable that the job withholds, which is a warning', async () => {
    const { plan: made } = await plan(
      '{ "mcpServers": { "a": { "command": "a", "args": ["${SECRET:-none}"] } } }',
      {},
      { SECRET: 'canary' },
    );
    expect(made.servers[0]?.command).toBe('a none');
    expect(made.notes).toEqual([
      'tools/.mcp.json:1:51: `${SECRET:-none}` is its default; the job has SECRET: to use that, pass it on with `server-env: SECRET`.',
    ]);
  });
});

describe('a mistake in `mcp-config`', () => {
  const at = 'tools/.mcp.json';
  const server = (entry: string) => `{ "mcpServers": {\n "a": ${entry} } }`;

  it.each([
    ['no file text', '', [`${at}:1:1: The file is empty; write \`mcpServers\` and the servers below it (empty-file)`]],
    [
      'no servers key',
      '{ "mcpserver": {} }',
      [
        `${at}:1:1: The key \`mcpServers\` is missing; write the servers below it, each with a \`command\` or a \`url\` (missing-key)`,
      ],
    ],
    [
      'no server',
      '{ "mcpServers": {} }',
      [`${at}:1:3: The file lists no server; add one, or name another file (no-servers)`],
    ],
    [
      'neither command nor url',
      server('{ "args": [] }'),
      [
        `${at}:2:7: The server \`a\` has neither \`command\` nor \`url\`; write what starts it, or where it runs (bad-server)`,
      ],
    ],
    [
      'a number for text',
      server('{ "command": "a", "env": { "PORT": 1 } }'),
      [`${at}:2:42: \`PORT\` must be text, not 1; write it in quotes (wrong-type)`],
    ],
    [
      'words in one text',
      server('{ "command": "node", "args": "server.js --x" }'),
      [`${at}:2:36: \`args\` must be a list, not "server.js --x"; write ["server.js", "--x"] (wrong-type)`],
    ],
    [
      'a list of words for the program',
      server('{ "command": ["node", "server.js"] }'),
      [expect.stringMatching(/^tools\/.mcp.json:2:20: `command` must be text, not .* \(wrong-type\)$/)],
    ],
    [
      'a server that is only a text',
      server('"node server.js"'),
      [expect.stringMatching(/^tools\/.mcp.json:2:7: `a` must be a mapping, not "node server.js".* \(wrong-type\)$/)],
    ],
    [
      'a list of servers',
      '{ "mcpServers": [] }',
      [expect.stringMatching(/^tools\/.mcp.json:1:17: `mcpServers` must be a mapping, not .* \(wrong-type\)$/)],
    ],
    [
      'an unfinished file',
      '{ "mcpServers": { "a": {',
      [expect.stringMatching(/^tools\/.mcp.json:1:25: The file is not valid JSON\. .* \(json-syntax\)$/)],
    ],
    [
      'a `stdio` server without a command',
      server('{ "type": "stdio", "url": "http://a/mcp" }'),
      [
        `${at}:2:17: A server of the type \`stdio\` needs a \`command\`; write it, or leave \`type\` out (bad-server)`,
        `${at}:2:33: A server of the type \`stdio\` has no \`url\`; leave one of the two out (bad-server)`,
      ],
    ],
    [
      'an unknown type',
      server('{ "type": "htp", "url": "http://a/mcp" }'),
      [`${at}:2:17: \`type\` cannot be "htp"; did you mean \`http\`? (unknown-value)`],
    ],
    [
      'a type that needs a url',
      server('{ "type": "sse", "command": "a" }'),
      [`${at}:2:17: A server of the type \`sse\` needs a \`url\`; write it, or leave \`type\` out (bad-server)`],
    ],
    [
      'headers of a server over stdio',
      server('{ "command": "a", "headers": { "X": "1" } }'),
      [`${at}:2:36: \`headers\` need a \`url\`; pass what a server over stdio needs in \`env\` (bad-server)`],
    ],
    [
      'arguments of a server that runs elsewhere',
      server('{ "url": "http://a/mcp", "args": ["x"] }'),
      [`${at}:2:40: \`args\` needs a \`command\`; leave it out (bad-server)`],
    ],
    [
      'a URL of another scheme',
      server('{ "url": "ws://a/mcp?key=1" }'),
      [`${at}:2:16: \`url\` is not an http or https URL; write one such as http://127.0.0.1:3000/mcp (bad-url)`],
    ],
    [
      'a variable that is not set',
      server('{ "command": "a", "args": ["${NOPE}"] }'),
      [
        `${at}:2:34: NOPE is not set; set it in the job and pass it on with \`server-env: NOPE\`, or write \`\${NOPE:-default}\` (missing-variable)`,
      ],
    ],
    [
      'a variable of the job that is not passed on',
      server('{ "url": "http://a/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } }'),
      [
        `${at}:2:62: The server may not get TOKEN of the job; pass it on with \`server-env: TOKEN\` (withheld-variable)`,
      ],
    ],
    [
      'a question to a person',
      server('{ "command": "a", "env": { "K": "${input:key}" } }'),
      [
        `${at}:2:39: \`\${input:key}\` is no variable of the environment; write \`\${NAME}\` or \`\${NAME:-default}\` (bad-variable)`,
      ],
    ],
  ])('is found with its line: %s', async (_, config, expected) => {
    expect(await findIssues(config, {}, { TOKEN: 'canary' })).toEqual(expected);
  });

  it.each([
    [
      { 'mcp-config': 'tools/.mcp.json#notse' },
      'mcp-config: tools/.mcp.json has no server "notse"; did you mean `notes`?',
    ],
    [
      { 'server-command': 'x', 'server-cwd': '.' },
      'mcp-config: says how the servers are started and reached; leave out `server-command`, `server-cwd`, or the file',
    ],
    [
      { 'mcp-config': 'tools/.mcp.json#, ' },
      'mcp-config: "tools/.mcp.json#," names no server after `#`; write one such as tools/.mcp.json#notes',
    ],
    [{ 'mcp-config': 'none.json' }, /^mcp-config: "none.json" cannot be read: ENOENT/],
    [
      { sandbox: 'required', 'mcp-config': 'tools/.mcp.json#web' },
      /^sandbox: is `required`, and the gate cannot isolate the server `web`/,
    ],
  ])('in the options is one finding: %j', async (inputs, expected) => {
    const config = '{ "mcpServers": { "notes": { "command": "x" }, "web": { "url": "http://127.0.0.1:9/mcp" } } }';
    const issues = await findIssues(config, { 'mcp-config': 'tools/.mcp.json#notes', ...inputs });
    expect(issues).toEqual([expect.stringMatching(expected)]);
  });

  it('is a cwd that does not exist', async () => {
    expect(await findIssues(server('{ "command": "a", "cwd": "nowhere" }'))).toEqual([
      expect.stringMatching(/the `cwd` of server `a` of tools\/.mcp.json is not a directory/),
    ]);
  });
});

describe('a variable of `server-env` in `mcp-config` of a pull request', () => {
  const render = (host: string) =>
    `{ "mcpServers": { "a": { "url": "https://${host}/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } } } }`;
  const planChange = async (before: string, after: string, inputs: Record<string, string> = {}) => {
    const base = { 'x.evals.yaml': greenEvals, 'mcp.json': render(before) };
    const { workspace, environment } = await createPullRequest(base, { 'mcp.json': render(after) });
    await using _workspace = workspace;
    const texts = {
      evals: 'x.evals.yaml',
      'mcp-config': 'mcp.json',
      'server-env': 'TOKEN=t0ken-1234\nURL=https://own.example/x',
    };
    const context = { cwd: workspace.path, environment: { ...environment } };
    return await planGate(parseGateOptions({ ...texts, ...inputs }), context).then(
      () => [],
      (error: unknown) =>
        error instanceof ConfigurationError ? error.issues.map(({ code }) => code) : [String(error)],
    );
  };

  it.each([
    ['the host of the base', 'a.example', 'a.example', {}, []],
    ['another host', 'a.example', 'b.example', {}, ['foreign-env-host']],
    ['another port', 'a.example', 'a.example:8443', {}, ['foreign-env-host']],
    ['another host that an option allows', 'a.example', 'b.example', { 'allow-env-hosts': 'c.example\nB.example' }, []],
    ['the host of a variable', 'a.example', 'own.example', {}, []],
    ['this machine', 'a.example', 'localhost:9', {}, []],
    ['a variable in the name of a host', 'a.example', '${TOKEN}.b.example', {}, ['foreign-env-host']],
  ])('goes to %s: %s → %s', async (_, before, after, inputs, codes) => {
    expect(await planChange(before, after, inputs)).toEqual(codes);
  });
});
