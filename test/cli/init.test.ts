import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exploredServerPath, nameExploredServer } from '../support/explore.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('mcp-eval-ci init', () => {
  it('takes a package from nothing to a verdict, finds its server itself, and adds nothing the second time', async () => {
    await using workspace = await createWorkspace({
      'package.json': JSON.stringify({ name: 'notes', bin: 'build/index.js', scripts: { build: 'true' } }),
    });
    await mkdir(join(workspace.path, 'build'));
    await workspace.write('build/index.js', `import(${JSON.stringify(memoryServerPath)});\n`);
    const first = await runProgramInTest(['init', '--yes'], { cwd: workspace.path });
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.stdout).toMatch(
      /^Files: evals\/tools\.evals\.yaml \(created, \d+ cases\).*, evals\/surface\.json \(created\), \.github\/workflows\/evals\.yml \(created\)$/m,
    );
    expect(first.stdout).toMatch(/^Coverage: \d of 9 tools, \d of 8 parameters, \d+ of \d+ error paths$/m);
    expect(first.stdout).toMatch(/^Next: commit the files\. After a meant change, renew the checks: mcp-eval-ci run /m);
    expect(first.stdout).toMatch(/✓ Passed: \d+ of \d+ iterations passed/);
    const workflow = await workspace.read('.github/workflows/evals.yml');
    expect(workflow).toContain('      - run: npm install\n      - run: npm run build\n');
    expect(workflow).toContain('          server-command: node build/index.js\n');
    expect(workflow).toContain('          surface: evals/surface.json\n');
    const evals = await workspace.read('evals/tools.evals.yaml');
    const surface = await workspace.read('evals/surface.json');
    expect(JSON.parse(surface)).toMatchObject({ configurations: { default: { tools: expect.any(Array) } } });
    // The first run compares with it.
    const report: unknown = JSON.parse(await workspace.read('mcp-eval-report/report.json'));
    expect(report).toMatchObject({ surface: { against: 'evals/surface.json', configurations: [{ changes: [] }] } });
    // The memory server has nothing that a host drops or cuts.
    expect(first.stdout).not.toContain('Hosts that show');
    const longer = surface.replace('"capabilities"', '"instructions": "Read all nodes first.",\n      "capabilities"');
    await workspace.write('evals/surface.json', longer);
    const second = await runCommand(['init', '--yes', '--no-run'], { cwd: workspace.path });
    expect(second).toMatchObject({ exitCode: 0 });
    expect(second.stdout).toContain('unchanged  evals/tools.evals.yaml\nunchanged  evals/surface.json\n');
    expect(second.stdout).toContain(
      'Hosts that show a model less than the server sends (1 finding in all):\n  Copilot CLI 1.0.102 never shows the model the instructions of a server: 21 characters here.\nMore: npx mcp-eval-ci hosts --server-command ',
    );
    expect(await workspace.read('evals/surface.json')).toBe(longer);
    expect(await workspace.read('evals/tools.evals.yaml')).toBe(evals);
  });

  it('writes evals that fail for a server with a bug, and name what is wrong', async () => {
    await using workspace = await createWorkspace();
    const server = await readFile(exploredServerPath, 'utf8');
    const traces = "note(`${process.env.HOME}/cache`, 'x');\nnote('started', 'x');\n";
    await workspace.write('server.mjs', `import { appendFileSync as note } from 'node:fs';\n${traces}${server}`);
    await mkdir(join(workspace.path, 'home'));
    const start = ['--server-command', 'node server.mjs notes words'];
    // The time limit is far above what the exploration takes.
    const flags = ['--yes', '--no-run', '--call', 'all', '--budget', '60', '--time-limit', '30m'];
    const env = { HOME: join(workspace.path, 'home') };
    const written = await runProgramInTest(['init', ...flags, ...start], { cwd: workspace.path, env });
    expect(written).toMatchObject({ exitCode: 0 });
    // No start of the server leaves anything behind, that which lists the tools included.
    expect(await readdir(workspace.path)).not.toContain('started');
    expect(await readdir(env.HOME)).toEqual([]);
    await workspace.write('server.mjs', server);
    const run = ['run', '--evals', 'evals/tools.evals.yaml', '--sandbox', 'off', ...start];
    expect(await runProgramInTest(run, { cwd: workspace.path })).toMatchObject({ exitCode: 0 });
    const patched = server
      .replace('notes.set(note.id, note);', '')
      .replace('message.toUpperCase() + mark', 'message + mark');
    await workspace.write('server.mjs', patched);
    const red = await runProgramInTest(run, { cwd: workspace.path });
    expect(red).toMatchObject({ exitCode: 1 });
    const text = red.stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('✗ list_notes finds what create_note made');
    expect(text).toMatch(/is 0, expected 1|is missing, expected "Alpha"/);
    expect(text).toContain('✗ shout answers with message "delta epsilon"');
    expect(text).toContain('"DELTA EPSILON!"');
    expect(text).toContain('✓ show_month answers with day "24.12.2023"');
  });

  it('comments a case out that fails in its first run, and keeps many that fail', async () => {
    const init = async (...sets: string[]) => {
      await using workspace = await createWorkspace();
      const start = ['--server-command', nameExploredServer(...sets)];
      const flags = ['--yes', '--call', 'all', '--budget', '60', '--time-limit', '30m'];
      const result = await runProgramInTest(['init', ...flags, ...start], { cwd: workspace.path });
      return { ...result, evals: await workspace.read('evals/tools.evals.yaml') };
    };
    const mended = await init('watched', 'notes', 'words');
    expect(mended).toMatchObject({ exitCode: 0 });
    expect(mended.stderr).toContain(
      '1 case failed although nothing has changed: commented out in evals/tools.evals.yaml',
    );
    expect(mended.evals).toMatch(
      / {2}# Not run: it failed when it was written: .*"Wild and alone".*\n {2}# - id: get-mood-answers\n {2}# {3}title: get_mood answers\n/,
    );
    const [, count] = /evals\.yaml \(created, (\d+) cases\)/.exec(mended.stdout) ?? [];
    expect(mended.evals.match(/^ {2}- id: /gm)).toHaveLength(Number(count));
    // Of two cases, one is many.
    const red = await init('watched');
    expect(red).toMatchObject({ exitCode: 1 });
    expect(red.evals).not.toContain('Not run');
  });

  it('writes evals that pass again and again for a server that keeps its state in HOME, and leaves that of the user', async () => {
    await using workspace = await createWorkspace();
    await using home = await createWorkspace();
    const start = ['--server-command', nameExploredServer('diary')];
    const process = { cwd: workspace.path, env: { HOME: home.path } };
    const flags = ['--yes', '--no-run', '--call', 'all', '--budget', '30', '--time-limit', '30m'];
    expect(await runCommand(['init', ...flags, ...start], process)).toMatchObject({ exitCode: 0 });
    const evals = await workspace.read('evals/tools.evals.yaml');
    expect(evals).toContain('\nworkspace: empty\n');
    expect(evals).toContain('- toolCall: add_entry');
    const run = ['run', '--evals', 'evals/tools.evals.yaml', '--sandbox', 'off', ...start];
    expect(await runCommand(run, process)).toMatchObject({ exitCode: 0 });
    await expect(home.read('explored-diary.json')).rejects.toThrow('ENOENT');
    // Without the key, cases find the entries of others.
    await workspace.write('evals/tools.evals.yaml', evals.replace('workspace: empty\n', ''));
    expect(await runCommand(run, process)).toMatchObject({ exitCode: 1 });
    expect(await home.read('explored-diary.json')).toContain('text');
  });

  it.each([
    ['an empty directory', {}, ['--yes'], /no way to start the server was found/, runCommand],
    ['a package, unasked', { 'package.json': '{ "bin": "a.js" }' }, [], /give `--yes` to start `node a\.js/],
    [
      'a directory with a damaged surface file',
      { 'evals/surface.json': '{' },
      ['--server-command', 'node a.js'],
      /evals\/surface\.json.*is not JSON/,
    ],
    ['a wrong model', {}, ['--server-command', 'node a.js', '--model', 'gpt'], /"gpt" is not a model/],
  ])('exits 2 in %s and writes nothing', async (_where, files, flags, message, run = runProgramInTest) => {
    await using workspace = await createWorkspace(files);
    const result = await run(['init', ...flags], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    await expect(workspace.read('evals/tools.evals.yaml')).rejects.toThrow('ENOENT');
  });

  it('exits 3 for a server that does not start, and says how it is built', async () => {
    await using workspace = await createWorkspace({
      'package.json': '{ "bin": "a.js", "scripts": { "build": "tsc" } }',
    });
    const result = await runProgramInTest(['init', '--yes'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 3, stdout: '' });
    expect(result.stderr).toContain('If the server is not built yet, run `npm install`, then `npm run build`.');
    expect(result.stderr).toContain('Cannot find module');
  });
});
