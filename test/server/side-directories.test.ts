import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/time.ts';
import { createOutputTail } from '../../src/server/output-tail.ts';
import { startProcess } from '../../src/server/process.ts';
import type { SandboxOptions } from '../../src/server/sandbox/open-sandbox.ts';
import { openSideDirectories, openSidesRoot } from '../../src/server/side-directories.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));
const modes: ReadonlyArray<SandboxOptions['mode']> = hasSandbox ? ['off', 'auto', 'required'] : ['off'];

/** Runs programs as one side of a comparison, with a HOME that has what earlier steps of the job installed. */
async function openSide(home: Workspace, work: Workspace, mode: SandboxOptions['mode']) {
  const root = openSidesRoot();
  const directory = join(root.path, 'base');
  mkdirSync(directory);
  const environment = { HOME: home.path, PATH: `${join(home.path, 'bin')}:${process.env['PATH']}` };
  const side = openSideDirectories(
    directory,
    { own: [work.path], copied: [], protect: [], move: (path) => path },
    environment,
  );
  const options: SandboxOptions = {
    mode,
    network: 'on',
    writable: [],
    protect: [],
    make: { directories: [], files: [] },
  };
  const opened = await side.openSandbox(options, { cwd: work.path, environment, logger: silentLogger });
  return {
    variables: side.variables,
    level: opened.report.level,
    run: async (words: readonly string[]) => {
      const tail = createOutputTail();
      const program = startProcess(words, {
        cwd: work.path,
        env: { ...environment, ...side.variables },
        tail,
        clock: systemClock,
        sandbox: opened.sandbox,
        readsStdin: false,
      });
      program.stdin.end();
      let stdout = '';
      program.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)));
      const { code, error } = await program.exited;
      await program.stop();
      return { code, stdout: stdout.trim(), stderr: `${tail.readLines(20).join('\n')}${error?.message ?? ''}` };
    },
    [Symbol.asyncDispose]: async () => {
      await side[Symbol.asyncDispose]();
      root[Symbol.dispose]();
      expect(existsSync(root.path)).toBe(false);
    },
  };
}

const find = (program: string): string | null => {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
};

/** Where Python itself is: a launcher may find it by HOME. */
const python = (() => {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
})();

const writes = (path: string) => ['sh', '-c', `echo changed >"${path}"`];

