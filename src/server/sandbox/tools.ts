import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findFixedProgram, isProgram } from '../programs.ts';
import type { SandboxTools } from './scripts.ts';

/**
 * Finds the programs that make a sandbox, or lists the missing ones. They run outside of the sandbox, so it skips a program that the
 * server could change. All sandboxes of this process use the same programs.
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

/** The directories of the system's programs, and of the files that these load: libraries, and the settings of the loader. */
const systemDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc'];

/**
 * Lists the paths that must not change while programs of the gate run outside of the sandbox. Empty for users other than root, who get
 * only programs that they cannot change.
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
 * Searches for the server's program as execvp(3) does, so that a missing program causes the same error as without a sandbox.
 *
 * @throws the error of the system for the found file, or for the name
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
