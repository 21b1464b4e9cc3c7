import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';

const source = resolve(import.meta.dirname, '../../src');

/** Prints the address of every module that Node loads, one a line. */
const reporter = `
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({
  load(address, context, next) {
    writeSync(2, address + '\\n');
    return next(address, context);
  },
});`;

/** Lists what the command loads: its own files below src, and the names of packages. */
async function listLoaded(...args: string[]): Promise<{ files: string[]; packages: string[] }> {
  const { exitCode, stderr } = await runCommand(args, {
    cwd: source,
    entry: resolve(source, 'cli/main.ts'),
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reporter)}` },
  });
  expect(exitCode).toBe(0);
  const files = [...stderr.matchAll(/^file:.*\/src\/((?!.*node_modules).*)$/gm)].map((match) => match[1] ?? '');
  const packages = [...stderr.matchAll(/^file:.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(
    (match) => match[1] ?? '',
  );
  return { files, packages: [...new Set(packages)] };
}

const roomsOf = (files: readonly string[]) => new Set(files.map((file) => file.split('/')[0]));

describe('what the command loads', () => {
  it('for --help is no gate, no command and no package but its parser of arguments', async () => {
    const { files, packages } = await listLoaded('--help');
    expect(roomsOf(files)).toEqual(new Set(['base', 'cli', 'report', 'server', 'supervisor']));
    expect(files).toContain('cli/commands.ts');
    expect(files).not.toContain('cli/run.ts');
    expect(packages).toEqual(['commander']);
  });

  it.each(['run', 'mutate', 'record', 'merge', 'publish', 'judge'])(
    'for %s --help is its own file and the descriptions of options, and no gate',
    async (name) => {
      const { files, packages } = await listLoaded(name, '--help');
      expect(files).toContain(`cli/${name}.ts`);
      expect(files).toContain('gate/options/list.ts');
      expect(files.filter((file) => file.startsWith('gate/plan/') || file === 'gate/gate.ts')).toEqual([]);
      for (const room of ['engine', 'suite', 'service', 'mcp']) expect(roomsOf(files)).not.toContain(room);
      expect(packages.toSorted()).toEqual(['commander', 'zod']);
    },
  );

  it.each([
    'init',
    'render',
    'history',
    'calibrate',
    'validate',
    'plan-runs',
    'doctor',
    'tools',
    'surface',
    'hosts',
    'tunnel',
    'sync',
    'pull',
    'completion',
  ])('for %s --help is its flags, and nothing that it runs', async (name) => {
    const { files, packages } = await listLoaded(name, '--help');
    expect(files.filter((file) => file.startsWith('gate/') && !file.startsWith('gate/options/'))).toEqual([]);
    for (const room of ['checks', 'engine', 'mcp', 'models', 'runner', 'service', 'suite', 'verdict']) {
      expect(roomsOf(files)).not.toContain(room);
    }
    expect(packages.filter((each) => !['commander', 'zod'].includes(each))).toEqual([]);
  });

  it('for api --help is the table of operations, and no client', async () => {
    const { files, packages } = await listLoaded('api', '--help');
    expect(files).toContain('service/operations/table.ts');
    for (const room of ['engine', 'http', 'mcp', 'models']) expect(roomsOf(files)).not.toContain(room);
    expect(packages.toSorted()).toEqual(['commander', 'leven', 're2js', 'stemmer', 'zod']);
  });
});
