import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findFixedProgram, isProgram } from '../programs.ts';
import type { SandboxTools } from './scripts.ts';

/**
 * Finds the programs that a sandbox is made with, or says which are missing. They run outside of the sandbox, so that a program which the
 * server could change is skipped. All sandboxes of this process are made with the same programs.
 */
export function findTools(path: string | undefined): SandboxTools | { missing: string[] } {
  const isRoot = process.getuid?.() === 0;
  const find = (name: string) => findFixedProgram(name, path ?? '');
  const needed = {
    nsenter: find('nsenter'),
    unshare: find('unshare'),
    mount: find('mount'),
    setsid: find('setsid'),
    env: find('env'),
    mkdir: find('mkdir'),
    chmod: find('chmod'),
  };
  const { nsenter, unshare, mount, setsid, env, mkdir, chmod } = needed;
  const setpriv = find('setpriv');
  const missing = Object.entries({ ...needed, ...(isRoot ? { setpriv } : {}) }).flatMap(([name, file]) =>
    file === null ? [name] : [],
  );
  if (
    nsenter === null ||
    unshare === null ||
    mount === null ||
    setsid === null ||
    env === null ||
    mkdir === null ||
    chmod === null ||
    missing.length > 0
  ) {
    return { missing };
  }
  return { nsenter, unshare, mount, setsid, env, mkdir, chmod, setpriv, bwrap: find('bwrap'), ip: find('ip') };
}

/** Where the system has its programs, and what these load: libraries, and the settings of the loader. */
const systemDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc'];

/**
 * Lists what must not change for as long as programs of the gate run outside of the sandbox. Only root could: other users get programs alone
 * that they cannot change.
 */
export function listToolDirectories(tools: SandboxTools): string[] {
  if (process.getuid?.() !== 0) return [];
  const files = Object.values(tools).filter((file) => typeof file === 'string');
  return [
    ...systemDirectories,
    ...systemDirectories.map((path) => `/usr${path}`),
    '/usr/libexec',
    ...files.map(dirname),
  ];
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
