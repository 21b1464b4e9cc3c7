import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const packages = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol', import.meta.url));
const filesystem = `node ${packages}/server-filesystem/dist/index.js {{workspace}}`;

const notes = `suite: Notes
workspace: notes
cases:
  - title: Adds a file
    runs: 3
    steps:
      - toolCall: write_file
        arguments: { path: "{{workspace}}/new.txt", content: new }
      - toolCall: list_directory
        arguments: { path: "{{workspace}}" }
      - assert: { toolResultContains: "[FILE] new.txt" }
      - toolCall: list_allowed_directories
      - assert: { toolResultContains: "{{workspace}}" }
  - title: Sees only the files of the repository
    runs: 3
    steps:
      - toolCall: directory_tree
        arguments: { path: "{{workspace}}" }
      - assert: { toolResultContains: first.txt }
      - assert: { not: { toolResultContains: new.txt } }
`;

/** A server with one tool, which asks the client for its roots and says which of them exist. */
const rootsServer = `import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let asked = null;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'roots', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'roots', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') {
    asked = id;
    send({ id: 'roots', method: 'roots/list' });
  } else if (id === 'roots') {
    const text = result.roots.map(({ uri, name }) => uri + (existsSync(new URL(uri)) ? ' exists ' : ' is missing ') + name).join(', ');
    send({ id: asked, result: { content: [{ type: 'text', text }] } });
  }
});
`;

/** Writes a directory with one file, and an evals file next to it. */
async function writeNotes(workspace: Workspace, suite = notes): Promise<void> {
  await mkdir(join(workspace.path, 'evals/notes'), { recursive: true });
  await writeFile(join(workspace.path, 'evals/notes/first.txt'), 'first\n');
  await writeFile(join(workspace.path, 'evals/notes.evals.yaml'), suite);
}

async function runNotes(workspace: Workspace, inputs: Record<string, string> = {}) {
  return await runEmbeddedGate(workspace, {
    'server-command': filesystem,
    evals: 'evals/notes.evals.yaml',
    isolation: 'iteration',
    sandbox: 'off',
    ...inputs,
  });
}

async function listPlaces(): Promise<string[]> {
  const names = await readdir(tmpdir());
  return names.filter((name) => name.startsWith(`mcp-eval-ci-places-${String(process.pid).padStart(10, '0')}-`));
}

describe('a suite with a workspace', () => {
  it('gives every iteration the same files, side by side, and removes the copies', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace);
    const { report } = await runNotes(workspace);
    expect(report.totals).toMatchObject({ passed: 6, failed: 0 });
    expect(report.suites[0]?.concurrency).toMatchObject({ rule: 'workspace', limit: 4, serialCases: 0 });
    expect(await readdir(join(workspace.path, 'evals/notes'))).toEqual(['first.txt']);
    expect(await listPlaces()).toEqual([]);
  });

  it('writes the placeholder instead of the path into the report and the files', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(
      workspace,
      notes.replace('"[FILE] new.txt"', '"[FILE] {{workspace}}/other.txt"').replaceAll('runs: 3', 'runs: 1'),
    );
    const run = async () => {
      const { report } = await runNotes(workspace, { 'report-formats': 'iterations' });
      return report;
    };
    const first = await run();
    expect(first.totals).toMatchObject({ passed: 1, failed: 1 });
    const failed = first.cases.find((testCase) => testCase.failures.length > 0);
    const texts = JSON.stringify(failed);
    expect(texts).toContain('{{workspace}}/other.txt');
    const files = await readdir(workspace.path, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain('mcp-eval-ci-places-');
    }
    const second = await run();
    const listReasons = (report: typeof first) =>
      report.cases.flatMap(({ failures }) => failures.flatMap(({ reasons }) => reasons));
    expect(listReasons(second)).toEqual(listReasons(first));
  });

  it('may be an empty directory', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(
      workspace,
      `suite: Empty
workspace: empty
cases:
  - title: Has no files
    steps:
      - toolCall: directory_tree
        arguments: { path: "{{workspace}}" }
      - assert: { toolResultMatches: '^.{2}$' }
`,
    );
    const { report } = await runNotes(workspace);
    expect(report.totals).toMatchObject({ passed: 1, failed: 0 });
  });

  it('is the root that the client names, in a URL', async () => {
    await using workspace = await createWorkspace();
    const suite = `suite: Roots
workspace: notes
client:
  roots: ["file://{{workspace}}", { uri: "file://{{workspace}}/first.txt", name: "in {{workspace}}" }]
cases:
  - title: Asks for the roots
    steps:
      - toolCall: roots
      - assert: { toolResultContains: "in {{workspace}}" }
      - assert: { toolResultContains: "first.txt exists" }
`;
    await writeNotes(workspace, suite);
    await writeFile(join(workspace.path, 'roots.mjs'), rootsServer);
    const { report } = await runNotes(workspace, { 'server-command': 'node roots.mjs' });
    expect(report.verdict.outcome).toBe('passed');
    expect(JSON.stringify(report)).not.toContain('mcp-eval-ci-places');
  });

  it.each(['1/2', '2/2'])('is copied in shard %s', async (shard) => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace);
    const { report } = await runNotes(workspace, { shard });
    expect(report.totals).toMatchObject({ iterations: 3, passed: 3 });
    expect(await listPlaces()).toEqual([]);
  });

  it('comes from the option where the file names none', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace, notes.replace('workspace: notes\n', ''));
    const { report } = await runNotes(workspace, { workspace: 'evals/notes' });
    expect(report.totals).toMatchObject({ passed: 6, failed: 0 });
  });
});

