import { describe, expect, it } from 'vitest';
import { findUnprinted, listDocumentedSteps } from '../support/text/documented-commands.ts';

describe('listDocumentedSteps', () => {
  it('lists files and commands in their order, and no other block', () => {
    const page = [
      '`a/b.yaml`:\n\n```yaml\na: 1\n```',
      '```console\n$ first --flag\nprinted\n\nmore\n$ second\n```',
      'Such as `c.yaml`:\n\n```yaml\nb: 2\n```',
    ].join('\n\ntext\n\n');
    expect(listDocumentedSteps(page)).toEqual([
      { kind: 'file', path: 'a/b.yaml', text: 'a: 1\n' },
      { kind: 'command', command: 'first --flag', output: 'printed\n\nmore' },
      { kind: 'command', command: 'second', output: '' },
    ]);
  });
});

describe('findUnprinted', () => {
  const printed = 'Starting …\n✓ Passed\n\nNotes  462 ms\nWrote 1 file\n';

  it.each([
    'Starting …\n✓ Passed\n\nNotes  1.5 s\nWrote 1 file',
    '…\n✓ Passed\n…\nWrote 1 file',
    'Starting …\n…',
    '…\n✓ Passed\n\nNotes  462 ms\n…',
    '…',
  ])('finds nothing in %j', (documented) => {
    expect(findUnprinted(documented, printed)).toBeNull();
  });

  it.each([
    ['✓ Passed\n…', '✓ Passed'],
    ['…\n✓ Passed', '✓ Passed'],
    ['…\n✓ Passed\nNotes  462 ms\n…', '✓ Passed\nNotes  1 s'],
    ['…\nWrote 1 file\n…\n✓ Passed\n…', '✓ Passed'],
    ['…\nWrote 2 files\n…', 'Wrote 2 files'],
  ])('finds the part of %j that was not printed', (documented, missing) => {
    expect(findUnprinted(documented, printed)).toBe(missing);
  });

  it('expects nothing of a command without documented output', () => {
    expect(findUnprinted('', '')).toBeNull();
  });
});
