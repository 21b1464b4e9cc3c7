import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { generateFiles, generatedWorkspace, listNeeded } from '../../src/explore/world/generated-files.ts';
import { putBack } from '../../src/explore/world/put-back.ts';
import { takeSnapshot } from '../../src/explore/world/snapshot.ts';
import { findProgram } from '../../src/server/programs.ts';
import { copyWorkspace, keepWorkspace, readWorkspace } from '../../src/workspace/workspace.ts';
import { exploreInTest } from '../support/explore.ts';
import { createWorkspace } from '../support/workspace.ts';

const git = (directory: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim().split('\n');

const listTool = (name: string, parameter: string) => ({
  name,
  inputSchema: { type: 'object', properties: { [parameter]: { type: 'string' } } },
});

describe('a server with the tool', () => {
  it.each([
    ['git_status', 'path', ['repository']],
    ['history', 'repo_path', ['repository']],
    ['github_list_issues', 'repo', []],
    ['query_sqlite', 'database', ['database']],
    ['query_sqlite', 'sql', []],
    ['query', 'database', []],
    ['read_pdf', 'path', ['document']],
    ['excel_read', 'path', ['workbook']],
    ['read_file', 'path', []],
  ])('%s, which takes %s, needs %j', (name, parameter, needed) => {
    expect(listNeeded([listTool(name, parameter)])).toEqual(needed);
  });
});

describe('added files', () => {
  it('are a database with a table of two rows, and a document whose objects are where it says', async () => {
    const { workspace } = await generateFiles(['database', 'document']);
    await using directory = await createWorkspace();
    await copyWorkspace(workspace, directory.path);
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(directory.path, 'items.db'));
    const rows = database.prepare('SELECT * FROM items').all();
    database.close();
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { id: 1, name: 'alpha', count: 2 },
      { id: 2, name: 'beta', count: 3 },
    ]);
    const document = String(workspace.generated?.['guide.pdf']);
    const table = document.slice(Number(/startxref\n(\d+)/.exec(document)?.[1]));
    const offsets = [...table.matchAll(/^(\d{10}) 00000 n/gm)].map(([, digits]) => Number(digits));
    expect(offsets.map((offset) => document.slice(offset, offset + 7))).toEqual(
      [1, 2, 3, 4, 5].map((n) => `${n} 0 obj`),
    );
  });
});

describe('a workbook', () => {
  it('is an archive with the parts that it lists, and the same bytes each time', async () => {
    const [first, second] = await Promise.all([generateFiles(['workbook']), generateFiles(['workbook'])]);
    const content = first.workspace.generated?.['table.xlsx'];
    if (!(content instanceof Buffer)) throw new Error('There is no workbook.');
    expect(content.equals(second.workspace.generated?.['table.xlsx'] as Buffer)).toBe(true);
    const parts = readZip(content);
    expect(Object.keys(parts)).toHaveLength(6);
    const listed = parts['[Content_Types].xml']?.matchAll(/PartName="\/([^"]+)"/g) ?? [];
    for (const [, name = ''] of listed) expect(parts).toHaveProperty([name]);
    expect(parts['xl/worksheets/sheet1.xml']).toContain('<t>alpha</t></is></c><c r="B2"><v>2</v>');
  });
});

/** Reads the files of an archive without compression by its list, and checks their sums. */
function readZip(archive: Buffer): Record<string, string> {
  const end = archive.lastIndexOf('PK\u0005\u0006');
  let at = archive.readUInt32LE(end + 16);
  const found: Record<string, string> = {};
  for (let count = archive.readUInt16LE(end + 10); count > 0; count -= 1) {
    const length = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + length);
    const start = archive.readUInt32LE(at + 42) + 30 + length;
    const content = archive.subarray(start, start + archive.readUInt32LE(at + 24));
    expect(crc32(content)).toBe(archive.readUInt32LE(at + 16));
    found[name] = content.toString();
    at += 46 + length;
  }
  return found;
}

describe('generateFiles', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('says what it cannot make without git, and makes the rest', async () => {
    vi.stubEnv('PATH', '/no-such-directory');
    const { workspace, added, missing } = await generateFiles(['document', 'repository']);
    expect(added).toEqual(['document']);
    expect(workspace.files).toContain('guide.pdf');
    expect(missing).toEqual([{ subject: 'files: repository', reason: 'this machine has no git' }]);
  });
});

