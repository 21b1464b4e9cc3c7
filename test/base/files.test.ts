import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTextFile, writeTextFile } from '../../src/base/files.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('writeTextFile', () => {
  it('makes, replaces and appends to a file', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'a.txt');
    await writeTextFile(path, 'long before');
    await writeTextFile(path, 'one');
    await writeTextFile(path, ' two', 'append');
    expect(await readTextFile(path)).toBe('one two');
  });

  it.runIf(process.platform !== 'win32').each(['replace', 'append'] as const)(
    'refuses a named pipe without a reader, to %s',
    async (mode) => {
      await using workspace = await createWorkspace();
      const path = join(workspace.path, 'pipe');
      execFileSync('mkfifo', [path]);
      await expect(writeTextFile(path, 'text', mode)).rejects.toThrow('ENXIO');
    },
  );
});

describe.runIf(process.platform !== 'win32')('readTextFile', () => {
  it('refuses a named pipe that has no writer', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(readTextFile(path)).rejects.toThrow('pipe is not a regular file');
  });
});
