import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { readSuite } from '../../src/suite/read.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { everythingServerPath, filesystemServerPath, memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const form = { name: 'Ada', check: true, email: 'ada@example.com' };
const secret = 'a-value-that-only-the-session-has';

/** Has a session through `capture`, and waits until its evals are written. */
async function haveSession(
  cwd: string,
  args: readonly string[],
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [commandPath, 'capture', '--out', 'evals/session.evals.yaml', ...args],
    cwd,
    env: { ...listChildVariables(), SESSION_TOKEN: secret },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'person', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: form }));
  await client.connect(transport);
  await use(client);
  await client.close();
  const listFiles = () => readdirSync(join(cwd, 'evals'));
  await expect.poll(listFiles).toEqual([expect.stringMatching(/^session\.evals\.yaml$/)]);
}

const canConfine = (await canMake('bwrap')) || (await canMake('unshare'));

// Replays need a strict sandbox, which not every machine can make.
describe.skipIf(!canConfine)('a session of the SDK’s client', () => {
  it('becomes evals that are green again and again, and have no secret of the environment', async () => {
    await using workspace = await createWorkspace();
    const command = ['node', everythingServerPath, 'stdio'];
    await haveSession(workspace.path, ['--split', 'each', '--', ...command], async (client) => {
      await client.listTools();
      await client.callTool({ name: 'get-env', arguments: {} });
      await client.callTool({ name: 'echo', arguments: { message: `I know ${secret}` } });
      await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } });
      await client.callTool({ name: 'get-sum', arguments: { a: 'two' } });
      await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
      await client.callTool({ name: 'no-such-tool', arguments: {} });
    });
    const text = await workspace.read('evals/session.evals.yaml');
    const { suite, findings } = readSuite(text, { file: 'session' });
    expect(findings).toEqual([]);
    for (const hidden of [secret, workspace.path, process.env['HOME'] ?? '']) expect(text).not.toContain(hidden);
    expect(suite?.cases.map(({ title }) => title)).toEqual([
      'get-env answers',
      'get-sum answers with a 2 and b 3',
      'get-sum refuses a call without b',
      'trigger-elicitation-request answers',
      'no-such-tool refuses a call',
    ]);
    expect(text).toContain('# Not run: a value of its requests was a secret, which is not kept.');
    await expectGreen(workspace.path, command.join(' '));
  });

  it('works in a copy of a workspace, and leaves the files as they are', async () => {
    await using workspace = await createWorkspace({ 'fixtures/notes.txt': 'milk\n' });
    const fixtures = join(workspace.path, 'fixtures');
    const words = ['node', filesystemServerPath];
    const content = 'bread since 2019-05-01, baked at 07:30:00';
    await haveSession(workspace.path, ['--workspace', 'fixtures', '--', ...words, 'fixtures'], async (client) => {
      await client.listTools();
      await client.callTool({ name: 'write_file', arguments: { path: 'new.txt', content } });
      await client.callTool({ name: 'read_text_file', arguments: { path: 'new.txt' } });
      await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } });
    });
    expect(readdirSync(fixtures)).toEqual(['notes.txt']);
    const text = await workspace.read('evals/session.evals.yaml');
    expect(text).toContain('workspace: ../fixtures\n');
    expect(text).toContain(`toolResultEquals: ${content}\n`);
    expect(text).toContain('contains: Access denied - path outside allowed directories\n');
    expect(text).not.toContain(workspace.path);
    await expectGreen(workspace.path, `${words.join(' ')} {{workspace}}`);
  });

  it('deletes in a case what an earlier task made, although nothing to delete gets the same answers', async () => {
    await using workspace = await createWorkspace();
    const variables = ['--server-env', 'MEMORY_FILE_PATH={{workspace}}/memory.jsonl'];
    const words = ['node', memoryServerPath];
    const args = ['--workspace', 'empty', '--split', '1s', ...variables, '--', ...words];
    // Without the list of tools, none is known to change nothing.
    await haveSession(workspace.path, args, async (client) => {
      const entity = { name: 'Ada', entityType: 'person', observations: ['writes'] };
      await client.callTool({ name: 'create_entities', arguments: { entities: [entity] } });
      await client.callTool({ name: 'search_nodes', arguments: { query: 'ada' } });
      await setTimeout(1100);
      await client.callTool({ name: 'delete_entities', arguments: { entityNames: ['Ada'] } });
      await client.callTool({ name: 'read_graph', arguments: {} });
    });
    const text = await workspace.read('evals/session.evals.yaml');
    const { suite } = readSuite(text, { file: 'session' });
    const titles = [
      'search_nodes finds what create_entities made',
      'read_graph no longer finds what delete_entities removed',
    ];
    expect(suite?.cases.map(({ title }) => title)).toEqual(titles);
    const calls = [...text.matchAll(/toolCall: (\w+)/g)].map(([, name]) => name);
    expect(calls).toEqual(['create_entities', 'search_nodes', 'create_entities', 'delete_entities', 'read_graph']);
    await expectGreen(workspace.path, words.join(' '), variables);
  });
});

async function expectGreen(cwd: string, command: string, variables: readonly string[] = []): Promise<void> {
  const args = [
    'run',
    '--evals',
    'evals/session.evals.yaml',
    '--server-command',
    command,
    '--runs',
    '3',
    '--sandbox',
    'off',
    ...variables,
  ];
  expect(await runProgramInTest(args, { cwd })).toMatchObject({ exitCode: 0 });
}
