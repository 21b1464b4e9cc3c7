import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendHistoryLine, readHistoryText } from '../../src/history/file.ts';
import { createWorkspace } from '../support/workspace.ts';

const wide = { maxRecords: 100, maxBytes: 10_000 };

describe('the history file', () => {
  it('is empty before it exists, is made with its directory, and grows by a line', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'a/b/history.jsonl');
    expect(await readHistoryText(path)).toBe('');
    await appendHistoryLine(path, 'one', wide);
    await appendHistoryLine(path, 'two', wide);
    expect(await readHistoryText(path)).toBe('one\ntwo\n');
  });

  it('separates an unfinished line of a killed job from the next line', async () => {
    await using workspace = await createWorkspace({ 'history.jsonl': 'one\n' });
    const path = join(workspace.path, 'history.jsonl');
    await appendFile(path, 'tw');
    await appendHistoryLine(path, 'three', wide);
    expect(await readHistoryText(path)).toBe('one\ntw\nthree\n');
  });

  it('drops the oldest lines beyond the limit, and leaves no other file', async () => {
    await using workspace = await createWorkspace({ 'history.jsonl': 'one\ntwo\n\nthree\n' });
    const path = join(workspace.path, 'history.jsonl');
    await appendHistoryLine(path, 'four', { ...wide, maxRecords: 3 });
    expect(await readHistoryText(path)).toBe('two\nthree\nfour\n');
    await appendHistoryLine(path, 'five', { ...wide, maxBytes: 11 });
    expect(await readHistoryText(path)).toBe('four\nfive\n');
    await appendHistoryLine(path, 'a line longer than the limit', { ...wide, maxBytes: 11 });
    expect(await readHistoryText(path)).toBe('a line longer than the limit\n');
    expect(await readdir(workspace.path)).toEqual(['history.jsonl']);
  });

  it('loses no line of gates that add to it at the same time', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'history.jsonl');
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    await Promise.all(lines.map((line) => appendHistoryLine(path, line, wide)));
    expect((await readHistoryText(path)).trim().split('\n').toSorted()).toEqual(lines.toSorted());
  });

  it('says why when it is a directory', async () => {
    await using workspace = await createWorkspace();
    await mkdir(join(workspace.path, 'history.jsonl'));
    await expect(appendHistoryLine(join(workspace.path, 'history.jsonl'), 'x')).rejects.toThrow('EISDIR');
  });
});
