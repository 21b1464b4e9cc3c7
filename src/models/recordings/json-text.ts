/**
 * Replaces the values at the pointers in a text that is JSON, and keeps every other character: parsing and printing would lose digits of
 * long numbers, and all but the last of equal keys.
 *
 * @param text valid input of `JSON.parse`
 * @param pointers segments of JSON Pointers; `*` matches any segment
 */
export function replaceInJsonText(text: string, pointers: readonly (readonly string[])[], replacement: string): string {
  let clean = '';
  let end = 0;
  // The open containers, each with the key or the index of its next value.
  const open: Array<{ isArray: boolean; key: string }> = [];
  const isPointedTo = () =>
    pointers.some(
      (segments) =>
        segments.length === open.length &&
        segments.every((segment, depth) => segment === '*' || segment === open[depth]?.key),
    );
  let expectsKey = false;
  for (let index = 0; index < text.length;) {
    const character = text.charAt(index);
    const innermost = open.at(-1);
    if (character === '}' || character === ']') {
      open.pop();
      expectsKey = false;
      index += 1;
    } else if (character === ',') {
      if (innermost?.isArray === true) innermost.key = String(Number(innermost.key) + 1);
      else expectsKey = true;
      index += 1;
    } else if (character === ':' || isSpace(character)) {
      index += 1;
    } else if (expectsKey && innermost !== undefined) {
      const keyEnd = findStringEnd(text, index);
      innermost.key = String(JSON.parse(text.slice(index, keyEnd)));
      expectsKey = false;
      index = keyEnd;
    } else if (isPointedTo()) {
      clean += text.slice(end, index) + replacement;
      index = findValueEnd(text, index);
      end = index;
    } else if (character === '{' || character === '[') {
      open.push({ isArray: character === '[', key: '0' });
      expectsKey = character === '{';
      index += 1;
    } else {
      index = findValueEnd(text, index);
    }
  }
  return clean + text.slice(end);
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}

/** Returns the index after the string that starts here. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

/** Returns the index after the value that starts here. */
function findValueEnd(text: string, start: number): number {
  if (text[start] === '"') return findStringEnd(text, start);
  let depth = 0;
  let index = start;
  while (index < text.length) {
    const character = text.charAt(index);
    if (character === '"') {
      index = findStringEnd(text, index);
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    // A number or a word ends before the bracket that closes its container; a container ends after its own closing bracket.
    if (depth < 0 || (depth === 0 && (character === ',' || isSpace(character)))) return index;
    index += 1;
    if (depth === 0 && (character === '}' || character === ']')) return index;
  }
  return index;
}
