// What an operator does to one line of a server, in any of the languages of the servers.
import type { BugClass } from '../corpus.ts';

export interface Operator {
  name: string;
  class: BugClass;
  /** All that it can make of a line. */
  mutate(line: string): string[];
}

/** Replaces each match of a pattern, one at a time. */
function replaceEach(line: string, pattern: RegExp, replacement: string | ((...groups: string[]) => string)): string[] {
  return [...line.matchAll(pattern)].map((match) => {
    const made =
      typeof replacement === 'string'
        ? replacement.replaceAll(/\$(\d)/g, (_, index: string) => match[Number(index)] ?? '')
        : replacement(...match);
    return line.slice(0, match.index) + made + line.slice(match.index + match[0].length);
  });
}

const define = (
  name: string,
  named: BugClass,
  pattern: RegExp,
  replacement: string | ((...groups: string[]) => string),
): Operator => ({ name, class: named, mutate: (line) => replaceEach(line, pattern, replacement) });

export const operators: readonly Operator[] = [
  define(
    'negate',
    'condition',
    /\bif (not )?(?=[a-z])(.+):$/g,
    (_, not = '', rest = '') => `if ${not === '' ? 'not ' : ''}(${rest}):`,
  ),
  define('negate', 'condition', /\bif \((.+)\) ?\{?$/g, (text = '', rest = '') =>
    text.replace(`(${rest})`, `(!(${rest}))`),
  ),
  define('equality', 'condition', / (===|==) /g, (_, sign = '') => ` !${sign.slice(1)} `),
  define('equality', 'condition', / (!==|!=) /g, (_, sign = '') => ` =${sign.slice(1)} `),
  define('logic', 'condition', / && /g, ' || '),
  define('logic', 'condition', / \|\| /g, ' && '),
  define('logic', 'condition', / or (?=[a-z].*:$)/g, ' and '),
  define('logic', 'condition', / and (?=[a-z].*:$)/g, ' or '),
  define('boundary', 'boundary', / < (?=[\w(])/g, ' <= '),
  define('boundary', 'boundary', / <= (?=[\w(])/g, ' < '),
  define('boundary', 'boundary', / > (?=[\w(])/g, ' >= '),
  define('boundary', 'boundary', / >= (?=[\w(])/g, ' > '),
  define('shift', 'boundary', /(?<=[ ([,])(\d{1,6})(?=[,;)\] :]|$)/g, (_, digits = '') => String(Number(digits) + 1)),
  define('arithmetic', 'boundary', / \+ (?=[\w(])/g, ' - '),
  define('arithmetic', 'boundary', / - (?=[\w(])/g, ' + '),
  define('flip-default', 'default', /(?<=(?:= |default\())(true|false|True|False)\b/g, (_, word = '') => flip(word)),
  define('flip-default', 'default', /(?<=default\()'(\w+)'/g, "'$1s'"),
  define(
    'flip-annotation',
    'annotation',
    /(?<=(?:Hint|_hint|destructive|idempotent)\s?[:=] ?)(true|false|True|False)\b/g,
    (_, word = '') => flip(word),
  ),
  define('drop-await', 'await', /\bawait (?=[\w.]+\()/g, ''),
  define('rename-field', 'field', /(?<=[{ ,(])"?([a-z]\w+)"?(?=: (?![zt]\.)[\w.[{("`])/g, (text = '', name = '') =>
    text.replace(name, `${name}_`),
  ),
  define('drop-field', 'field', /^(\s+)"?\w+"?: (?:\w|\.|\[|\]|\(|\)|")+,?$/g, '$1'),
  define('drop-field', 'field', /, ?\w+(?=,| \})/g, ''),
  define('lose-error', 'error-flag', /\bthrow new Error\(/g, 'console.error('),
  define('lose-error', 'error-flag', /\braise \w+\((.*)\)$/g, 'pass'),
  define('lose-error', 'error-flag', /\breturn \w*Error: /g, 'return '),
  define('reverse-order', 'order', /\.sort\(|sorted\(/g, (text = '') => (text === 'sorted(' ? 'list(' : '.filter(')),
  define('reverse-order', 'order', /\bDESC\b/g, 'ASC'),
  define('reverse-order', 'order', /\ba\.(\w+)(.*)\bb\.\1/g, 'b.$1$2a.$1'),
  define('drop-trim', 'text', /\.(?:trim|trimStart|strip|rstrip|toLowerCase|lower|upper)\(\)/g, ''),
  define('drop-separator', 'text', /join\((["'`])(?:\\n|\\n---\\n)\1\)/g, (text = '', quote = '') =>
    text.replaceAll(/\(.*\)/g, `(${quote} ${quote})`),
  ),
  define('change-case', 'text', /strings\.ToLower\((\w+(?:\.\w+)?)\)/g, '$1'),
  define('cut-description', 'description', /(?<=description: ["'])([^"']+? )([^"' ]+)(?=["'])/g, '$1'),
  define('cut-description', 'description', /(?<=[Dd]escription=f?")([^"]+? )([^" ]+)(?=")/g, '$1'),
  define('drop-constraint', 'schema', /\.(?:min|max)\([^)]*\)|\.int\(\)|\.optional\(\)/g, ''),
  define(
    'drop-call',
    'state',
    /^(\s+)(?:await )?(?:this\.)?(?:save\w*|conn\.commit|graph\.\w+\.push|db\.\w+\.append)\(.*\);?$/g,
    '$1',
  ),
  define('drop-item', 'filter', /\.filter\((?=\w)/g, '.filter((each, index) => index > 0).filter('),
  define('swap-name', 'field', /\b(from|to)\b(?=[,:)])/g, (_, name = '') => (name === 'from' ? 'to' : 'from')),
];

function flip(word: string): string {
  return { true: 'false', false: 'true', True: 'False', False: 'True' }[word] ?? word;
}
