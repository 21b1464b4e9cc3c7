import { readTextFile } from '../base/files.ts';

/**
 * The lines that the configuration of a kept repository may have. Other settings can name programs, which git would run in each copy, also in
 * that of a base that the change is compared with.
 */
const allowedLines: readonly RegExp[] = [
  /^\s*(?:[#;].*)?$/,
  /^\s*\[(?:core|user|init|commit|tag)\]\s*$/i,
  /^\s*\[(?:branch|remote) "[^"\\]*"\]\s*$/i,
  /^\s*(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks|precomposeunicode|autocrlf)\s*=\s*\w+\s*$/i,
  /^\s*(?:name|email|defaultbranch|gpgsign|url|fetch|remote|merge)\s*=[^\\"]*$/i,
];

/** Explains which file of a kept repository can make git run a program; null if this one cannot. `name` is relative to the repository. */
export async function explainProgram(name: string, path: string): Promise<string | null> {
  // Some file systems know no difference between capitals and small letters.
  if (/^modules[\\/]/i.test(name)) return 'is of a submodule, which a workspace cannot keep';
  if (/^hooks[\\/]/i.test(name))
    return name.endsWith('.sample') ? null : 'is a program that git would run in each copy';
  if (name.toLowerCase() !== 'config') return null;
  const lines = (await readTextFile(path)).split(/\r?\n/);
  const line = lines.findIndex((text) => !allowedLines.some((form) => form.test(text)));
  return line === -1
    ? null
    : `has a setting in line ${line + 1} that may name a program, which git would run in each copy`;
}