describe.each(modes)('the directories of a side with `sandbox: %s`', { timeout: 300_000 }, (mode) => {
  it('keep what programs write to HOME and TMPDIR from the job, and show what the job has there', async () => {
    await using home = await createWorkspace({ '.tool/state': 'of the job', '.config/own/settings': 'kept' });
    await using work = await createWorkspace();
    await using side = await openSide(home, work, mode);
    const read = ['sh', '-c', 'cat "$HOME/.tool/state" "$HOME/.config/own/settings"'];
    expect((await side.run(read)).stdout).toBe('of the jobkept');
    for (const path of ['$HOME/new', '$HOME/.config/new', '$HOME/.local/lib', '$TMPDIR/new'])
      await side.run(writes(path));
    expect((await side.run(['sh', '-c', 'cat "$HOME/new" "$HOME/.config/new" "$TMPDIR/new"'])).stdout).toContain(
      'changed\nchanged\nchanged',
    );
    expect(readdirSync(home.path).toSorted()).toEqual(['.config', '.tool']);
    expect(readdirSync(join(home.path, '.config'))).toEqual(['own']);
    if (mode === 'off') return;
    await side.run(writes('$HOME/.tool/state'));
    // The directory is below /tmp, of which a side sees a view of its own at the level `isolated`.
    await side.run(writes(join(home.path, 'new')));
    expect(existsSync(join(home.path, 'new'))).toBe(false);
    expect(await home.read('.tool/state')).toBe('of the job');
  });

  it.runIf(python !== null)('show packages of `pip --user`', async () => {
    await using home = await createWorkspace();
    await using work = await createWorkspace();
    const environment = { HOME: home.path, PATH: process.env['PATH'] };
    const site = execFileSync(python ?? '', ['-m', 'site', '--user-site'], {
      env: environment,
      encoding: 'utf8',
    }).trim();
    mkdirSync(site, { recursive: true });
    await writeFile(join(site, 'words.py'), 'word = "installed"\n');
    await using side = await openSide(home, work, mode);
    const print = [python ?? '', '-c', 'import words; print(words.word)'];
    expect(await side.run(print)).toMatchObject({ stdout: 'installed', code: 0 });
    // What is installed for the side is not installed for the job.
    const add = `import site; open(site.getusersitepackages() + '/usercustomize.py', 'w').write('')`;
    expect((await side.run([python ?? '', '-c', add])).code).toBe(0);
    expect(existsSync(join(site, 'usercustomize.py'))).toBe(false);
  });

  it.runIf(find('npm') !== null)('let `npx` run, offline, what its cache has', async () => {
    await using home = await createWorkspace();
    await using work = await createWorkspace({
      'own/package.json': JSON.stringify({ name: 'own-words', version: '1.0.0', bin: { 'own-words': 'say.js' } }),
      'own/say.js': '#!/usr/bin/env node\nconsole.log("from the cache");\n',
    });
    const env = { HOME: home.path, PATH: process.env['PATH'], npm_config_update_notifier: 'false' };
    const npx = ['npx', '--yes', '--offline', `file:${join(work.path, 'own')}`];
    const [program = '', ...args] = npx;
    expect(execFileSync(program, args, { cwd: work.path, env, encoding: 'utf8' })).toContain('from the cache');
    await using side = await openSide(home, work, mode);
    expect(await side.run(npx)).toMatchObject({ stdout: 'from the cache', code: 0 });
  });

  it.runIf(find('cargo') !== null)('let `cargo` run, offline, what it finds in HOME', async () => {
    await using home = await createWorkspace();
    await using work = await createWorkspace({
      'Cargo.toml': '[package]\nname = "words"\nversion = "1.0.0"\nedition = "2021"\n',
      'src/main.rs': 'fn main() { println!("built"); }\n',
    });
    const toolchain = execFileSync('sh', ['-c', 'dirname "$(rustc --print sysroot)/bin/cargo"'], {
      encoding: 'utf8',
    }).trim();
    await using side = await openSide(home, work, mode);
    const build = `PATH="${toolchain}:$PATH" cargo run --quiet --offline --target-dir "$TMPDIR/target"`;
    // At the level `confined`, a side cannot write its lock file.
    execFileSync('sh', ['-c', `PATH="${toolchain}:$PATH" cargo generate-lockfile --quiet --offline`], {
      cwd: work.path,
    });
    expect(await side.run(['sh', '-c', build])).toMatchObject({ stdout: 'built', code: 0 });
    expect(readdirSync(home.path)).toEqual([]);
  });

  it.runIf(find('uvx') !== null && python !== null)('let `uvx` run, offline, what its cache has', async () => {
    await using home = await createWorkspace();
    await using work = await createWorkspace({
      'own/pyproject.toml':
        '[project]\nname = "own-words"\nversion = "1.0.0"\n[project.scripts]\nown-words = "own_words:main"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
      'own/backend.py': `import zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "own_words-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as wheel:
        wheel.writestr("own_words.py", "def main():\\n    print('from the cache')\\n")
        wheel.writestr("own_words-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: own-words\\nVersion: 1.0.0\\n")
        wheel.writestr("own_words-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("own_words-1.0.0.dist-info/entry_points.txt", "[console_scripts]\\nown-words = own_words:main\\n")
        wheel.writestr("own_words-1.0.0.dist-info/RECORD", "")
    return name
`,
    });
    const uvx = [
      find('uvx') ?? '',
      '--offline',
      '--python',
      python ?? '',
      '--from',
      join(work.path, 'own'),
      'own-words',
    ];
    const [program = '', ...args] = uvx;
    const env = { HOME: home.path, PATH: process.env['PATH'] };
    expect(execFileSync(program, args, { cwd: work.path, env, encoding: 'utf8', stdio: 'pipe' })).toContain(
      'from the cache',
    );
    await using side = await openSide(home, work, mode);
    expect(await side.run(uvx)).toMatchObject({ stdout: 'from the cache', code: 0 });
  });
});

describe('openSidesRoot', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is outside of a directory that the base sees as a copy, and else in the temporary directory', async () => {
    await using work = await createWorkspace({ 'tmp/kept.txt': '' });
    vi.stubEnv('TMPDIR', join(work.path, 'tmp'));
    using outside = openSidesRoot([work.path]);
    expect(outside.path.startsWith(work.path)).toBe(false);
    using inside = openSidesRoot([join(work.path, 'other')]);
    expect(inside.path.startsWith(join(work.path, 'tmp'))).toBe(true);
  });
});
