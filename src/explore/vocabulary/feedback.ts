import { escapeExpression } from '../../base/text.ts';
import { isRecord, type JsonObject, listTexts } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { findDescribedValues, readAs } from './described-values.ts';
import { splitName } from './names.ts';
import { typicalFormats } from './typical-values.ts';

/** A wish of a refusal's message about a value. */
interface Request {
  /** Matches the message. */
  pattern: RegExp;
  /** Lists values in the way that the message asks for, made from the refused one. */
  suggest: (match: RegExpExecArray, refused: unknown) => unknown[];
}

const format = (name: string) => () => [...(typicalFormats[name] ?? [])];

/** Wishes about the form of a path. What one tool of a server asks for, the others ask for, too. */
const pathRequests: readonly Request[] = [
  {
    pattern: /\b(?:must be|needs? (?:to be )?|not|expected|requires?) (?:an? )?absolute\b|\bis not absolute\b/i,
    suggest: (_, refused) =>
      typeof refused === 'string' && !refused.startsWith('{{workspace}}')
        ? [refused === '.' ? '{{workspace}}' : `{{workspace}}/${refused}`]
        : [],
  },
  {
    pattern: /\b(?:files?|ends? (?:in|with)|endings?|extensions?|formats?)\b.*?(?<![\w./])\*?\.[a-z]\w{0,4}\b/is,
    suggest: ({ input }, refused) => suggestEndings(input, refused),
  },
];

