/**
 * A port of the rules by which GitHub's runner finds commands in a line of output (actions/runner, src/Runner.Common/ActionCommand.cs and
 * src/Runner.Worker/ActionCommandManager.cs). Tests use it to check the effect of this project's output on the runner, so it is as tolerant as
 * the original: it trims leading white space before `::name::`, and accepts `##[name]` anywhere.
 */
export interface RunnerCommand {
  command: string;
  /** Keys in lower case: the runner ignores the case of property names. */
  properties: Record<string, string>;
  data: string;
}

/** The meaning of a line for the runner: a command to execute, the stop or the resume of commands, or plain output. */
export type RunnerLine =
  | { kind: 'command'; command: RunnerCommand }
  | { kind: 'stop'; token: string }
  | { kind: 'resume' }
  | { kind: 'output'; text: string };

export interface CommandReader {
  readLine(line: string): RunnerLine;
}

const stopCommand = 'stop-commands';

const registeredCommands: ReadonlySet<string> = new Set([
  'add-mask',
  'add-matcher',
  'add-path',
  'debug',
  'echo',
  'endgroup',
  'error',
  'group',
  'notice',
  'remove-matcher',
  'save-state',
  'set-env',
  'set-output',
  stopCommand,
  'warning',
]);

/** The white space that .NET's `TrimStart` trims (Char.IsWhiteSpace): unlike in JavaScript, NEL but not the byte order mark. */
const leadingWhiteSpace = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** Unescaped in this order, percent last, as the runner does. */
const dataEscapes = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%25', '%'],
] as const;
const propertyEscapes = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%3A', ':'],
  ['%2C', ','],
  ['%25', '%'],
] as const;
const bracketEscapes = [
  ['%3B', ';'],
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%5D', ']'],
  ['%25', '%'],
] as const;

/** Reads one line as a runner that processes commands; null if the runner would print the line. */
export function parseRunnerLine(line: string): RunnerCommand | null {
  return parseLine(line, registeredCommands);
}

/** Follows `stop-commands` and its token over the lines of one job. */
export function createCommandReader(): CommandReader {
  let stopToken: string | null = null;
  return {
    readLine(line) {
      const names = stopToken === null ? registeredCommands : new Set([...registeredCommands, stopToken.toLowerCase()]);
      const command = parseLine(line, names);
      if (command === null) return { kind: 'output', text: line };
      if (stopToken !== null) {
        if (command.command !== stopToken.toLowerCase()) return { kind: 'output', text: line };
        stopToken = null;
        return { kind: 'resume' };
      }
      if (command.command === stopCommand) {
        const token = command.data;
        if (token === '' || registeredCommands.has(token.toLowerCase()) || token.toLowerCase() === 'pause-logging') {
          throw new Error(`The runner refuses ${JSON.stringify(token)} as a token that stops commands.`);
        }
        stopToken = token;
        return { kind: 'stop', token };
      }
      return { kind: 'command', command };
    },
  };
}

function parseLine(line: string, names: ReadonlySet<string>): RunnerCommand | null {
  for (const find of [findExactly, findAcrossIgnorables]) {
    const command = parseColonForm(line, { names, find }) ?? parseBracketForm(line, { names, find });
    if (command !== null) return command;
  }
  return null;
}

interface Rules {
  names: ReadonlySet<string>;
  find: (text: string, token: '::' | '##[', from: number) => number;
}

function findExactly(text: string, token: string, from: number): number {
  return text.indexOf(token, from);
}

/**
 * The runner's searches specify no comparison, so on a machine with ICU they ignore characters without a weight. This port treats all control
 * and format characters as such, including the zero-width space.
 */
function findAcrossIgnorables(text: string, token: '::' | '##[', from: number): number {
  const pattern = token === '::' ? /:[\p{Cf}\p{Cc}]*:/u : /#[\p{Cf}\p{Cc}]*#[\p{Cf}\p{Cc}]*\[/u;
  const index = text.slice(from).search(pattern);
  return index === -1 ? -1 : from + index;
}

/** Parses `::name key=value,key=value::data` at the start of the line, after white space. */
function parseColonForm(line: string, { names, find }: Rules): RunnerCommand | null {
  const message = line.replace(leadingWhiteSpace, '');
  const start = find(message, '::', 0);
  const isAtStart = start !== -1 && /^[\p{Cf}\p{Cc}]*$/u.test(message.slice(0, start));
  const end = isAtStart ? find(message, '::', 2) : -1;
  if (end === -1) return null;
  const head = splitHead(message.slice(2, end));
  if (!names.has(head.name)) return null;
  return {
    command: head.name,
    properties: parseProperties(head.rest.trim(), ',', propertyEscapes),
    data: unescape(message.slice(end + 2), dataEscapes),
  };
}

/** Parses the older form `##[name key=value;key=value]data`, anywhere in the line. */
function parseBracketForm(line: string, { names, find }: Rules): RunnerCommand | null {
  const start = find(line, '##[', 0);
  const end = start === -1 ? -1 : line.indexOf(']', start);
  if (end === -1) return null;
  const head = splitHead(line.slice(start + 3, end));
  if (!names.has(head.name)) return null;
  return {
    command: head.name,
    properties: parseProperties(head.rest, ';', bracketEscapes),
    data: unescape(line.slice(end + 1), bracketEscapes),
  };
}

function splitHead(head: string): { name: string; rest: string } {
  const space = head.indexOf(' ');
  return space === -1
    ? { name: head.toLowerCase(), rest: '' }
    : { name: head.slice(0, space).toLowerCase(), rest: head.slice(space + 1) };
}

type Escapes = ReadonlyArray<readonly [escaped: string, plain: string]>;

function parseProperties(text: string, separator: string, escapes: Escapes): Record<string, string> {
  const pairs = text.split(separator).flatMap((property): Array<[string, string]> => {
    const equals = property.indexOf('=');
    // A property with an empty name or value is dropped.
    if (equals <= 0 || equals === property.length - 1) return [];
    return [[property.slice(0, equals).toLowerCase(), unescape(property.slice(equals + 1), escapes)]];
  });
  return Object.fromEntries(pairs);
}

function unescape(text: string, escapes: Escapes): string {
  return escapes.reduce((plain, [escaped, character]) => plain.replaceAll(escaped, character), text);
}
