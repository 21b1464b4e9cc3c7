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
