import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipReason, clipReasonBefore, printValue } from '../../src/checks/reasons.ts';

describe('printValue', () => {
  it.each([
    ['text', '"text"'],
    [12, '12'],
    [null, 'null'],
    [undefined, 'nothing'],
    [{ a: [true] }, '{"a":[true]}'],
  ])('prints %j as %s', (value, printed) => {
    expect(printValue(value)).toBe(printed);
  });

  it('masks members whose names tell of a secret, at every level that is printed', () => {
    const value = { user: 'ann', Password: 'x', nested: [{ api_key: 'x', 'private key': 'x', cookies: ['x'] }] };
    expect(printValue(value)).toBe(
      '{"user":"ann","Password":"***","nested":[{"api_key":"***","private key":"***","cookies":"***"}]}',
    );
  });

  it('prints nothing below the sixth level, where nothing would be masked', () => {
    const value = { a: { b: { c: { d: { e: { f: { password: 'x' } } } } } } };
    expect(printValue(value)).toBe('{"a":{"b":{"c":{"d":{"e":{"f":"…"}}}}}}');
  });

  it('cuts a long text inside its quotes', () => {
    expect(printValue('x'.repeat(300))).toBe(`"${'x'.repeat(197)}…"`);
    // Escapes make a text longer than it is.
    for (const text of [`${'x'.repeat(180)}${'\n'.repeat(90)}`, '"'.repeat(300), '\u0001'.repeat(300)]) {
      const printed = printValue(text);
      expect(printed.length).toBeLessThanOrEqual(200);
      expect(JSON.parse(printed)).toMatch(/…$/);
    }
  });

  it('never prints more than 200 characters, whatever the value', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 8 }).filter(isPrintable), (value) => {
        expect(printValue(value).length).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('clipReason', () => {
  it('leaves 600 characters alone and cuts 601', () => {
    expect(clipReason('x'.repeat(600))).toBe('x'.repeat(600));
    expect(clipReason('x'.repeat(601))).toBe(`${'x'.repeat(599)}…`);
  });

  it('does not leave half a character behind', () => {
    expect(clipReason(`${'x'.repeat(598)}😀!`).isWellFormed()).toBe(true);
  });
});

describe('clipReasonBefore', () => {
  it('keeps what to do about it, however long the reason is', () => {
    expect(clipReasonBefore('Record it again.', 'It is stale.')).toBe('It is stale. Record it again.');
    expect(clipReasonBefore('Record it again.', 'It is stale.\nThis.\nThat.')).toBe(
      'It is stale. Record it again.\nThis.\nThat.',
    );
    const cut = clipReasonBefore('Record it again.', 'x'.repeat(2000));
    expect([cut.length, cut.endsWith('x… Record it again.')]).toEqual([600, true]);
  });
});

function isPrintable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
