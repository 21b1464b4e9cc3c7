import { describe, expect, it } from 'vitest';
import { type EmbeddedGate, runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  crashingServerPath,
  everythingServerPath,
  filesystemServerPath,
  memoryServerPath,
  plainServerPath,
} from '../support/servers/bundled-servers.ts';
import { startSseServer, answers } from '../support/servers/sse-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const start = (path: string, ...args: string[]) => ({ command: process.execPath, args: [path, ...args] });

const servers = {
  memory: { ...start(memoryServerPath), env: { MEMORY_FILE_PATH: '${MEMORY:-/nowhere/memory.json}' } },
  files: { ...start(filesystemServerPath, '.'), cwd: 'data' },
  everything: start(everythingServerPath),
  crashing: start(crashingServerPath),
};

async function openWorkspace(evals: string, config: object = servers): Promise<Workspace> {
  return await createWorkspace({
    'x.evals.yaml': evals,
    '.mcp.json': JSON.stringify({ mcpServers: config }, null, 2),
    'data/note.txt': 'Buy milk',
  });
}

async function run(
  workspace: Workspace,
  inputs: Record<string, string> = {},
  environment: Record<string, string> = {},
) {
  return await runEmbeddedGate(
    workspace,
    {
      'server-command': '',
      'mcp-config': '.mcp.json',
      'server-env': `MEMORY=${workspace.path}/memory.json`,
      isolation: 'iteration',
      ...inputs,
    },
    { environment },
  );
}

const listOutcomes = ({ report }: EmbeddedGate) =>
  Object.fromEntries(report.cases.map(({ title, outcome }) => [title, outcome]));

const together = `suite: Together
cases:
  - title: All
    steps:
      - toolCall: read_text_file
        server: files
        arguments: { path: note.txt }
      - assert: { toolResultContains: milk }
      - toolCall: create_entities
        server: memory
        arguments: { entities: [{ name: note, entityType: text, observations: [milk] }] }
      - toolCall: get-sum
        server: everything
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "5", toolName: get-sum }
      - toolCall: search_nodes
        server: memory
        arguments: { query: milk }
      - assert: { toolResultContains: note, toolName: search_nodes }
  - title: Wrong sum
    steps:
      - toolCall: get-sum
        server: everything
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "6" }
  - title: Reads
    runs: 2
    steps:
      - toolCall: read_text_file
        server: files
        arguments: { path: note.txt }
      - assert: { toolResultContains: milk }
  - title: Crashes
    steps:
      - toolCall: read_text_file
        server: files
        arguments: { path: note.txt }
      - toolCall: end
        server: crashing
        arguments: { with: '3', when: during }
`;