const requests: readonly Request[] = [
  ...pathRequests,
  {
    pattern: /\b(?:at least|minimum(?: of)?|more than|no less than|>=?) (\d+)(?: ?(characters?|items?|elements?))?/i,
    suggest: ([, count, unit], refused) => {
      const least = Number(count);
      if (typeof refused === 'string' && unit?.startsWith('char') !== false && least <= 1000) {
        return [
          (refused || 'alpha')
            .repeat(Math.ceil(least / Math.max(1, refused.length)))
            .slice(0, Math.max(least, refused.length)),
        ];
      }
      return typeof refused === 'number' ? [least, least + 1] : [];
    },
  },
  {
    pattern: /\b(?:at most|maximum(?: of)?|less than|no more than|<=?) (\d+)(?: ?(?:characters?|items?))?/i,
    suggest: ([, count], refused) =>
      typeof refused === 'string'
        ? [refused.slice(0, Number(count))]
        : typeof refused === 'number'
          ? [Number(count), Number(count) - 1]
          : [],
  },
  {
    pattern: /\b(?:must|should|has to) (?:start|begin) with ["'`]?([^\s"'`]+)/i,
    suggest: ([, start], refused) => [`${start}${typeof refused === 'string' ? refused : 'alpha'}`],
  },
  { pattern: /\bYYYY-MM-DDTHH:MM|ISO.?8601 (?:date-?time|timestamp)|date-time\b/i, suggest: format('date-time') },
  { pattern: /\bYYYY-MM-DD\b|\binvalid (?:iso )?date\b|\bISO.?(?:8601)? date\b/i, suggest: () => ['2024-01-15'] },
  { pattern: /\bHH:MM(:SS)?\b|\binvalid time\b/i, suggest: () => ['12:30', '12:30:00'] },
  {
    pattern: /\binvalid (?:url|uri)\b|\b(?:valid|absolute) (?:url|uri)\b/i,
    suggest: () => ['https://example.com/', 'data:text/plain,hello'],
  },
  {
    pattern:
      /\b(?:must|should|needs? to|has to) be (?:an? )?(?:\w+ ){0,3}(?:integer|number)\b|\binvalid literal for int\b/i,
    suggest: (_, refused) => (typeof refused === 'string' && !/^\d+$/.test(refused) ? ['1', '2'] : []),
  },
  { pattern: /\b(?:invalid|valid) uuid\b|badly formed hexadecimal UUID/i, suggest: format('uuid') },
  { pattern: /\b(?:invalid|valid) e-?mail\b/i, suggest: format('email') },
  {
    pattern: /\b(?:invalid|valid|parse) json\b|\bJSON at position\b|not valid JSON/i,
    suggest: () => ['{"name": "alpha", "count": 2}', '{"name": "alpha"}', '[1, 2]'],
  },
  { pattern: /\b(?:invalid|valid|not|decode) base.?64\b/i, suggest: () => ['aGVsbG8='] },
  {
    pattern: /\b(?:invalid|valid|bad|malformed) (?:reg(?:ular )?ex\w*|pattern)\b|\bnothing to repeat\b/i,
    suggest: format('regex'),
  },
  {
    pattern: /\bnot an? (?:valid |existing )?(?:directory|folder)\b|\bENOTDIR\b/i,
    suggest: (_, refused) => listAbove(refused),
  },
  {
    pattern: /\balready exists?\b/i,
    suggest: (_, refused) => (typeof refused === 'string' ? [`${refused}-2`] : []),
  },
  {
    pattern:
      /\b(?:ref|revision|commit|branch|pathspec)\b.*\b(?:not|unknown|invalid|bad)\b|\bnot a valid (?:object|ref|commit|branch)\b|\bmalformed object name\b|\b(?:bad|unknown) revision\b/i,
    suggest: () => ['HEAD', 'main', 'master'],
  },
  { pattern: /\b(?:invalid|valid|unknown) time ?zone\b/i, suggest: () => ['Europe/London', 'UTC'] },
  {
    pattern: /\b(?:only |must (?:be|start with) )?SELECT (?:queries|statements)\b/i,
    suggest: () => ['SELECT 1 AS one'],
  },
  {
    pattern: /\bCREATE TABLE (?:statements|queries)\b/i,
    suggest: () => ['CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)'],
  },
];

/** Lists the directories above a path, the nearest first. */
function listAbove(path: unknown): string[] {
  if (typeof path !== 'string') return [];
  const parts = path.split('/');
  const above = parts.slice(1).map((_, index) => parts.slice(0, -1 - index).join('/'));
  return path.startsWith('{{workspace}}') ? above : [...above, '.'];
}

/** Endings of files that most programs write, before others of the same kind. */
const commonEndings = new Set([
  '.txt',
  '.md',
  '.json',
  '.csv',
  '.xlsx',
  '.docx',
  '.pptx',
  '.pdf',
  '.png',
  '.html',
  '.xml',
  '.yaml',
]);

/** Gives a refused path each ending that a message names, unless it has one of them. */
function suggestEndings(message: string, refused: unknown): string[] {
  const [own] = typeof refused === 'string' ? (/(?<=[\w-])\.\w{1,5}$/.exec(refused) ?? []) : [];
  const named = new Set(message.match(/(?<![\w./])\.[a-z]\w{0,4}\b/gi));
  if (typeof refused !== 'string' || own === undefined || named.has(own)) return [];
  const isCommon = (ending: string) => Number(commonEndings.has(ending));
  return [...named]
    .toSorted((a, b) => isCommon(b) - isCommon(a))
    .slice(0, 2)
    .map((ending) => `${refused.slice(0, -own.length)}${ending}`);
}

const listAsked = (wishes: readonly Request[], message: string, refused: unknown) =>
  wishes.flatMap(({ pattern, suggest }) => {
    const match = pattern.exec(message);
    return match === null ? [] : suggest(match, refused);
  });

/** Gives a path the form that a refusal of another one asks for; the path itself where it has the form. */
export function takeForm(path: unknown, message: string): unknown {
  return typeof path === 'string' && /[./]/.test(path) ? (listAsked(pathRequests, message, path)[0] ?? path) : path;
}

/** Names the arguments that a refusal quotes, and whose form it asks for. */
export function findAskedForms(args: JsonObject, message: string): string[] {
  return Object.keys(args).filter(
    (name) => isQuoted(args[name], message) && takeForm(args[name], message) !== args[name],
  );
}

/** Lists the values that a message names as allowed: "expected one of a, b" and texts in quotes. */
function listNamed(message: string, refused: unknown): string[] {
  const [, list = ''] =
    /\b(?:(?:expected |must be )?one of|allowed values?|valid (?:values|options|types)(?: are)?|available(?: \w+)?|supported(?: \w+)?|options|choose from|did you mean|expected)\b[:\s]*(?:are\b|is\b)?[:\s]*([^\n]{1,300})/i.exec(
      message,
    ) ?? [];
  const words = list
    .split(/,|\||\bor\b|\band\b/)
    .map((part) => part.trim().replaceAll(/^[\s'"`[({]+|[\s'"`\])}.?!]+$/g, ''));
  const named = [...words.filter((word) => /^[\w@#.:/+-]{1,60}$/.test(word)), ...findDescribedValues(message)];
  return [...new Set(named)].filter(
    (text) => text !== refused && !/^(?:string|number|boolean|object|array|undefined|null)$/.test(text),
  );
}

/** Proposes changed arguments after a refusal, the most promising first, from its message. */
export function proposeChanges(
  tool: Pick<ListedTool, 'parameters'>,
  args: JsonObject,
  {
    message,
    isOffline = false,
    listOthers,
  }: {
    message: string;
    /** True if the call failed because there is no network: a data URI needs none. */
    isOffline?: boolean;
    /** Lists values of a parameter from the vocabulary. */
    listOthers: (parameter: Parameter) => readonly unknown[];
  },
): JsonObject[] {
  const { parameters } = tool;
  const mentioned = parameters.filter((parameter) => isMentioned(parameter.name, message));
  const changes: JsonObject[] = [];
  for (const parameter of isOffline ? parameters : []) {
    const offline = listOthers(parameter).find((value) => typeof value === 'string' && value.startsWith('data:'));
    if (offline !== undefined) changes.push({ ...args, [parameter.name]: offline });
  }
  const [, flag] = demandedFlag.exec(message) ?? [];
  for (const { name } of flag === undefined ? [] : mentioned.filter(({ schema }) => readType(schema) === 'boolean')) {
    changes.push({ ...args, [name]: flag === 'true' });
  }
  for (const parameter of mentioned) {
    // The message may say that an optional one is missing, or that it does not go with another.
    if (!Object.hasOwn(args, parameter.name)) {
      for (const value of listOthers(parameter).slice(0, 2)) changes.push({ ...args, [parameter.name]: value });
    } else if (
      !parameter.isRequired &&
      /\b(?:both|cannot|together|unrecognized|unexpected|not allowed|exclusive)\b/i.test(message)
    ) {
      const { [parameter.name]: _, ...others } = args;
      changes.push(others);
    }
  }
  const sent = parameters.filter(({ name }) => Object.hasOwn(args, name));
  for (const parameter of sent) {
    for (const value of addMembers(args[parameter.name], listOthers(parameter), message)) {
      changes.push({ ...args, [parameter.name]: value });
    }
  }
  const suspects = [
    ...sent.filter(({ name }) => isMentioned(name, message)),
    ...sent.filter(({ name }) => isQuoted(args[name], message)),
    ...sent,
  ];
  const ordered = [...new Set(suspects)];
  for (const parameter of missesFile.test(message) ? ordered : []) {
    for (const value of listBelow(listOthers(parameter), parameter, args)) {
      changes.push({ ...args, [parameter.name]: value });
    }
  }
  for (const parameter of ordered) {
    const refused = args[parameter.name];
    const asked = listAsked(requests, message, refused);
    const named = listNamed(message, refused).map((text) => readAs(readType(parameter.schema), text));
    for (const value of [...asked, ...named]) {
      if (value !== undefined && typeof value === typeof refused) changes.push({ ...args, [parameter.name]: value });
    }
  }
  for (const parameter of ordered) {
    const refused = JSON.stringify(args[parameter.name]);
    for (const value of listOthers(parameter).filter((other) => other !== null || parameter.isRequired)) {
      if (JSON.stringify(value) !== refused) changes.push({ ...args, [parameter.name]: value });
    }
  }
  const seen = new Set([JSON.stringify(args)]);
  return changes.filter((change) => {
    const key = JSON.stringify(change);
    return !seen.has(key) && seen.add(key);
  });
}

/** A wish for a flag, such as "force must be set to true". */
const demandedFlag = /\b(?:must|should|needs? to|has to) be (?:set to |set |equal to |= ?)?["'`]?(true|false)\b/i;

const missesFile = /\b(?:did not match|no such (?:file|path)|(?:does|do) not exist|not found|cannot find|outside)\b/i;

/** Lists paths as a call takes them that names their directory in another argument: `docs/a.md` in `docs` is `a.md`. */
function listBelow(values: readonly unknown[], { name }: Parameter, args: JsonObject): unknown[] {
  const directories = Object.entries(args).flatMap(([other, value]) =>
    other !== name && typeof value === 'string' ? [value.replace(/^\{\{workspace\}\}\//, ''), value] : [],
  );
  const shorten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.length === 1 ? [shorten(value[0])] : value;
    const directory = directories.find((each) => typeof value === 'string' && value.startsWith(`${each}/`));
    return typeof value === 'string' && directory !== undefined ? value.slice(directory.length + 1) : value;
  };
  const isOther = (value: unknown, index: number) => JSON.stringify(value) !== JSON.stringify(values[index]);
  return values.map(shorten).filter(isOther);
}

/** Adds members that the message mentions to an object, or to the first object of a list, with the values of other objects. */
function addMembers(value: unknown, others: readonly unknown[], message: string): unknown[] {
  const target = Array.isArray(value) ? (value as unknown[])[0] : value;
  if (!isRecord(target)) return [];
  const members = new Map(others.flat().flatMap((other) => (isRecord(other) ? Object.entries(other) : [])));
  const wanted = [...members].filter(([name]) => !Object.hasOwn(target, name) && isMentioned(name, message));
  return wanted
    .toSorted(([a], [b]) => message.indexOf(a) - message.indexOf(b))
    .map(([name, member]) => {
      const filled = { ...target, [name]: member };
      return Array.isArray(value) ? [filled, ...(value as unknown[]).slice(1)] : filled;
    });
}

function isMentioned(name: string, message: string): boolean {
  const escaped = escapeExpression(name);
  const words = splitName(name).join('[ _-]?');
  return (
    new RegExp(String.raw`\b${escaped}\b`, 'i').test(message) || new RegExp(String.raw`\b${words}\b`, 'i').test(message)
  );
}

/** Checks if a message quotes a text of the value. */
function isQuoted(value: unknown, message: string): boolean {
  return [...listTexts(value)].some(({ text }) => text.length > 1 && message.includes(text));
}
