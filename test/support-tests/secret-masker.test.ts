import { describe, expect, it } from 'vitest';
import { findLeaks } from '../support/runner/leaks.ts';
import { createSecretMasker } from '../support/runner/secret-masker.ts';

describe('createSecretMasker', () => {
  it.each([
    ['plain', 'a-secret/value="1"'],
    ['base64', Buffer.from('a-secret/value="1"').toString('base64')],
    ['JSON', JSON.stringify('a-secret/value="1"')],
    ['URI', encodeURIComponent('a-secret/value="1"')],
    ['XML', 'a-secret/value=&quot;1&quot;'],
  ])('masks a value in its %s form', (_, form) => {
    expect(createSecretMasker(['a-secret/value="1"']).mask(`x ${form} y`)).toMatch(/^x "?\*\*\*"? y$/);
  });

  it('masks every line of a value that has several', () => {
    const masker = createSecretMasker();
    masker.add('first-line\r\n second-line \n');
    expect(masker.mask('first-line, second-line')).toBe('***, ***');
  });

  it('turns overlapping and touching secrets into one mask', () => {
    expect(createSecretMasker(['abcdef', 'defghi', 'jkl']).mask('-abcdefghijkl-abc')).toBe('-***-abc');
  });

  it('leaves text without secrets as it is, and takes no blank secret', () => {
    expect(createSecretMasker(['', ' ']).mask('a b')).toBe('a b');
  });
});

describe('findLeaks', () => {
  it('names the place and the form, and never the secret', () => {
    const encoded = Buffer.from('top-secret').toString('base64');
    expect(findLeaks(['other', 'top-secret'], { log: `x${encoded}`, summary: null, outputs: 'clean' })).toEqual([
      { place: 'log', secretIndex: 1, formIndex: 1 },
    ]);
  });
});
