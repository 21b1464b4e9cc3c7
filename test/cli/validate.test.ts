import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';

describe('mcp-eval-ci validate', () => {
  it('exits 0 and says what a valid file holds', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': greenEvals });
    expect(await runCommand(['validate', 'a.evals.yaml'], { cwd: workspace.path })).toEqual({
      exitCode: 0,
      stdout: 'a.evals.yaml: Everything, 3 cases, 4 iterations\n1 file is valid.\n',
      stderr: '',
    });
  });

  it('warns of a prompt without a model, which only a hosted service can run', async () => {
    const text = 'suite: A\ncases:\n  - title: Asks\n    steps:\n      - prompt: Hello\n';
    await using workspace = await createWorkspace({ 'a.evals.yaml': text });
    expect(await runProgramInTest(['validate', 'a.evals.yaml'], { cwd: workspace.path })).toEqual({
      exitCode: 0,
      stdout: 'a.evals.yaml: A, 1 case, 1 iteration\n1 file is valid.\n',
      stderr: expect.stringMatching(
        /^Warning: a\.evals\.yaml:5:9: case "Asks" has a prompt step and no model; set `model` in .* can run it\.\n$/,
      ),
    });
    await workspace.write('a.evals.yaml', `model: anthropic/claude-haiku-4-5\n${text}`);
    expect((await runProgramInTest(['validate', 'a.evals.yaml'], { cwd: workspace.path })).stderr).toBe('');
  });

  it('warns of tools that providers refuse, of decoys and of a surface file', async () => {
    const decoys = "decoys: [{ name: 'mail.send', inputSchema: { oneOf: [{ type: 'object' }] } }]";
    const evals = `suite: A\nmodel: anthropic/claude-haiku-4-5\n${decoys}\ncases:\n  - title: Asks\n    steps:\n      - prompt: Hello\n`;
    const surface = {
      version: 1,
      configurations: {
        default: {
          capabilities: {},
          tools: [{ name: 'notes.read', inputSchema: { type: 'object' } }],
          prompts: [],
          resources: [],
          resourceTemplates: [],
        },
      },
    };
    await using workspace = await createWorkspace({
      'a.evals.yaml': evals,
      'surface.json': JSON.stringify(surface),
    });
    const validate = async (...flags: string[]) =>
      await runProgramInTest(['validate', 'a.evals.yaml', ...flags], { cwd: workspace.path });
    const [names, schemas] = [
      'Warning: Models are offered tools under names that all providers take: "mail.send" as "mail_send".',
      'Warning: Models pass the arguments of tools in one parameter `input`, because providers refuse the top of their input schemas: "mail.send" (`oneOf`).',
    ];
    expect(await validate()).toMatchObject({ exitCode: 0, stderr: `${names}\n${schemas}\n` });
    const { stderr } = await validate('--surface', 'surface.json');
    expect(stderr).toContain('"mail.send" as "mail_send", "notes.read" as "notes_read".');
    const missing = await validate('--surface', 'other.json');
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"other.json" does not exist') });
  });

  it('exits 2 with file, line, column and code of every finding in every file', async () => {
    await using workspace = await createWorkspace({
      'a.evals.yaml': greenEvals.replace('required:', 'requierd:').replace('runs: 2', 'runs: 200'),
      'b.evals.yaml': 'suite: B\n',
    });
    const result = await runProgramInTest(['validate', '*.evals.yaml'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    const lines = result.stderr.trimEnd().split('\n');
    expect(lines.slice(0, -1).map((line) => /^(\S+:\d+:\d+): .* \(([a-z-]+)\)$/.exec(line)?.slice(1))).toEqual([
      ['a.evals.yaml:11:5', 'unknown-key'],
      ['a.evals.yaml:12:11', 'out-of-range'],
      ['b.evals.yaml:1:1', 'missing-key'],
    ]);
    expect(lines.at(-1)).toBe('3 problems; nothing was run.');
  });

  it('prints no text of a file that a terminal or the runner would obey', async () => {
    await using workspace = await createWorkspace({
      'good.yaml': `suite: "a\\x1b[31mb\\n::error::c"\ncases: [{ title: x, steps: [{ toolCall: y }] }]\n`,
      'bad.yaml': `suite: x\n"a\\x1b[31mb\\n::error::c": 1\ncases: [{ title: x, steps: [{ toolCall: y }] }]\n`,
    });
    const good = await runProgramInTest(['validate', 'good.yaml'], { cwd: workspace.path });
    expect(good.stdout).toBe('good.yaml: ab ::error::c, 1 case, 1 iteration\n1 file is valid.\n');
    const bad = await runProgramInTest(['validate', 'bad.yaml'], { cwd: workspace.path });
    expect(bad.stderr.split('\n')[0]).toMatch(/^bad\.yaml:2:1: Unknown key `ab ::error::c`/);
  });

  it('reads what editors on other systems write: CRLF, a byte order mark, JSON with tabs', async () => {
    const json = { suite: 'Json', cases: [{ title: 'x', steps: [{ toolCall: 'y' }] }] };
    await using workspace = await createWorkspace({
      'crlf.yaml': greenEvals.replaceAll('\n', '\r\n'),
      'bom.yaml': `\uFEFF${greenEvals.replace('suite: Everything', 'suite: Bom')}`,
      'tabs.json': JSON.stringify(json, null, '\t'),
    });
    const result = await runProgramInTest(['validate', '*.yaml', 'tabs.json'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout.split('\n').at(-2)).toBe('3 files are valid.');
  });

  it('exits 2 for a pattern that matches nothing', async () => {
    await using workspace = await createWorkspace();
    const result = await runCommand(['validate', 'evals/*.yaml'], { cwd: workspace.path });
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain('evals/*.yaml');
  });

  it('loads check modules and locates unknown names and arguments that do not fit', async () => {
    const own = "import { defineCheck, fail, pass } from 'mcp-eval-ci/checks';\n";
    const schema = "{ type: 'object', properties: { word: { type: 'string' } }, additionalProperties: false }";
    const code = `export const says = defineCheck({ name: 'saysWord', schema: ${schema}, judge: () => pass('it does') });\n`;
    const suite = (assertions: string, module: string) =>
      `suite: A\ncheckModules: ./${module}\ncases:\n  - title: One\n    steps: [{ toolCall: add }, ${assertions}]\n`;
    await using workspace = await createWorkspace({
      'checks.mjs': own + code,
      'broken.mjs': own,
      'good.evals.yaml': suite('{ assert: { saysWord: blue } }', 'checks.mjs'),
      'wrong.evals.yaml': suite('{ assert: { saysWord: 5 } }, { assert: sayWord }', 'checks.mjs'),
      'none.evals.yaml': suite('{ assert: { saysWord: blue } }', 'broken.mjs'),
    });
    const validate = async (file: string, env: Record<string, string> = {}) =>
      await runCommand(['validate', file], { cwd: workspace.path, env });
    expect(await validate('good.evals.yaml')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 file is valid.'),
    });
    const wrong = await validate('wrong.evals.yaml');
    expect(wrong).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'wrong.evals.yaml:5:54: `saysWord`: `word` must be string (bad-check-argument)\nwrong.evals.yaml:5:71: Unknown assertion `sayWord`; did you mean `saysWord`? (unknown-assertion)',
      ),
    });
    expect(await validate('wrong.evals.yaml', { CI: 'true', PATH: '/nonexistent' })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(
        /^Warning: wrong\.evals\.yaml:2: The checks of its modules are not validated here\. .*needs a sandbox/,
      ),
    });
    expect(await validate('none.evals.yaml')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'none.evals.yaml:2:15: broken.mjs cannot be loaded: it exports no check that `defineCheck` made (bad-check-module)',
      ),
    });
  });
});
