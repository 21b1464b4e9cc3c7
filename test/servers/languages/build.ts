import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { installFastMcp } from '../python-servers.ts';

const run = promisify(execFile);

/** Builds download dozens of packages and compile them; one that takes longer hangs. */
const timeout = 15 * 60_000;

/** Where the servers stay once they are built. */
const cache = path.resolve(import.meta.dirname, '../../../node_modules/.cache/language-servers');

/** A server on the framework of another language, from the sources in the folder of that name. */
interface Language {
  framework: string;
  /** What has to be installed, and its first argument that only prints the version. */
  toolchain: [command: string, argument: string];
  /** What the server is built from. */
  sources: readonly string[];
  /** Builds the server from `source` below `target`, both absolute paths. */
  build: (source: string, target: string) => Promise<void>;
  /** What starts it once it is built, before `stdio` or `http <port>`. */
  start: (source: string, target: string) => string;
}

const fastMcpVersion = '4.1.2';

const languages = {
  python: {
    framework: `FastMCP ${fastMcpVersion}`,
    toolchain: ['python3', '--version'],
    sources: ['server.py'],
    build: async (_, target) => void (await installFastMcp(fastMcpVersion, target)),
    start: (source, target) => `${target}/fastmcp-${fastMcpVersion}/bin/python -W ignore ${source}/server.py`,
  },
  go: {
    framework: 'the official Go SDK',
    toolchain: ['go', 'version'],
    sources: ['go.mod', 'go.sum', 'main.go'],
    build: buildGo,
    start: (_, target) => `${target}/notes`,
  },
  'mcp-go': {
    framework: 'mcp-go',
    toolchain: ['go', 'version'],
    sources: ['go.mod', 'go.sum', 'main.go'],
    build: buildGo,
    start: (_, target) => `${target}/notes`,
  },
  rust: {
    framework: 'rmcp',
    toolchain: ['cargo', '--version'],
    sources: ['Cargo.toml', 'Cargo.lock', 'src/main.rs'],
    build: async (source, target) => {
      const work = `${target}/work`;
      await run('cargo', ['build', '--locked', '--quiet', '--target-dir', work], { cwd: source, timeout });
      await copyFile(`${work}/debug/notes`, `${target}/notes`);
      // Hundreds of megabytes that only the next build would use.
      await rm(work, { recursive: true });
    },
    start: (_, target) => `${target}/notes`,
  },
} satisfies Record<string, Language>;

export type LanguageName = keyof typeof languages;

export const languageNames = Object.keys(languages) as LanguageName[];

export interface LanguageServer {
  name: LanguageName;
  /** Whether it is built from the sources as they are. */
  isBuilt: boolean;
  framework: string;
  /** What starts it, before `stdio` or `http <port>`. */
  command: string;
}

/** The server of a language, which has to be built before it starts. */
export function findLanguageServer(name: LanguageName): LanguageServer {
  const { framework, start } = languages[name];
  const { source, target } = locate(name);
  return { name, framework, command: start(source, target), isBuilt: existsSync(`${target}/built`) };
}

/**
 * Builds the server of a language, unless it is built already.
 *
 * @throws where the toolchain is absent, the registry cannot be reached, the build takes longer than 15 minutes or the
 * sources do not compile.
 */
export async function buildLanguageServer(name: LanguageName): Promise<LanguageServer> {
  const found = findLanguageServer(name);
  if (found.isBuilt) return found;
  const { build } = languages[name];
  const { source, target } = locate(name);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await build(source, target);
  await writeFile(`${target}/built`, '');
  return findLanguageServer(name);
}

/** Whether the machine has what builds the server. */
export async function hasToolchain(name: LanguageName): Promise<boolean> {
  const [command, argument] = languages[name].toolchain;
  return await run(command, [argument]).then(
    () => true,
    () => false,
  );
}

async function buildGo(source: string, target: string): Promise<void> {
  await run('go', ['build', '-o', `${target}/notes`, '.'], { cwd: source, timeout });
}

/** Servers of other sources are in other folders. */
function locate(name: LanguageName): { source: string; target: string } {
  const { framework, sources } = languages[name];
  const source = path.join(import.meta.dirname, name);
  const hash = createHash('sha256').update(framework);
  for (const file of sources) hash.update(readFileSync(path.join(source, file)));
  return { source, target: path.join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`) };
}