describe('the sides of a comparison with the base', () => {
  it('both get the files of the workspace', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace, notes.replaceAll('runs: 3', 'runs: 1'));
    const { report } = await runNotes(workspace, { 'base-server-command': filesystem });
    expect(report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect(report.baseComparison).toMatchObject({ cases: [{ base: { passed: 1 } }, { base: { passed: 1 } }] });
    expect(await readdir(join(workspace.path, 'evals/notes'))).toEqual(['first.txt']);
  });
});

describe('a workspace is refused', () => {
  const refuse = async (workspace: Workspace, inputs: Record<string, string> = {}) =>
    await runNotes(workspace, inputs).then(
      () => '',
      (error: unknown) => String(error),
    );

  it('with one process for the run, and at a URL', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace);
    expect(await refuse(workspace, { isolation: 'run' })).toContain(
      'evals/notes.evals.yaml:2:1: every iteration starts a process of its own',
    );
    expect(await refuse(workspace, { 'server-command': 'node x', 'server-url': 'http://127.0.0.1:9/mcp' })).toContain(
      'share the server at `server-url` over HTTP; start it on stdio',
    );
  });

  it('if it is missing, too large, or has a link that leads out of it', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace, notes.replace('workspace: notes', 'workspace: none'));
    expect(await refuse(workspace)).toContain('evals/notes.evals.yaml:2:1: "evals/none" is not a directory');
    await writeNotes(workspace);
    await symlink(tmpdir(), join(workspace.path, 'evals/notes/out'));
    expect(await refuse(workspace)).toContain('the link out leads out of the workspace');
    await mkdir(join(workspace.path, 'evals/large'));
    await writeFile(join(workspace.path, 'evals/large/a.bin'), Buffer.alloc(65 * 1024 * 1024));
    await writeNotes(workspace, notes.replace('workspace: notes', 'workspace: large'));
    expect(await refuse(workspace)).toContain('at most 10,000 files and 64 MiB, and 1 files and 65 MiB');
  });

  it('if something uses it and the suite has none', async () => {
    await using workspace = await createWorkspace();
    await writeNotes(workspace, notes.replace('workspace: notes\n', ''));
    const message = await refuse(workspace);
    expect(message).toContain('server-command: uses `{{workspace}}`, and evals/notes.evals.yaml has no workspace');
    expect(message).toContain('evals/notes.evals.yaml:7:28: `{{workspace}}` has no value');
  });
});
