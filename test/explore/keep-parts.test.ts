import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepsNone, type KeepsPart, maskForms } from '../../src/explore/stability/forms.ts';
import { createPartKeeper, keepDigests, keepTimesOfDay } from '../../src/explore/stability/keep-parts.ts';
import { emptyWorkspace, readWorkspace, type Workspace } from '../../src/workspace/workspace.ts';
import { createWorkspace } from '../support/workspace.ts';

const nowMs = Date.parse('2026-11-27T12:00:00Z');
const keepFor = async (workspace: Workspace) => await createPartKeeper(workspace, nowMs);
const mask = (text: string, keeps: KeepsPart) => maskForms(`at ${text}`, keeps);

describe('createPartKeeper', () => {
  it.each([
    '1704067200',
    '1704067200000',
    '1704067200.25',
    '2023-12-31',
    '2023-12-31 19:00:00',
    '2023-12-31T19:00:00.123Z',
    '2031-01-01',
    '12/31/2023',
    '26 Nov 2021',
    'Sunday, December 31, 2023',
    'Sun Dec 31 2023 19:00:00 GMT+0000 (UTC)',
  ])('keeps %s, which is not the present time', async (text) => {
    expect(mask(text, await keepFor(emptyWorkspace))).toBe(`at ${text}`);
  });

  it.each([
    '1796000000',
    '1796000000123',
    '2026-11-27',
    '2026-11-27T19:00:00Z',
    '2027-11-27',
    '27 Nov 2026',
    'November 27, 2026',
    'Friday',
    'yesterday',
    '19:00:00',
    '4:32 PM',
    '2023-W48',
    'localhost:2023',
    'pid: 2020',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    '71559147c5e8d6ab',
    'v1.2.3',
  ])('does not keep %s', async (text) => {
    expect(mask(text, await keepFor(emptyWorkspace))).toBe('at {{any}}');
  });

  it('keeps ids that files have or that name an object of a repository, and no time of a file', async () => {
    await using files = await createWorkspace({
      'repo/.git/objects/ab/0123456789012345678901234567890123456a': 'compressed',
      'orders.json': '{"id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "at": "2019-02-03"}',
    });
    const old = new Date('2020-05-06T07:08:09Z');
    await utimes(join(files.path, 'orders.json'), old, old);
    const keeps = await keepFor(await readWorkspace(files.path, '/'));
    const kept = 'ab0123456789012345678901234567890123456a 3f2504e0-4f89-41d3-9a0c-0305e82c3301 2019-02-03 2020-05-08';
    expect(mask(kept, keeps)).toBe(`at ${kept}`);
    const others = 'ac0123456789012345678901234567890123456a 3f2504e0-4f89-41d3-9a0c-0305e82c3302 2020-05-06T07:08:09Z';
    expect(mask(others, keeps)).toBe('at {{any}} {{any}} {{any}}');
  });
});

describe('keepTimesOfDay', () => {
  it.each(['19:00:00', '7:00:00 PM'])('keeps %s', async (text) => {
    expect(mask(text, keepTimesOfDay(await keepFor(emptyWorkspace)))).toBe(`at ${text}`);
    expect(mask('4:32 PM', keepTimesOfDay(await keepFor(emptyWorkspace)))).toBe('at {{any}}');
  });
});

describe('keepDigests', () => {
  it('keeps the digest of a text that was sent, and no other one', () => {
    const keeps = keepDigests(keepsNone, [{ kind: 'tool', tool: 'hash', arguments: { text: 'delta epsilon' } }]);
    const own = 'fdf470ff174c39757f432928accd9826b5551e96810f9373af75bc052bcb810e';
    expect(mask(own, keeps)).toBe(`at ${own}`);
    expect(mask(own.toUpperCase(), keeps)).toBe(`at ${own.toUpperCase()}`);
    expect(mask(own.replace('f', 'e'), keeps)).toBe('at {{any}}');
  });
});
