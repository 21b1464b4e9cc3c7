import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { filesystemServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = `suite: sums
cases:
  - title: Adds
    steps:
      - toolCall: get-sum
      - assert: { toolResultContains: "5" }
`;

describe('mcp-eval-ci mutate', () => {
  it('prints what the evals would miss, and writes no report', async () => {
    await using server = await startFixtureMcpServer({ 'get-sum': { call: () => text('The sum is 5.') } });
    await using workspace = await createWorkspace({ 'sums.evals.yaml': evals });
    const args = ['mutate', '--server-url', server.url, 'sums.evals.yaml'];
    const printed = await runCommand(args, { cwd: workspace.path });
    expect(printed.stdout).toMatch(/^Your evals notice \d+ of \d+ harmful changes/);
    expect(printed.stdout).toContain('`get-sum` could swap capital and small letters of its answer  [Adds]');
    expect(printed.stdout).toContain('Checks to add (`--write` writes them):\n  sums.evals.yaml:5 Adds\n');
    expect(await workspace.read('sums.evals.yaml')).toBe(evals);
    expect(printed.exitCode).toBe(0);
    const json = await runProgramInTest([...args, '--format', 'json'], { cwd: workspace.path });
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: 1,
      unknown: 0,
      cases: [{ title: 'Adds' }],
      suggestions: [
        {
          file: 'sums.evals.yaml',
          line: 5,
          title: 'Adds',
          add: [{ toolResultContains: 'The sum is 5.' }, { argumentsMatchToolSchema: 'get-sum' }],
          removedLines: [],
        },
      ],
    });
    expect(await readdir(workspace.path)).toEqual(['sums.evals.yaml']);
  });

  it('suggests checks that make the evals stronger, and writes them with --write', async () => {
    const result = { count: 2, names: ['bread', 'milk'] };
    const answer = { ...text(JSON.stringify(result)), structuredContent: result };
    await using server = await startFixtureMcpServer({ 'get-notes': { call: () => answer } });
    const brittle = `# Notes.
suite: notes
cases:
  - title: Reads notes
    steps:
      - toolCall: get-notes # all of them
      - assert: { toolResultEquals: { count: 2, names: [bread, milk] } }
  - title: Calls the tool
    steps:
      - toolCall: get-notes
        arguments: { all: true }
`;
    await using workspace = await createWorkspace({ 'notes.evals.yaml': brittle });
    const run = async (...flags: string[]) =>
      await runProgramInTest(['mutate', '--server-url', server.url, 'notes.evals.yaml', ...flags], {
        cwd: workspace.path,
      });
    const read = (printed: string) => /notice (\d+) of \d+ .* under (\d+) of/.exec(printed)?.slice(1).map(Number) ?? [];
    const before = await run('--fix', '--write');
    expect(before.stderr).toMatch(/Added \d checks?, and removed 1 in notes\.evals\.yaml\./);
    const written = await workspace.read('notes.evals.yaml');
    expect(written).toContain('# Notes.\nsuite: notes\n');
    expect(written).toContain('      - toolCall: get-notes # all of them\n');
    expect(written).not.toContain('toolResultEquals: { count: 2');
    const after = await run();
    const [[noticedBefore = 0, tolerantBefore = 0], [noticed = 0, tolerant = 0]] = [
      read(before.stdout),
      read(after.stdout),
    ];
    expect(noticed).toBeGreaterThan(noticedBefore);
    expect(tolerant).toBeGreaterThan(tolerantBefore);
  });

  it('names the step that reads what a tool did, where no case does', async () => {
    await using server = await startFixtureMcpServer({
      list_notes: { call: () => text('milk') },
      delete_note: { call: () => text('deleted') },
    });
    const removing = `suite: notes
cases:
  - title: Deletes a note
    steps:
      - toolCall: delete_note
        arguments: { name: milk }
`;
    await using workspace = await createWorkspace({ 'notes.evals.yaml': removing });
    const args = ['mutate', '--server-url', server.url, 'notes.evals.yaml'];
    const printed = await runProgramInTest(args, { cwd: workspace.path });
    expect(printed.stdout).toContain('could say that it worked and do nothing: no case reads afterwards');
    expect(printed.stdout).toContain('  notes.evals.yaml:5 Deletes a note\n    + - toolCall: list_notes\n');
    const json = await runProgramInTest([...args, '--format', 'json'], { cwd: workspace.path });
    const reading = { file: 'notes.evals.yaml', line: 5, title: 'Deletes a note', step: { toolCall: 'list_notes' } };
    expect(JSON.parse(json.stdout)).toMatchObject({ readings: [reading] });
  });

  it('takes the answers of a report instead of running the evals, and measures checks that were changed since', async () => {
    const notes = `suite: files
workspace: empty
cases:
  - title: Lists its tools
    steps: [listTools: true]
  - title: Refuses a file that does not exist
    steps:
      - toolCall: read_text_file
        arguments: { path: none.txt }
      - assert: { toolResultIsError: true }
  - title: Lists the directories
    steps:
      - toolCall: list_allowed_directories
`;
    await using workspace = await createWorkspace({
      'files.evals.yaml': notes,
      'snapshots/directories.json': JSON.stringify({ content: 'Allowed directories:\n{{workspace}}' }),
    });
    const run = async (...args: string[]) => await runProgramInTest(args, { cwd: workspace.path });
    const server = ['--server-command', `node ${filesystemServerPath} {{workspace}}`, 'files.evals.yaml'];
    const live = await run('mutate', '--format', 'json', ...server);
    await run('run', '--report-formats', 'transcripts', '--runs', '2', '--report-to', 'none', ...server);
    const transcripts = await workspace.read('mcp-eval-report/transcripts.jsonl');
    expect(transcripts.split('\n')).toHaveLength(7);
    expect(transcripts).toContain('Allowed directories:\\n{{workspace}}');
    const taken = ['mutate', '--format', 'json', 'files.evals.yaml', '--from-report'];
    expect(await run(...taken, 'mcp-eval-report')).toEqual(live);
    expect(live.stdout).toContain('"subject": "read_text_file"');

    await run('capture', '--out', 'captured.evals.yaml', '--from', 'mcp-eval-report/transcripts.jsonl');
    const captured = await workspace.read('captured.evals.yaml');
    expect(captured.match(/toolCall: \w+/g)).toEqual([
      'toolCall: read_text_file',
      'toolCall: list_allowed_directories',
    ]);

    const read = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as { harmful: { noticed: number } };
    await workspace.write(
      'files.evals.yaml',
      `${notes}      - assert: { toolResultEquals: "Allowed directories:\\n{{workspace}}" }\n`,
    );
    const stronger = await run(...taken, 'mcp-eval-report/report.json');
    expect(read(stronger).harmful.noticed).toBeGreaterThan(read(live).harmful.noticed);
    await workspace.write('files.evals.yaml', `${notes}      - assert: { toMatchFile: snapshots/directories.json }\n`);
    const compared = await run(...taken, 'mcp-eval-report');
    expect(compared.stderr).toBe('');
    expect(read(compared).harmful.noticed).toBeGreaterThan(read(live).harmful.noticed);
    await workspace.write('files.evals.yaml', notes.replace('none.txt', 'other.txt'));
    expect(JSON.parse((await run(...taken, 'mcp-eval-report')).stdout)).toMatchObject({
      leftOut: [
        { subject: 'Refuses a file that does not exist', reason: 'its requests were changed after the report' },
      ],
    });
    await workspace.write('broken.jsonl', `${transcripts.split('\n')[0]}\n{}\n`);
    const broken = await run(...taken, 'broken.jsonl');
    expect(broken).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('broken.jsonl:2:1') });
    const missing = await run(...taken, 'elsewhere');
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--report-formats transcripts') });
    expect(missing.stderr).toContain('elsewhere/transcripts.jsonl: does not exist');
    const bytes = Buffer.from(transcripts);
    await workspace.write('cut.jsonl', transcripts.slice(0, transcripts.indexOf('\n')));
    expect((await run(...taken, 'cut.jsonl')).stderr).toContain('cut.jsonl: has no whole transcript');
    // The order of the lines is that in which iterations end. A last line that is cut is no error, even within a character.
    await writeFile(join(workspace.path, 'bytes.jsonl'), [bytes, Buffer.of(0xc3)]);
    expect(await run(...taken, 'bytes.jsonl')).toMatchObject({ exitCode: 0 });
    await writeFile(join(workspace.path, 'bytes.jsonl'), [bytes, Buffer.of(0xc3, 0x28, 0x0a)]);
    expect((await run(...taken, 'bytes.jsonl')).stderr).toContain('bytes.jsonl:7:1: is not UTF-8 text');
  });

  it('refuses a seed that is no number, and a hosted service', async () => {
    await using workspace = await createWorkspace({ 'sums.evals.yaml': evals });
    const run = async (...flags: string[]) =>
      await runProgramInTest(['mutate', '--server-url', 'http://127.0.0.1:9/mcp', 'sums.evals.yaml', ...flags], {
        cwd: workspace.path,
      });
    const seed = await run('--seed', 'five');
    expect(seed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(seed.stderr).toContain("argument 'five' is invalid. Write a whole number, such as 1.");
    const hosted = await run('--service', 'https://evals.example.com');
    expect(hosted).toMatchObject({ exitCode: 2, stdout: '' });
    expect(hosted.stderr).toContain('--service');
  });

  it('says in one line why nothing can be measured', async () => {
    await using server = await startFixtureMcpServer({ 'get-sum': { call: () => text('The sum is 6.') } });
    await using workspace = await createWorkspace({ 'sums.evals.yaml': evals, 'bad.evals.yaml': 'cases: 3' });
    const run = async (...args: string[]) => await runProgramInTest(['mutate', ...args], { cwd: workspace.path });
    const failed = await run('--server-url', server.url, 'sums.evals.yaml');
    expect(failed).toMatchObject({ exitCode: 3 });
    expect(failed.stderr).toContain('1 case did not pass and is left out; run the evals and mend them first.');
    expect(await run('--server-url', server.url, 'bad.evals.yaml')).toMatchObject({ exitCode: 2 });
    const unreached = await run(
      '--server-url',
      'http://127.0.0.1:9/mcp',
      '--server-ready-timeout',
      '1s',
      'sums.evals.yaml',
    );
    expect(unreached).toMatchObject({ exitCode: 3 });
    expect(unreached.stderr).toContain('No case ran, so that there is no answer to change: ');
  });
});
