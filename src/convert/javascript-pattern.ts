/** What `\s` matches in JavaScript (ECMA-262, WhiteSpace and LineTerminator), for a class of RE2. */
const space = String.raw`\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;

/** What `.` matches in JavaScript without the flag `s`. */
const anyCharacter = String.raw`[^\n\r\x{2028}\x{2029}]`;

/**
 * Writes a pattern of JavaScript without flags as a pattern of RE2 that matches the same texts, but for characters beyond U+FFFF, of which
 * JavaScript sees two. Null where a part has no counterpart, such as a lookahead or a backreference.
 */
export function translatePattern(source: string): string | null {
  let result = '';
  let isInClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const rest = source.slice(index);
    const [character = ''] = rest;
    if (character === '\\') {
      const written = translateEscape(rest[1] ?? '', isInClass);
      if (written === null) return null;
      result += written;
      index += 1;
    } else if (isInClass) {
      if (character === ']') isInClass = false;
      result += character === '[' ? String.raw`\[` : character;
    } else if (character === '[') {
      // An empty class, which RE2 does not have.
      if (/^\[\^?\]/.test(rest)) return null;
      isInClass = true;
      const opening = rest.startsWith('[^') ? '[^' : '[';
      result += opening;
      index += opening.length - 1;
    } else if (/^\(\?(?!:|<[A-Za-z])/.test(rest)) return null;
    else if (character === '.') result += anyCharacter;
    else if (character === ']' || character === '}') result += `\\${character}`;
    else if (character === '{') {
      const [count] = /^\{\d+(?:,\d*)?\}/.exec(rest) ?? [];
      result += count ?? String.raw`\{`;
      if (count !== undefined) index += count.length - 1;
    } else if (/[\ud800-\udfff]/.test(character)) return null;
    else result += character;
  }
  return isInClass ? null : result;
}

function translateEscape(escaped: string, isInClass: boolean): string | null {
  if (escaped === 's') return isInClass ? space : `[${space}]`;
  if (escaped === 'S') return isInClass ? null : `[^${space}]`;
  if (/[bB]/.test(escaped)) return isInClass ? null : `\\${escaped}`;
  if (/[dDwWnrtfv]/.test(escaped)) return `\\${escaped}`;
  return /[!-/:-@[-`{-~]/.test(escaped) ? `\\${escaped}` : null;
}
