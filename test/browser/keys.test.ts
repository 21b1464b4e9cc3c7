import { describe, expect, it } from 'vitest';
import { listTextEvents, parseKey } from '../../src/browser/keys.ts';

describe('parseKey', () => {
  it.each([
    ['Enter', { type: 'keyDown', key: 'Enter', text: '\r', windowsVirtualKeyCode: 13, modifiers: 0 }],
    ['a', { type: 'keyDown', key: 'a', text: 'a', windowsVirtualKeyCode: 65, modifiers: 0 }],
    ['é', { type: 'keyDown', key: 'é', text: 'é', modifiers: 0 }],
    ['Control+a', { type: 'rawKeyDown', key: 'a', windowsVirtualKeyCode: 65, modifiers: 2 }],
    ['Control+Shift+ArrowLeft', { type: 'rawKeyDown', key: 'ArrowLeft', windowsVirtualKeyCode: 37, modifiers: 10 }],
    ['+', { type: 'keyDown', key: '+', text: '+', modifiers: 0 }],
    ['Control++', { type: 'rawKeyDown', key: '+', modifiers: 2 }],
    ['Space', { type: 'keyDown', key: ' ', text: ' ', windowsVirtualKeyCode: 32, modifiers: 0 }],
  ])('reads %j', (text, down) => {
    expect(parseKey(text)).toEqual([down, expect.objectContaining({ type: 'keyUp', key: down.key })]);
  });

  it.each(['', 'Entr', 'Hyper+a', 'Control+', 'ab'])('knows no key %j', (text) => {
    expect(parseKey(text)).toBeNull();
  });
});

describe('listTextEvents', () => {
  it('presses a key for each character, and Enter for a line break', () => {
    const pressed = listTextEvents('a\r\n😀').flatMap(({ type, text }) => (type === 'keyDown' ? [text] : []));
    expect(pressed).toEqual(['a', '\r', '😀']);
  });
});
