import { basename, dirname, join, resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import type { Findings } from '../../base/findings.ts';
import { isWithin, readTextFile } from '../../base/files.ts';
import { isRecord, tryParseJson } from '../../base/json.ts';
import { findProgram } from '../../server/programs.ts';
import { splitCommand } from '../../server/split-command.ts';
import type { PackageOption } from '../options/base.ts';

/** A release of the server that is installed from a registry, to compare the change with it. */
export interface PlannedPackage {
  ecosystem: 'npm' | 'python';
  name: string;
  /** The release in the words of the installer: a version, a range up to the version of the change, or empty for the last one. */
  range: string;
  /** The absolute path of the installer; null if this machine has none. */
  installer: string | null;
  /** True if the installer is uv, false for Python's own pip. */
  isUv: boolean;
  /** How `server-command` starts the server: the words before the program, the program, and its arguments. */
  words: ServerWords;
}

/** The parts of a command: `node --flag`, `build/index.js`, `--verbose`. */
export interface ServerWords {
  runner: readonly string[];
  program: string;
  args: readonly string[];
}

interface Project {
  ecosystem: PlannedPackage['ecosystem'];
  name: string | null;
  version: string | null;
  isPrivate: boolean;
  /** The name of the file, for messages. */
  file: string;
}

/** Plans the release that is the base. Null, with a finding, if nothing says which one, or how it starts. */
export async function planPackage(
  { name, version }: PackageOption,
  { command, serverCwd, cwd }: { command: string; serverCwd: string; cwd: string },
  findings: Findings,
): Promise<PlannedPackage | null> {
  const refuse = (code: string, message: string) => {
    findings.add({ input: 'base', code, message });
    return null;
  };
  const given = splitCommand(command);
  const words = readServerWords(given);
  if (words === null) {
    return refuse(
      'package-and-command',
      'starts the release with the arguments of `server-command`, and that starts another program, which hides them; write the server itself there, such as `node build/index.js`, or use `base: git`',
    );
  }
  const known = readEcosystem(given);
  const project = await findProject(resolve(serverCwd, dirname(words.program)), { serverCwd, cwd, known });
  const called = name ?? project?.name ?? null;
  if (called === null) {
    return refuse(
      'package-without-name',
      'is `package`, and no package.json or pyproject.toml next to the server has a name; write `package=<name>`, or use `base: git`',
    );
  }
  if (name === null && project?.isPrivate === true) {
    return refuse(
      'private-package',
      `is \`package\`, and ${project.file} is \`private\`, so it has no release; write \`package=<name>\`, or use \`base: git\``,
    );
  }
  const ecosystem = known ?? project?.ecosystem ?? 'npm';
  // The version of another package says nothing about this one.
  const own = name === null || name === project?.name ? (project?.version ?? null) : null;
  const uv = ecosystem === 'python' ? findProgram('uv') : null;
  return {
    ecosystem,
    name: called,
    range: version === null ? limitVersion(own, ecosystem) : ecosystem === 'npm' ? version : `==${version}`,
    installer: ecosystem === 'npm' ? findProgram('npm') : (uv ?? findProgram('python3')),
    isUv: uv !== null,
    words,
  };
}

/** Limits releases to those that are not newer than the change. The release of a prerelease is newer than it. */
function limitVersion(version: string | null, ecosystem: PlannedPackage['ecosystem']): string {
  const [, release, rest = ''] = /^v?(\d+(?:\.\d+)*)(.*)$/.exec(version ?? '') ?? [];
  if (release === undefined) return '';
  // A build is no prerelease, and neither is a post-release of Python.
  const isPrerelease = rest !== '' && !/^\+|^\.post/.test(rest);
  if (isPrerelease) return `<${release}`;
  return ecosystem === 'npm' ? `<=${release}` : `<=${release}${/^\.post\d+/.exec(rest)?.[0] ?? ''}`;
}

/** Programs whose first word that is no flag is the server. */
const interpreters = /^(?:node|bun|deno|tsx|ts-node|python(?:3(?:\.\d+)?)?)$/;
/** Programs that start others, with arguments of their own. */
const launchers = /^(?:npm|pnpm|yarn|npx|docker|podman|env|sh|bash|make|cargo|go|task|just)$/;
/** Flags of interpreters that take the next word. */
const flagsWithValue = new Set(['-r', '--require', '--import', '--loader', '-C', '--conditions', '-X', '-W']);

/** Reads from a command which registry its server is from; null if the command does not show it. */
function readEcosystem([program = '']: readonly string[]): PlannedPackage['ecosystem'] | null {
  const first = basename(program).replace(/\.exe$/i, '');
  if (/^(?:uvx?|pipx|poetry|python(?:3(?:\.\d+)?)?)$/.test(first)) return 'python';
  if (/^(?:npx|node|bun|deno|tsx|ts-node)$/.test(first)) return 'npm';
  return null;
}

/** Reads the words of a command; null if the arguments of the server cannot be known. */
export function readServerWords(words: readonly string[]): ServerWords | null {
  const [first = '', second = '', third = ''] = words;
  if ((first === 'uv' || first === 'poetry' || first === 'pipx') && second === 'run' && third !== '') {
    return third.startsWith('-') ? null : readServerWords(words.slice(2));
  }
  if ((first === 'uvx' || (first === 'npx' && second !== '')) && !second.startsWith('-')) {
    return { runner: [], program: second, args: words.slice(2) };
  }
  const name = basename(first).replace(/\.exe$/i, '');
  if (launchers.test(name)) return null;
  if (!interpreters.test(name)) return { runner: [], program: first, args: words.slice(1) };
  let at = 1;
  while (at < words.length) {
    const word = words[at] ?? '';
    if (word === '-m')
      return { runner: words.slice(0, at + 1), program: words[at + 1] ?? '', args: words.slice(at + 2) };
    if (word !== 'run' && !word.startsWith('-')) break;
    at += flagsWithValue.has(word) ? 2 : 1;
  }
  const program = words[at];
  return program === undefined ? null : { runner: words.slice(0, at), program, args: words.slice(at + 1) };
}

/** Finds the project of the server: the nearest manifest from its program upwards, within the working directories. */
async function findProject(
  start: string,
  { serverCwd, cwd, known }: { serverCwd: string; cwd: string; known: PlannedPackage['ecosystem'] | null },
): Promise<Project | null> {
  const isOurs = (directory: string) => isWithin(directory, cwd) || isWithin(directory, serverCwd);
  for (let directory = isOurs(start) ? start : serverCwd; isOurs(directory); directory = dirname(directory)) {
    const found = [await readNodeProject(directory), await readPythonProject(directory)].find(
      (project) => project !== null && (known === null || project.ecosystem === known),
    );
    if (found != null) return found;
    if (directory === dirname(directory)) break;
  }
  return null;
}

async function readNodeProject(directory: string): Promise<Project | null> {
  const manifest = tryParseJson((await readText(join(directory, 'package.json'))) ?? '');
  // A manifest without a name only says how files of a directory are read.
  if (!isRecord(manifest) || typeof manifest['name'] !== 'string') return null;
  const { name, version, private: isPrivate } = manifest;
  return {
    ecosystem: 'npm',
    name,
    version: typeof version === 'string' ? version : null,
    isPrivate: isPrivate === true,
    file: 'package.json',
  };
}

async function readPythonProject(directory: string): Promise<Project | null> {
  const text = await readText(join(directory, 'pyproject.toml'));
  if (text === null) return null;
  let project: unknown;
  try {
    ({ project } = parseToml(text));
  } catch {
    return null;
  }
  if (!isRecord(project) || typeof project['name'] !== 'string') return null;
  const { name, version } = project;
  const file = 'pyproject.toml';
  return { ecosystem: 'python', name, version: typeof version === 'string' ? version : null, isPrivate: false, file };
}

async function readText(path: string): Promise<string | null> {
  return await readTextFile(path).catch(() => null);
}
