import { splitName } from './names.ts';

/**
 * Values that programs accept under a name. The first row whose pattern matches the words of the name applies. Names, types and texts differ,
 * so that a search shows where it looks.
 */
export interface TypicalValues {
  /** Matches the words of a name, in lower case and singular, joined by spaces. */
  name: RegExp;
  values: readonly unknown[];
}

/** More indentation than a file has. */
export const otherIndent = ' '.repeat(6);

/** How git names the last commit. */
export const lastCommit = 'HEAD';

export const namesOfAddresses = /\b(?:url|uri|link|endpoint|href|website)\b/;

/** An address of the machine that a server runs on. */
export const localUrl = 'http://127.0.0.1/';

export const typicalTexts: readonly TypicalValues[] = [
  { name: /\b(?:time zone|timezone|tz)\b/, values: ['Europe/London', 'America/New_York', 'UTC'] },
  { name: /\b(?:date time|datetime|timestamp|iso date)\b/, values: ['2024-01-15T12:00:00Z', '2024-01-15'] },
  {
    name: /\b(?:date|day|since|until|from date|to date|deadline|due|birthday)\b/,
    values: ['2024-01-15', '2024-01-15T12:00:00Z'],
  },
  { name: /\btime\b/, values: ['12:30', '12:30:00', '2024-01-15T12:30:00Z'] },
  { name: /\b(?:month)\b/, values: ['2024-01', 'January'] },
  { name: /\byear\b/, values: ['2024'] },
  { name: /\bduration\b/, values: ['1s', 'PT1S', '5m'] },
  { name: /\bcron\b|\bschedule\b/, values: ['0 9 * * 1', '*/5 * * * *'] },
  { name: /\bdata uri\b/, values: ['data:text/plain,hello'] },
  {
    name: namesOfAddresses,
    values: ['https://example.com/', 'data:text/plain,hello', localUrl],
  },
  { name: /\b(?:host|hostname|domain)\b/, values: ['example.com', 'localhost'] },
  { name: /\b(?:ip|ip address|ipv4)\b/, values: ['192.0.2.1', '127.0.0.1'] },
  { name: /\bemail\b|\bmail\b/, values: ['user@example.com'] },
  { name: /\b(?:phone|telephone)\b/, values: ['+12025550123'] },
  {
    name: /\b(?:sql|statement)\b/,
    values: [
      'SELECT 1 AS one',
      "SELECT name FROM sqlite_master WHERE type = 'table'",
      'CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)',
    ],
  },
  { name: /\b(?:expression|formula|equation|math)\b/, values: ['2 + 3 * 4', 'x + 1'] },
  { name: /\b(?:json|payload|body)\b/, values: ['{"name": "alpha", "count": 2}', '[1, 2, 3]'] },
  { name: /\b(?:xml|html|markup)\b/, values: ['<p>Hello <b>world</b></p>'] },
  { name: /\b(?:markdown|md)\b/, values: ['# Title\n\nSome *text*.'] },
  { name: /\b(?:csv)\b/, values: ['name,count\nalpha,2\nbeta,3\n'] },
  { name: /\b(?:yaml)\b/, values: ['name: alpha\ncount: 2\n'] },
  { name: /\b(?:regex|regexp)\b/, values: ['[a-z]+', 'a.*'] },
  { name: /\b(?:glob|pattern)\b/, values: ['*', '**/*', '*.txt', '[a-z]+'] },
  { name: /\b(?:color|colour)\b/, values: ['#ff8800', 'red', 'rgb(255, 136, 0)'] },
  { name: /\b(?:locale)\b/, values: ['en-US', 'de-DE'] },
  { name: /\b(?:language|lang)\b/, values: ['en', 'python', 'English'] },
  { name: /\b(?:country)\b/, values: ['US', 'Germany'] },
  { name: /\b(?:city|location|place)\b/, values: ['Berlin', 'New York'] },
  { name: /\b(?:currency)\b/, values: ['USD', 'EUR'] },
  { name: /\bunit\b/, values: ['km', 'cm', 'celsius', 'kg'] },
  { name: /\b(?:symbol|ticker)\b/, values: ['AAPL', 'BTC'] },
  { name: /\b(?:uuid|guid)\b/, values: ['00000000-0000-4000-8000-000000000000'] },
  { name: /\b(?:version|semver)\b/, values: ['1.2.3', '2.0.0'] },
  { name: /\b(?:encoding|charset)\b/, values: ['utf-8', 'base64'] },
  { name: /\b(?:base64)\b/, values: ['aGVsbG8='] },
  {
    name: /\b(?:hash|sha|commit|revision|ref)\b/,
    values: [lastCommit, 'main', '0000000000000000000000000000000000000000'],
  },
  { name: /\b(?:branch)\b/, values: ['topic', 'main', 'master'] },
  { name: /\b(?:level|severity)\b/, values: ['info', 'error', 'warning', 'debug'] },
  { name: /\b(?:status|state)\b/, values: ['open', 'active', 'done', 'pending'] },
  { name: /\b(?:priority)\b/, values: ['high', 'medium', 'low'] },
  { name: /\b(?:operation|operator|op)\b/, values: ['add', 'subtract', '+'] },
  { name: /\b(?:format|output type)\b/, values: ['json', 'text', 'markdown'] },
  { name: /\b(?:sort|order|sort by|direction)\b/, values: ['asc', 'name', 'desc'] },
  { name: /\b(?:method)\b/, values: ['GET', 'POST'] },
  { name: /\b(?:table)\b/, values: ['items', 'users'] },
  { name: /\b(?:cell|range)\b/, values: ['A1', 'A1:B2'] },
  { name: /\b(?:column|field|key)\b/, values: ['name', 'id'] },
  { name: /\b(?:command|cmd|shell)\b/, values: ['echo hello'] },
  { name: /\b(?:code|script|source code)\b/, values: ['print(1 + 1)', '1 + 1'] },
  { name: /\b(?:extension)\b/, values: ['txt', 'md'] },
  { name: /\b(?:mime|content type|media type)\b/, values: ['text/plain', 'application/json'] },
  { name: /\b(?:tag|label|category|topic)\b/, values: ['alpha', 'work'] },
  { name: /\b(?:title|subject)\b/, values: ['Alpha'] },
  { name: /\b(?:query|search|term|keyword|q)\b/, values: ['alpha', 'a'] },
  { name: /\bnew text\b|\breplacement\b/, values: ['beta $& $1', 'beta'] },
  {
    name: /\b(?:message|text|content|body|data|value|input|note|comment|description|observation|thought)\b/,
    values: ['delta epsilon', 'Delta\nEpsilon\n'],
  },
  { name: /\b(?:type|kind)\b/, values: ['gamma', 'alpha'] },
  {
    name: /\b(?:id|identifier|slug|name|entity|node|user|owner|source|target|from|to)\b/,
    values: ['alpha', 'beta', '1'],
  },
];

