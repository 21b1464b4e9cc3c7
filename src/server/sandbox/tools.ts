import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { SandboxTools } from './scripts.ts';

/**
 * Finds the programs that a sandbox is made with, or says which are missing. They run outside of the sandbox, so that a directory
 * of PATH in which the server could put its own is skipped.
 */
export function findTools(path: string | undefined): SandboxTools | { missing: string[] } {
  const isRoot = process.getuid?.() === 0;
  const directories = (path ?? '')
    .split(':')
    .filter((directory) => isAbsolute(directory) && (isRoot || !isAllowed(directory, constants.W_OK)));
  const find = (name: string): string | null =>
    directories
      .map((directory) => join(directory, name))
      .find((file) => isProgram(file) && (isRoot || !isAllowed(file, constants.W_OK))) ?? null;
  const needed = {
    nsenter: find('nsenter'),
    unshare: find('unshare'),
    mount: find('mount'),
    setsid: find('setsid'),
    env: find('env'),
  };
  const { nsenter, unshare, mount, setsid, env } = needed;
  const setpriv = find('setpriv');
  const missing = Object.entries({ ...needed, ...(isRoot ? { setpriv } : {}) }).flatMap(([name, file]) =>
    file === null ? [name] : [],
  );
  if (nsenter === null || unshare === null || mount === null || setsid === null || env === null || missing.length > 0) {
    return { missing };
  }
  return { nsenter, unshare, mount, setsid, env, setpriv, bwrap: find('bwrap'), ip: find('ip') };
}

/**
 * Looks for the server's program as execvp(3) does, so that one that is missing is reported as without a sandbox.
 *
 * @throws the error of the system for the file that was found, or for the name
 */
export function checkProgram(file: string, { cwd, path }: { cwd: string; path: string | undefined }): void {
  statSync(cwd);
  const candidates = file.includes('/')
    ? [resolve(cwd, file)]
    : (path ?? '/usr/bin:/bin').split(':').map((directory) => resolve(cwd, directory, file));
  if (candidates.some((candidate) => isProgram(candidate))) return;
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false }) !== undefined);
  const code = found === undefined ? 'ENOENT' : 'EACCES';
  throw Object.assign(new Error(`spawn ${file} ${code}`), { code });
}

function isProgram(file: string): boolean {
  try {
    return statSync(file).isFile() && isAllowed(file, constants.X_OK);
  } catch {
    return false;
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
