/** A parameter of `Input.dispatchKeyEvent`. */
export interface KeyEvent {
  type: 'keyDown' | 'rawKeyDown' | 'keyUp';
  key: string;
  code?: string;
  text?: string;
  modifiers: number;
  windowsVirtualKeyCode?: number;
}

/** Keys that write no character, with their Windows key codes, by which the browser knows their function. */
const namedKeys: { readonly [Name in string]?: { code: number; text?: string; key?: string } } = {
  Enter: { code: 13, text: '\r' },
  Tab: { code: 9 },
  Escape: { code: 27 },
  Backspace: { code: 8 },
  Delete: { code: 46 },
  Insert: { code: 45 },
  Home: { code: 36 },
  End: { code: 35 },
  PageUp: { code: 33 },
  PageDown: { code: 34 },
  ArrowLeft: { code: 37 },
  ArrowUp: { code: 38 },
  ArrowRight: { code: 39 },
  ArrowDown: { code: 40 },
  Space: { code: 32, text: ' ', key: ' ' },
};

/** The bits of `modifiers`. */
const modifierBits: { readonly [Name in string]?: number } = { Alt: 1, Control: 2, Ctrl: 2, Meta: 4, Shift: 8 };

/**
 * Lists the events of a key press: a name from `KeyboardEvent.key`, such as `Enter`, or one character, each with optional modifiers, such
 * as `Control+a`. Null if there is no such key.
 */
export function parseKey(text: string): KeyEvent[] | null {
  const parts = text === '+' ? ['+'] : text.split(/(?<=[^+])\+/);
  const name = parts.pop() ?? '';
  let modifiers = 0;
  for (const part of parts) {
    const bit = modifierBits[part];
    if (bit === undefined) return null;
    modifiers |= bit;
  }
  return describeKey(name, modifiers);
}

/** Lists the events of typing a text, character by character. */
export function listTextEvents(text: string): KeyEvent[] {
  return Array.from(text.replaceAll('\r\n', '\n')).flatMap(
    (character) => describeKey(character === '\n' ? 'Enter' : character, 0) ?? [],
  );
}

function describeKey(name: string, modifiers: number): KeyEvent[] | null {
  const named = namedKeys[name];
  const isCharacter = Array.from(name).length === 1;
  if (named === undefined && !isCharacter) return null;
  const key = named?.key ?? name;
  const upper = name.toUpperCase();
  const isPlain = /^[A-Z0-9]$/.test(upper);
  const code = named?.code ?? (isPlain ? upper.codePointAt(0) : undefined);
  // With Control, Alt or Meta a character is a command and writes nothing.
  const text = (modifiers & ~8) === 0 ? (named?.text ?? (isCharacter ? name : undefined)) : undefined;
  const base = { key, modifiers, ...(code !== undefined && { windowsVirtualKeyCode: code }) };
  return [
    { type: text === undefined ? 'rawKeyDown' : 'keyDown', ...base, ...(text !== undefined && { text }) },
    { type: 'keyUp', ...base },
  ];
}