describe.runIf(findProgram('git') !== null)('a workspace with a repository', () => {
  it('has commits, a staged file and a change, and the same bytes each time', async () => {
    const [made, again] = await Promise.all([generateFiles(['repository']), generateFiles(['repository'])]);
    expect(made).toEqual(again);
    await using directory = await createWorkspace();
    await copyWorkspace(made.workspace, directory.path);
    expect(git(directory.path, 'status', '--porcelain')).toEqual(['M notes.txt', 'A  table.csv']);
    expect(git(directory.path, 'log', '--format=%s %ad', '--date=short')).toEqual([
      'Add the guide and the data 2024-01-16',
      'Add the notes 2024-01-15',
    ]);
    expect(git(directory.path, 'fsck', '--strict')).toEqual(['']);
  });

  it('is kept as a directory that a repository can hold, and put back with its index', async () => {
    await using directory = await createWorkspace();
    const [kept, copy] = [join(directory.path, 'kept'), join(directory.path, 'copy')];
    await keepWorkspace((await generateFiles(['repository'])).workspace, kept);
    expect(await readdir(kept)).toContain('.gitted');
    expect(await readdir(kept)).not.toContain('.git');
    const workspace = await readWorkspace(kept, directory.path);
    await copyWorkspace(workspace, copy);
    const first = await takeSnapshot(copy);
    git(copy, 'commit', '--quiet', '--all', '--message', 'Change');
    expect(git(copy, 'status', '--porcelain')).toEqual(['']);
    await putBack(copy, { first, now: await takeSnapshot(copy), files: workspace, started: new Map() });
    expect(git(copy, 'status', '--porcelain')).toEqual(['M notes.txt', 'A  table.csv']);
  });

  it.each([
    ['config', '[core]\n\tbare = false\n\tfsmonitor = ./run\n', 'has a setting in line 3 that may name a program'],
    ['config', '[core] hooksPath = x\n', 'has a setting in line 1'],
    ['config', '[include]\n\tpath = other\n', 'has a setting in line 1'],
    ['config', '[user]\n\tname = a\\\n[alias]\n', 'has a setting in line 2'],
    ['hooks/pre-commit', 'exit 1\n', 'is a program that git would run in each copy; remove it'],
    ['modules/a/config', '[core]\n', 'is of a submodule'],
  ])('is refused if its %s can make git run a program: %j', async (name, text, message) => {
    await using directory = await createWorkspace({
      [`.gitted/${name}`]: text,
      '.gitted/HEAD': 'ref: refs/heads/main\n',
    });
    await expect(readWorkspace(directory.path, '/')).rejects.toThrow(`.gitted/${name} ${message}`);
  });

  it('may have settings that name no program', async () => {
    const config =
      '# Of a clone\n[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tmerge = refs/heads/main\n';
    await using directory = await createWorkspace({ '.gitted/config': config, '.gitted/hooks/a.sample': 'exit 1\n' });
    expect((await readWorkspace(directory.path, '/')).files).toEqual(['.git/config', '.git/hooks/a.sample']);
  });

  it('is refused where it has both names', async () => {
    await using directory = await createWorkspace();
    for (const name of ['.git', '.gitted']) {
      await mkdir(join(directory.path, 'sub', name), { recursive: true });
      await writeFile(join(directory.path, 'sub', name, 'HEAD'), 'ref: refs/heads/main\n');
    }
    await expect(readWorkspace(directory.path, '/')).rejects.toThrow(
      'sub has both .git and .gitted, which becomes .git in each copy; remove one',
    );
  });
});

/** A server whose tool prints the subjects of commits. */
const server = `import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const inputSchema = { type: 'object', properties: { path: { type: 'string', description: 'Path to the repository' } }, required: ['path'] };
const log = (path) => {
  if (!path.startsWith('/')) return { content: [{ type: 'text', text: path + ' must be absolute' }], isError: true };
  try {
    return { content: [{ type: 'text', text: execFileSync('git', ['log', '--format=%s'], { cwd: path, encoding: 'utf8', stdio: 'pipe' }) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.code === 'ENOTDIR' ? path + ' is not a directory' : error.message.split('\\n')[0] }], isError: true };
  }
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'log', version: '1.0.0' } });
  else if (method === 'tools/list') send(id, { tools: [{ name: NAME, inputSchema }] });
  else if (method === 'tools/call') send(id, log(params.arguments.path));
  else if (id !== undefined) send(id, {});
});
`;

describe.runIf(findProgram('git') !== null)('an exploration without files of the user', () => {
  const explore = async (name: string) => {
    await using directory = await createWorkspace({ 'server.mjs': server.replace('NAME', `'${name}'`) });
    return await exploreInTest(`node ${join(directory.path, 'server.mjs')}`, { budget: 20 });
  };

  it('gives a server about git a repository, and another server none', async () => {
    const [about, other] = [await explore('git_log'), await explore('notes_log')];
    const answers = about.sessions.map(({ steps }) => JSON.stringify(steps.at(-1)?.observation.outcome));
    expect(answers.join('\n')).toContain('Add the guide and the data');
    expect([about.addedFiles, about.coverage.tools]).toEqual([['repository'], { reached: 1, of: 1 }]);
    expect([other.addedFiles, other.coverage.tools]).toEqual([undefined, { reached: 0, of: 1 }]);
    expect(generatedWorkspace.repositories).toBeUndefined();
  });
});