const namesOfTime = /\b(?:duration|delay|timeout|wait|interval|second|ms|millisecond|minute)\b/;

/** Checks if a parameter with this name says how long a server waits, or works. */
export const namesTime = (name: string): boolean => namesOfTime.test(splitName(name).join(' '));

export const typicalNumbers: readonly TypicalValues[] = [
  // Small numbers first: a server that waits or repeats as it is asked answers soon.
  { name: namesOfTime, values: [1, 0, 0.1] },
  // The first line alone reads like the last one of a short file.
  { name: /\b(?:head|tail|line)\b/, values: [2, 1, 5] },
  {
    name: /\b(?:step|time|count|limit|size|max|min|number|top|n|page size|per page|length|depth)\b/,
    values: [2, 1, 5, 10],
  },
  { name: /\bindex\b/, values: [0, 1, 2] },
  { name: /\b(?:page|offset|start|skip|cursor)\b/, values: [1, 0, 2] },
  { name: /\b(?:id)\b/, values: [1, 2] },
  { name: /\b(?:latitude|lat)\b/, values: [52.5, 0] },
  { name: /\b(?:longitude|lon|lng)\b/, values: [13.4, 0] },
  { name: /\byear\b/, values: [2024] },
  { name: /\bmonth\b/, values: [1, 6] },
  { name: /\bday\b/, values: [15, 1] },
  { name: /\bport\b/, values: [8080, 1] },
  { name: /\b(?:percent|percentage|rate)\b/, values: [50, 10] },
  { name: /\b(?:timestamp|epoch)\b/, values: [1_705_320_000] },
];

