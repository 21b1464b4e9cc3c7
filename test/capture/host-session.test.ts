import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProvider, type Script } from '../../bench/hosts/provider.ts';
import { findAdapter } from '../../src/host-drivers/catalog.ts';
import { readSuite } from '../../src/suite/read.ts';
import { findHostVersion } from '../support/hosts/installed-hosts.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const canConfine = (await canMake('bwrap')) || (await canMake('unshare'));

const calls = [
  ['create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['writes'] }] }],
  ['search_nodes', { query: 'ada' }],
] as const;

/** What a model would call. Hosts give tools names of their own. */
function* callTools(): Script {
  let seen = yield { kind: 'calls', calls: [] };
  for (const [name, input] of calls) {
    const tool = seen.tools.find((each) => each.name.endsWith(name));
    if (tool === undefined) return;
    seen = yield {
      kind: 'calls',
      calls: [{ id: `call-${name}`, namespace: tool.namespace, name: tool.name, arguments: { ...input } }],
    };
  }
}

// No test installs a host: they are large.
describe.each(['goose', 'gemini-cli'])('a session of %s with a scripted model', (id) => {
  it.skipIf(!canConfine || findHostVersion(id) === null)('becomes evals after the host has ended', async () => {
    await using workspace = await createWorkspace();
    const [home, directory] = [join(workspace.path, 'home'), join(workspace.path, 'project')];
    for (const path of [join(home, 'tmp'), directory]) await mkdir(path, { recursive: true });
    await using provider = await openProvider(callTools(), join(workspace.path, 'provider.sock'));
    const out = join(workspace.path, 'evals/session.evals.yaml');
    const variables = ['--server-env', 'MEMORY_FILE_PATH={{workspace}}/memory.jsonl'];
    const flags = ['--out', out, '--workspace', 'empty', ...variables];
    const server = [process.execPath, memoryServerPath];
    const adapter = findAdapter(id);
    if (adapter === undefined) throw new Error(`There is no adapter ${id}.`);
    const token = 'a-key-of-the-host-alone';
    const start = adapter.start({
      home,
      directory,
      servers: [{ name: 'memory', command: [process.execPath, commandPath, 'capture', ...flags, '--', ...server] }],
      provider: { url: `http://127.0.0.1:${provider.port}`, token },
      model: id === 'goose' ? 'gpt-4o' : 'gemini-2.5-flash',
      prompt: 'Note Ada, and find her.',
      builtIns: 'on',
    });
    for (const [path, text] of start.files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    const child = spawn(adapter.program, [...start.args], {
      cwd: directory,
      env: { ...listChildVariables(), HOME: home, TMPDIR: join(home, 'tmp'), ...start.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.end(start.input ?? '');
    await new Promise((resolve) => child.once('close', resolve));
    const read = async () => await workspace.read('evals/session.evals.yaml').catch(() => '');
    await expect.poll(read, { timeout: 60_000 }).not.toBe('');
    const text = await read();
    const { suite, findings } = readSuite(text, { file: 'session' });
    expect(findings).toEqual([]);
    expect(suite?.cases.map(({ title }) => title)).toEqual(['search_nodes finds what create_entities made']);
    for (const hidden of [token, workspace.path]) expect(text).not.toContain(hidden);
  });
});
