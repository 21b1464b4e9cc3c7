import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readInput, readTextFile } from '../../src/base/files.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('readInput', () => {
  it('reads as many bytes as the limit, and not one more', async () => {
    await using workspace = await createWorkspace({ 'a.txt': '12345' });
    const path = join(workspace.path, 'a.txt');
    expect((await readInput(path, { maxBytes: 5 })).toString()).toBe('12345');
    await expect(readInput(path, { maxBytes: 4 })).rejects.toThrow('has more than 4 bytes');
  });

  it('stops reading a file that grows while it is read', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'a.txt');
    writeFileSync(path, 'x'.repeat(1000));
    let isOver = false;
    const grow = () => {
      appendFileSync(path, 'x'.repeat(100_000));
      if (!isOver) setImmediate(grow);
    };
    grow();
    await expect(readInput(path, { maxBytes: 4 * 1024 * 1024 })).rejects.toThrow('has more than 4194304 bytes');
    isOver = true;
  });

  it('gives up once its time is over', async () => {
    await using workspace = await createWorkspace({ 'a.txt': '12345' });
    const path = join(workspace.path, 'a.txt');
    const clock = { now: () => 0, monotonicMs: () => 0, sleep: async () => {} };
    await expect(readInput(path, { clock })).rejects.toThrow('could not be read within 1 min');
  });

  it('says that a directory is one', async () => {
    await using workspace = await createWorkspace();
    await expect(readInput(workspace.path)).rejects.toThrow('EISDIR');
  });
});

describe.runIf(process.platform !== 'win32')('readTextFile', () => {
  it('refuses a named pipe that has no writer', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(readTextFile(path)).rejects.toThrow('pipe is not a regular file');
  });
});
