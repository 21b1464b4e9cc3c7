import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isCopyable, quoteShellWord } from '../../src/base/shell.ts';

const words = [
  'plain-word_1.yaml',
  'two words',
  "it's",
  '"quoted"',
  '$HOME `id` $(id)',
  String.raw`back\slash\n`,
  'a!b !!',
  '* ? [a-z] {a,b} ~',
  '; rm -rf / & | > <',
  '#comment',
  '',
  'Zürich ✓',
  "'; id; '",
];

describe('quoteShellWord', () => {
  it('quotes so that a shell passes every word on unchanged', () => {
    const script = `printf '%s\\n' ${words.map(quoteShellWord).join(' ')}`;
    expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\n').slice(0, -1)).toEqual(words);
  });

  it('uses the quotes that read best', () => {
    const quoted = ['evals/a.yaml', 'Adds two numbers', 'costs $5'].map(quoteShellWord);
    expect(quoted).toEqual(['evals/a.yaml', '"Adds two numbers"', "'costs $5'"]);
  });
});

describe('isCopyable', () => {
  it('refuses text that a copy would not show or keep on one line', () => {
    expect(words.every(isCopyable)).toBe(true);
    const refused = ['a\nb', 'a\u001B[31m', 'a\u202Eb', 'a\u200Bb', 'a\u2028b', '\uD800'];
    expect(refused.filter(isCopyable)).toEqual([]);
  });
});
