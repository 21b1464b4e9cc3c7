import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isSensitiveKey } from '../../base/redaction.ts';
import { isCopyable, quoteShellWord } from '../../base/shell.ts';
import { isLoopback } from '../../http/url.ts';
import { listFlags } from './list.ts';

/**
 * Writes the command that runs the evals of a gate again, as words of a POSIX shell without evals files and cases. Has no secret: of
 * `server-env` only the names, and a URL that may hold a key is the variable `SERVER_URL`. Null if a value does not fit on a line.
 */
export function describeRepeat(texts: Readonly<Record<string, string | undefined>>): string | null {
  const flags = listFlags('run').flatMap(({ name, isRepeated, isList, default: fallback }) => {
    const text = (texts[name] ?? '').trim();
    if (isRepeated !== true || text === '' || text === fallback) return [];
    const lines = isList === true ? text.split(/\r?\n/).map((line) => line.trim()) : [text];
    return lines.filter((line) => line !== '').map((line) => `--${name} ${writeValue(name, line)}`);
  });
  const command = ['npx mcp-eval-ci run', ...flags].join(' ');
  return isCopyable(command) ? command : null;
}

/** The MCP Inspector, where a project has it as a package. */
const inspector = 'node_modules/.bin/mcp-inspector';

/**
 * Writes the command line with which the MCP Inspector starts a session with the server of a gate, without a method; null if the project in
 * `cwd` does not have the inspector, or if no line can say it. Has no secret, as `describeRepeat` has none.
 */
export function describeInspection(texts: Readonly<Record<string, string | undefined>>, cwd: string): string | null {
  const [command = '', url = '', names = ''] = ['server-command', 'server-url', 'server-env'].map((name) =>
    (texts[name] ?? '').trim(),
  );
  if (!existsSync(join(cwd, inspector)) || (texts['mcp-config'] ?? '').trim() !== '') return null;
  if (url !== '') return isPublic(url) ? `npx mcp-inspector --cli ${quoteShellWord(url)} --transport http` : null;
  // The shell has to read the words as the gate does.
  if (!/^[\w@%+=:,./ "'-]+$/.test(command) || maskSecrets(command) !== command) return null;
  const variables = names
    .split(/\r?\n/)
    .map((line) => line.trim().split('=', 1)[0] ?? '')
    .filter((name) => name !== '');
  if (!variables.every((name) => /^\w+$/.test(name))) return null;
  return ['npx mcp-inspector --cli', ...variables.map((name) => `-e ${name}="$${name}"`), command].join(' ');
}

function writeValue(name: string, text: string): string {
  switch (name) {
    case 'server-env':
      return quoteShellWord(text.split('=', 1)[0] ?? '');
    case 'server-command':
      return quoteShellWord(maskSecrets(text));
    case 'server-url':
      return isPublic(text) ? quoteShellWord(text) : '"$SERVER_URL"';
    default:
      return quoteShellWord(text);
  }
}

/** Checks if a URL names a server of this machine, and holds no key. */
function isPublic(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isLoopback(url.hostname) && `${url.username}${url.password}${url.search}${url.hash}` === '';
}

const value = String.raw`("[^"]*"|'[^']*'|\S+)`;
const assignment = new RegExp(`([\\w-]+)=${value}`, 'g');
const flagAndValue = new RegExp(`(-[\\w-]+)(\\s+)(?!-)${value}`, 'g');

/** Masks what follows a name that suggests a secret, such as `--api-key` or `TOKEN=`, and credentials in URLs. */
function maskSecrets(command: string): string {
  return command
    .replaceAll(assignment, (whole, name: string) => (isSensitiveKey(name) ? `${name}=***` : whole))
    .replaceAll(flagAndValue, (whole, name: string, space: string) =>
      isSensitiveKey(name) ? `${name}${space}***` : whole,
    )
    .replaceAll(/:\/\/[^/\s@]+@/g, '://***@');
}