/** One value for each format of JSON Schema; RFC 2606 reserves the domain. */
export const typicalFormats: Readonly<Record<string, readonly string[]>> = {
  date: ['2024-01-15'],
  time: ['12:30:00Z'],
  'date-time': ['2024-01-15T12:00:00Z'],
  duration: ['PT1S'],
  email: ['user@example.com'],
  'idn-email': ['user@example.com'],
  hostname: ['example.com'],
  ipv4: ['192.0.2.1'],
  ipv6: ['2001:db8::1'],
  // A data URI needs no network.
  uri: ['data:text/plain,hello', 'https://example.com/'],
  url: ['data:text/plain,hello', 'https://example.com/'],
  'uri-reference': ['/example'],
  uuid: ['00000000-0000-4000-8000-000000000000'],
  regex: ['a+'],
  'json-pointer': ['/name'],
};

/** Names of parameters that take a path of a file or a directory. */
export const pathNames = /\b(?:path|file|filename|filepath|directory|dir|folder|root|repo|cwd|destination|workdir)\b/;
export const directoryNames = /\b(?:directory|dir|folder|root|repo|cwd|workdir)\b/;

/** Ends a pattern of all that is below a directory. */
export const belowDirectory = '/**';

/** Values that no server knows, for requests about missing things. */
export const unknownValues = {
  text: 'no-such-thing',
  number: 987_654_321,
  path: 'no-such-file.txt',
  directory: 'no-such-directory',
} as const;

/** Units of one quantity each, as programs name them. */
export const typicalUnits: ReadonlyArray<readonly string[]> = [
  ['km', 'mi', 'm', 'ft'],
  ['kg', 'lb'],
  ['celsius', 'fahrenheit'],
  ['C', 'F'],
];

/** A text with characters and words that programs take for more than text: quotes, a variable, an end of a sentence, letters of two bytes. */
export const specialText = 'Is it "alpha"? It\'s $& and <é>.';

/** A text with capitals, several lines, signs that codes for the web replace, and letters of two bytes. */
const richText = 'Alpha beta\nGAMMA  ?>?~~~ é 12\n';

/** A document whose members are in no order, within each other. */
const richDocument = '{"b": "é", "a": [1, {"d": 2, "c": null}]}';

const namesOfContents = /\b(?:message|text|content|body|data|value|input|note|comment|document|string)$/;

/** Makes a text richer, so that an option has more to show; null if it is none that may be any. */
export function enrichText(name: string, text: string): string | null {
  if (text.startsWith('{')) return richDocument;
  // A regular expression that says where it applies.
  if (text.startsWith('[a-z]')) return `^${text}`;
  return namesOfContents.test(splitName(name).join(' ')) ? richText : null;
}

/** A text that programs take for an option of the command that they run. */
export const optionText = '--all';

/** Checks if an argument is an option, or a list of one. */
export const isOption = (value: unknown): boolean =>
  value === optionText || (Array.isArray(value) && value.length === 1 && value[0] === optionText);

/** More lines, results and the like than a small workspace has. */
export const largeNumber = 1000;

/** A text of this length, in which a server finds nothing but its length. */
export const writeLength = (length: number): string => 'a'.repeat(length);

/** So many lines are longer than the first part of a file that a server reads, and there may be more. */
export const manyLines = 40;
