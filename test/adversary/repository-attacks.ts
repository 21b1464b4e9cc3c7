import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { runGitIn } from '../support/github/pull-request.ts';
import type { Workspace } from '../support/workspace.ts';

/** Keys of git's configuration that name a program, a path to one, or a file that names one. */
export const programKeys = [
  'alias.cat-file',
  'browser.x.cmd',
  'browser.x.path',
  'core.alternateRefsCommand',
  'core.askPass',
  'core.editor',
  'core.fsmonitor',
  'core.gitProxy',
  'core.hooksPath',
  'core.pager',
  'core.sshCommand',
  'credential.helper',
  'diff.external',
  'diff.x.command',
  'diff.x.textconv',
  'difftool.x.cmd',
  'difftool.x.path',
  'filter.x.clean',
  'filter.x.process',
  'filter.x.smudge',
  'gpg.program',
  'gpg.ssh.program',
  'gpg.ssh.defaultKeyCommand',
  'gpg.x509.program',
  'guitool.x.cmd',
  'help.browser',
  'include.path',
  'includeIf.gitdir:/.path',
  'init.templateDir',
  'instaweb.browser',
  'instaweb.httpd',
  'interactive.diffFilter',
  'man.x.cmd',
  'man.x.path',
  'merge.x.driver',
  'mergetool.x.cmd',
  'mergetool.x.path',
  'pager.cat-file',
  'pager.rev-parse',
  'remote.origin.receivepack',
  'remote.origin.uploadpack',
  'remote.origin.vcs',
  'sendemail.ccCmd',
  'sendemail.smtpServer',
  'sendemail.toCmd',
  'sequence.editor',
  'tar.x.command',
  'trailer.x.cmd',
  'trailer.x.command',
  'uploadpack.packObjectsHook',
  'web.browser',
] as const;

/** Writes a program that creates a marker file, and returns the paths of both. */
export function writeMarker({ path }: Workspace): { program: string; marker: string } {
  const [program, marker] = [join(path, '.git/marker-program'), join(path, '.git/marker')];
  writeFileSync(program, `#!/bin/sh\necho ran >>${marker}\nexit 1\n`);
  chmodSync(program, 0o755);
  return { program, marker };
}

/**
 * Sets one key of the repository's configuration to the program, and gives git reasons to run it: attributes for filters and drivers, a
 * remote that promises missing objects, and hooks.
 */
export function plantKey(workspace: Workspace, key: string, program: string): void {
  const git = join(workspace.path, '.git');
  const isInclude = key.startsWith('include');
  const included = join(git, 'included');
  if (isInclude) writeFileSync(included, `[core]\n\tfsmonitor = ${program}\n[filter "x"]\n\tsmudge = ${program}\n`);
  const hooks = join(git, 'planted-hooks');
  mkdirSync(hooks, { recursive: true });
  for (const name of ['post-checkout', 'reference-transaction', 'post-index-change', 'fsmonitor-watchman']) {
    for (const directory of key === 'core.hooksPath' ? [hooks] : []) {
      writeFileSync(join(directory, name), readFileSync(program));
      chmodSync(join(directory, name), 0o755);
    }
  }
  const value = isInclude ? included : key === 'core.hooksPath' || key === 'init.templateDir' ? hooks : program;
  const [, section = '', name = '', variable = ''] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/.exec(key) ?? [];
  const header = name === '' ? `[${section}]` : `[${section} "${name}"]`;
  appendFileSync(join(git, 'config'), `${header}\n\t${variable} = ${value}\n`);
  mkdirSync(join(git, 'info'), { recursive: true });
  writeFileSync(join(git, 'info/attributes'), '* filter=x diff=x merge=x\n');
}

/** Makes the repository a partial clone with a program as its remote, and removes an object. */
export function promiseObject(workspace: Workspace, id: string, program: string): void {
  const git = join(workspace.path, '.git');
  rmSync(join(git, 'objects', id.slice(0, 2), id.slice(2)), { force: true });
  appendFileSync(
    join(git, 'config'),
    `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ${workspace.path}\n\tpromisor = true\n\tuploadpack = ${program}\n`,
  );
}

/** Replaces the content of an object by another one under the same id, as a loose object. */
export function forgeObject({ path }: Workspace, id: string, type: 'blob' | 'tree' | 'commit', content: Buffer): void {
  const file = join(path, '.git/objects', id.slice(0, 2), id.slice(2));
  if (existsSync(file)) chmodSync(file, 0o644);
  writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])));
}

/** Returns the content of an object, without git's header. */
export function readObject({ path }: Workspace, id: string, type: string): Buffer {
  return execFileSync('git', ['cat-file', type, id], { cwd: path });
}

/** Writes a pointer as Git LFS commits it, and returns the id of the file that it stands for. */
export function writeLfsPointer({ path }: Workspace, file: string, content: string): string {
  const id = createHash('sha256').update(content).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize ${content.length}\n`;
  writeFileSync(join(path, file), pointer);
  return id;
}

/** Lists every key in git's documentation. A pattern is replaced by a name that fits it. */
export function listDocumentedKeys(workspace: Workspace): string[] {
  return runGitIn(workspace, 'help', '--config')
    .split('\n')
    .map((key) => key.replaceAll(/<[^>]*>/g, 'x').replaceAll('*', 'x'))
    .filter((key) => /^[\w-]+(?:\..+)?\.[A-Za-z][\w-]*$/.test(key));
}
