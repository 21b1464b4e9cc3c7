/** A piece of TypeScript: enough to separate code from comments and strings, which is all that looking for imports needs. */
export interface Token {
  kind: 'word' | 'string' | 'punctuation';
  /** A string's content without its quotes. */
  text: string;
}

/** Words after which a slash starts a regular expression rather than a division. */
const wordsBeforeRegex = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'delete',
  'await',
  'yield',
]);

/**
 * Splits source into words, strings and punctuation; comments and regular expressions are dropped. Code inside template
 * literals is split too. Good for formatted source that compiles; it does not report errors.
 */
export function tokenize(source: string): Token[] {
  return readTokens(source, 0, []).tokens;
}

/** A part of the source: from `start` up to `end`, exclusive. */
interface Span {
  start: number;
  end: number;
}

/**
 * Lists the parts of the source that are prose: comments, and strings of two words or more. A string of one word is a name or
 * a path. Of a template, the parts around its expressions are listed.
 */
export function findProse(source: string): Span[] {
  const prose: Span[] = [];
  readTokens(source, 0, prose);
  return prose;
}

/** Reads until the end of the source, or to the brace that closes the template expression it was called for. */
function readTokens(source: string, start: number, prose: Span[]): { tokens: Token[]; end: number } {
  const tokens: Token[] = [];
  let depth = 0;
  let at = start;
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const character = rest.charAt(0);
    if (rest === '//' || rest === '/*') {
      const end = rest === '//' ? indexAfter(source, '\n', at) : indexAfter(source, '*/', at + 2);
      prose.push({ start: at, end });
      at = end;
    } else if (/\s/.test(character)) {
      at += 1;
    } else if (character === "'" || character === '"') {
      const end = findClosing(source, character, at + 1);
      if (/\p{L}\S*\s+\S*\p{L}/u.test(source.slice(at + 1, end))) prose.push({ start: at + 1, end });
      tokens.push({ kind: 'string', text: source.slice(at + 1, end) });
      at = end + 1;
    } else if (character === '`') {
      const template = readTemplate(source, at + 1, prose);
      tokens.push({ kind: 'string', text: template.text }, ...template.tokens);
      at = template.end;
    } else if (character === '/' && canStartRegex(tokens.at(-1))) {
      at = findRegexEnd(source, at + 1);
    } else if (/[\w$#]/.test(character)) {
      const word = /^[\w$#]+/.exec(source.slice(at))?.[0] ?? character;
      tokens.push({ kind: 'word', text: word });
      at += word.length;
    } else {
      if (character === '{') depth += 1;
      if (character === '}') depth -= 1;
      if (depth < 0) return { tokens, end: at };
      tokens.push({ kind: 'punctuation', text: character });
      at += 1;
    }
  }
  return { tokens, end: at };
}

function readTemplate(source: string, start: number, prose: Span[]): { text: string; tokens: Token[]; end: number } {
  const tokens: Token[] = [];
  const parts: Span[] = [{ start, end: start }];
  let text = '';
  let at = start;
  while (at < source.length && source[at] !== '`') {
    if (source.startsWith('${', at)) {
      const expression = readTokens(source, at + 2, prose);
      tokens.push(...expression.tokens);
      at = expression.end + 1;
      parts.push({ start: at, end: at });
    } else {
      text += source[at];
      at += source[at] === '\\' ? 2 : 1;
      const part = parts.at(-1);
      if (part !== undefined) part.end = at;
    }
  }
  if (text.includes(' ')) prose.push(...parts);
  return { text, tokens, end: at + 1 };
}

function canStartRegex(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === 'word') return wordsBeforeRegex.has(previous.text);
  return previous.kind === 'punctuation' && !/[)\]}]/.test(previous.text);
}

/** The position after a regular expression and its flags. A slash inside a class does not end it. */
function findRegexEnd(source: string, start: number): number {
  let isInClass = false;
  let at = start;
  while (at < source.length && (isInClass || source[at] !== '/')) {
    if (source[at] === '[') isInClass = true;
    if (source[at] === ']') isInClass = false;
    at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1 + (/^\w*/.exec(source.slice(at + 1))?.[0].length ?? 0);
}

function findClosing(source: string, quote: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== quote) at += source[at] === '\\' ? 2 : 1;
  return at;
}

function indexAfter(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}
