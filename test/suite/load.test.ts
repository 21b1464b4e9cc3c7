import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSuites } from '../../src/suite/load.ts';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'suite-load-'));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(cwd, path)), { recursive: true });
  await writeFile(join(cwd, path), content);
}

function writeSuite(path: string, name = path): Promise<void> {
  return write(path, `suite: ${name}\ncases: [{ title: a, steps: [{ toolCall: x }] }]\n`);
}

async function load(...patterns: string[]) {
  const { suites, findings } = await loadSuites(patterns, { cwd });
  return { files: suites.map(({ location }) => location.file), findings };
}

describe('loadSuites', () => {
  it.each([
    ['a file elsewhere', '../secret.txt', 'evals/a.evals.yaml'],
    ['a directory elsewhere', '..', 'evals/../up/secret.txt'],
    ['a file of git', '../.git/config', 'evals/a.evals.yaml'],
  ])('refuses a link to %s, and quotes nothing of it', async (_, link, pattern) => {
    await write('secret.txt', 'a: [password-1\n');
    await mkdir(join(cwd, 'work/evals'), { recursive: true });
    await mkdir(join(cwd, 'work/.git'));
    await writeFile(join(cwd, 'work/.git/config'), 'password-1 = [x\n');
    const place = pattern.includes('up/') ? 'work/up' : 'work/evals/a.evals.yaml';
    const target = link.startsWith('../secret') ? `../${link}` : link;
    await symlink(target, join(cwd, place));
    const { suites, findings } = await loadSuites([pattern], { cwd: join(cwd, 'work') });
    expect(suites).toEqual([]);
    expect(findings).toMatchObject([{ code: 'link-out-of-checkout', line: 1 }]);
    expect(JSON.stringify(findings)).not.toContain('password');
  });

  it('follows a link within the checkout, also from a directory of it', async () => {
    await mkdir(join(cwd, '.git'));
    await writeSuite('shared/a.evals.yaml');
    await mkdir(join(cwd, 'server'));
    await symlink('../shared', join(cwd, 'server/evals'));
    const { suites, findings } = await loadSuites(['evals/*.yaml'], { cwd: join(cwd, 'server') });
    expect([suites.length, findings]).toEqual([1, []]);
  });

  it('reads every match once, in the order of the paths', async () => {
    await writeSuite('evals/b.evals.yaml');
    await writeSuite('evals/sub/a.evals.yaml');
    await writeSuite('evals/a.evals.yaml');
    await writeSuite('evals/node_modules/x/c.evals.yaml');
    await write('evals/other.txt', 'not read');
    expect(await load('evals/**/*.evals.yaml', 'evals/a.evals.yaml', './evals/b*')).toEqual({
      files: ['evals/a.evals.yaml', 'evals/b.evals.yaml', 'evals/sub/a.evals.yaml'],
      findings: [],
    });
  });

  it('prefers a file of exactly that name to a pattern', async () => {
    await writeSuite('[ab].evals.yaml', 'brackets');
    await writeSuite('a.evals.yaml');
    expect((await load('[ab].evals.yaml')).files).toEqual(['[ab].evals.yaml']);
  });

  it('reads a file once if a link leads to it, too', async () => {
    await writeSuite('evals/b.evals.yaml');
    await symlink('b.evals.yaml', join(cwd, 'evals/c.evals.yaml'));
    expect(await load('evals/*.evals.yaml')).toEqual({ files: ['evals/b.evals.yaml'], findings: [] });
  });

  it('reads a file outside of the directory, by a link within the checkout or by its path', async () => {
    await mkdir(join(cwd, '.git'));
    await writeSuite('outside/b.evals.yaml');
    await mkdir(join(cwd, 'inside/.hidden'), { recursive: true });
    await symlink('../../outside/b.evals.yaml', join(cwd, 'inside/.hidden/link.evals.yaml'));
    const loadInside = async (pattern: string) =>
      (await loadSuites([pattern], { cwd: join(cwd, 'inside') })).suites.map(({ location }) => location.file);
    expect(await loadInside('.hidden/*.yaml')).toEqual(['.hidden/link.evals.yaml']);
    expect(await loadInside('../outside/*.yaml')).toEqual(['../outside/b.evals.yaml']);
  });

  it('distinguishes suites named in another script', async () => {
    await writeSuite('a.evals.yaml', '日本語');
    await writeSuite('b.evals.yaml', '中文');
    const { suites, findings } = await loadSuites(['*.yaml'], { cwd });
    expect(findings).toEqual([]);
    expect(suites.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^suite-[0-9a-f]{8}$/),
      expect.stringMatching(/^suite-[0-9a-f]{8}$/),
    ]);
  });

  it('takes absolute paths', async () => {
    await writeSuite('a.evals.yaml');
    expect((await load(join(cwd, '*.evals.yaml'), join(cwd, 'a.evals.yaml'))).files).toEqual(['a.evals.yaml']);
  });

  it('reports a pattern without a match, and a directory', async () => {
    await writeSuite('evals/a.evals.yaml');
    const { findings } = await load('evals', 'none/*.yaml');
    expect(findings.map(({ code, message, input }) => ({ code, message, input }))).toEqual(
      ['evals', 'none/*.yaml'].map((pattern) => ({
        code: 'no-files',
        message: `No file matches "${pattern}"; patterns are relative to the working directory, such as evals/*.evals.yaml`,
        input: 'evals',
      })),
    );
  });

  it('reports findings of every file, each with its path', async () => {
    await write('a.evals.yaml', 'suite: a\n');
    await write('b.evals.yaml', 'suite: b\n');
    const { findings } = await load('*.evals.yaml');
    expect(findings).toEqual(
      ['a', 'b'].map((name) => ({
        file: `${name}.evals.yaml`,
        line: 1,
        column: 1,
        code: 'missing-key',
        message: 'The key `cases` is missing',
      })),
    );
  });

  it('reports an id that two files share', async () => {
    await writeSuite('a.evals.yaml', 'same');
    await writeSuite('b.evals.yaml', 'same');
    expect((await load('*.evals.yaml')).findings).toEqual([
      {
        file: 'b.evals.yaml',
        line: 1,
        column: 1,
        code: 'duplicate-suite-id',
        message: 'The suite id `same` is taken by a.evals.yaml; set another `id`',
      },
    ]);
  });

  it('does not read a file of more than 1 MiB, nor one that is not UTF-8', async () => {
    await write('big.evals.yaml', '#'.repeat(1024 * 1024 + 1));
    await write('latin.evals.yaml', Uint8Array.of(0x73, 0xe4));
    expect((await load('*.evals.yaml')).findings).toEqual([
      {
        file: 'big.evals.yaml',
        line: 1,
        column: 1,
        code: 'file-too-large',
        message: 'The file has 1048577 bytes; at most 1048576 (1 MiB) are read, so split the suite',
      },
      {
        file: 'latin.evals.yaml',
        line: 1,
        column: 1,
        code: 'not-utf8',
        message: 'The file is not UTF-8 text; save it in that encoding',
      },
    ]);
  });
});