describe('a gate with several servers', () => {
  it('has a session with each that a case uses, and is red only for what failed', async () => {
    await using workspace = await openWorkspace(together);
    const result = await run(workspace);
    expect(result.report.cases.find(({ title }) => title === 'All')?.failures).toEqual([]);
    expect(listOutcomes(result)).toEqual({ All: 'passed', 'Wrong sum': 'failed', Reads: 'passed', Crashes: 'failed' });
    const { report, exitCode } = result;
    expect([report.server, ...report.otherServers].map((server) => [server?.label, server?.name])).toEqual([
      ['memory', 'memory-server'],
      ['files', 'secure-filesystem-server'],
      ['everything', 'mcp-servers/everything'],
      ['crashing', 'crashing-server'],
    ]);
    const reasons = report.cases.find(({ title }) => title === 'Crashes')?.failures[0]?.reasons;
    expect(reasons?.[0]).toMatch(/^The server "crashing" exited with code 3 before it answered end\.$/m);
    expect(exitCode).toBe(1);
  });

  it('asks each for what a step names it for', async () => {
    const resource = 'demo://resource/static/document/architecture.md';
    const evals = `suite: Requests
cases:
  - title: Asks both
    steps:
      - ping: true
        server: memory
      - readResource: ${resource}
        server: everything
      - assert: { resourceContains: Architecture }
      - repeat: [{ listTools: true, server: memory }]
        until: { toolNeverCalled: echo }
      - getPrompt: simple-prompt
        server: everything
      - assert: { promptContains: simple prompt }
  - title: Expects another text
    steps:
      - readResource: ${resource}
        server: everything
      - assert: { resourceContains: Grace }
  - title: Asks the wrong one
    steps:
      - ping: true
        server: everything
      - readResource: ${resource}
        server: memory
`;
    await using workspace = await openWorkspace(evals);
    const result = await run(workspace, { 'mcp-config': '.mcp.json#memory, everything', isolation: 'run' });
    expect(listOutcomes(result)).toEqual({
      'Asks both': 'passed',
      'Expects another text': 'failed',
      'Asks the wrong one': 'failed',
    });
    const reasons = result.report.cases.find(({ title }) => title === 'Asks the wrong one')?.failures[0]?.reasons;
    expect(reasons?.join()).toMatch(/^resources\/read demo:.* failed with JSON-RPC error -32602: .* not found/);
  });

  it('tests the one that is chosen, whose steps need no name', async () => {
    await using workspace = await openWorkspace(
      'suite: One\ncases:\n  - title: Sum\n    steps:\n      - toolCall: get-sum\n        arguments: { a: 1, b: 2 }\n      - assert: { toolResultContains: "3" }\n',
    );
    const { report, exitCode } = await run(workspace, { 'mcp-config': '.mcp.json#everything', isolation: 'run' });
    expect(report.server).toMatchObject({ label: 'everything' });
    expect(report.otherServers).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it('tests servers of each transport together, also through tunnels', async () => {
    await using sse = await startSseServer(answers);
    const evals = `suite: Both
cases:
  - title: Looks and sums
    steps:
      - toolCall: look
        server: old
      - toolCall: get-sum
        server: everything
        arguments: { a: 1, b: 2 }
`;
    await using workspace = await openWorkspace(evals, {
      old: { type: 'sse', url: `${sse.origin}/sse` },
      everything: servers.everything,
    });
    const result = await run(workspace, { isolation: 'run' });
    expect(result.report.server).toMatchObject({ label: 'old', transport: 'sse' });
    expect(result.exitCode).toBe(0);
    await using tunnelled = await openWorkspace(
      together.slice(0, together.indexOf('      - toolCall: create_entities')),
    );
    const { exitCode } = await run(tunnelled, { tunnel: 'always', 'mcp-config': '.mcp.json#files,everything' });
    expect(exitCode).toBe(0);
  });

  it('sends each server its own headers, and shows none of them', async () => {
    const evals = `suite: Headers
cases:
  - title: Looks
    steps:
      - toolCall: look
        server: a
      - assert: { toolResultContains: unseen }
`;
    await using a = await startSseServer(answers);
    await using b = await startSseServer(answers);
    await using workspace = await openWorkspace(evals, {
      a: { type: 'sse', url: `${a.origin}/sse`, headers: { Authorization: 'Bearer ${TOKEN}' } },
      b: { url: `${b.origin}/sse`, headers: { 'X-Api-Key': 'canary-of-b-1' } },
    });
    const inputs = { 'server-env': 'TOKEN' };
    const { report, exitCode } = await run(workspace, inputs, { TOKEN: 'canary-of-a-1' });
    expect(exitCode).toBe(1);
    expect(new Set(a.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer canary-of-a-1']));
    expect(new Set(b.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['canary-of-b-1']));
    expect(new Set(b.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([undefined]));
    expect(JSON.stringify(report)).not.toMatch(/canary/);
  });

  it('is refused where two servers of a case list the same tool', async () => {
    const evals = `suite: Clash
cases:
  - title: Both
    steps:
      - toolCall: count
        server: a
      - toolCall: echo
        server: b
        arguments: { value: x }
`;
    await using workspace = await openWorkspace(evals, { a: start(plainServerPath), b: start(plainServerPath) });
    await expect(run(workspace)).rejects.toThrow(
      'Case "Both" uses the servers "a" and "b", which both list a tool "echo"; rename it in one, or split the case so that each part uses one of them.',
    );
  });

  it('names the server that does not start', async () => {
    const plain = start(plainServerPath);
    await using workspace = await openWorkspace(together, {
      memory: plain,
      files: plain,
      everything: plain,
      crashing: { command: process.execPath, args: ['-e', 'process.exit(4)'] },
    });
    const { report, exitCode } = await run(workspace);
    expect(report.verdict.reasons[0]?.message).toMatch(
      /^crashing: The server under test exited with code 4 before it was ready/,
    );
    expect(exitCode).toBe(3);
  });

  it('gives no server a variable that `server-env` does not pass on, and shows none that is secret', async () => {
    const evals = `suite: Environment
cases:
  - title: Reads the environment
    steps:
      - toolCall: environment
      - assert: { toolResultContains: canary-in-file }
      - assert: { toolResultContains: absent }
`;
    const environment = { PATH: '/usr/bin', PASSED: 'canary-passed-1', WITHHELD: 'canary-withheld-1' };
    await using workspace = await openWorkspace(evals, {
      plain: {
        ...start(plainServerPath),
        env: { API_KEY: 'canary-in-file', B: 'x-${PASSED}', C: '${WITHHELD:-none}' },
      },
    });
    const { report, exitCode } = await run(workspace, { 'server-env': 'PASSED' }, environment);
    expect(exitCode).toBe(1);
    const text = JSON.stringify(report);
    expect(text).not.toMatch(/canary/);
    expect(text).toMatch(/x-\*\*\*/);
    expect(text).toMatch(/none/);
  });
});
