import { createHash, hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, describeError } from '../../../../src/base/errors.ts';
import { readInput, readTextFile } from '../../../../src/base/files.ts';
import { tryParseJson } from '../../../../src/base/json.ts';
import type { Plugin, PluginVersion } from './inventory.ts';

const pluginManifest = z.strictObject({ name: z.string().trim().min(1), description: z.string().exactOptional() });

const httpUrl = z.url({ protocol: /^https?$/ });

const versionManifest = z.strictObject({
  version: z.string().exactOptional(),
  servers: z.record(z.string().min(1), z.strictObject({ url: httpUrl })).exactOptional(),
});

const manifestName = 'plugin.json';
/** The allowed entries in the folder of a version. */
const knownRoots = new Set([manifestName, 'skills', 'apps', 'assets']);

/**
 * Reads the plugins in a directory: one folder per plugin with a `plugin.json`, and one folder per version in its `versions/`. Does not follow
 * symbolic links.
 *
 * @throws {ConfigurationError} for an unreadable directory, and for a plugin with an unusable manifest
 */
export async function readPlugins(directory: string): Promise<Plugin[]> {
  try {
    const folders = await listFolders(directory);
    return await Promise.all(folders.map((folder) => readPlugin(join(directory, folder), folder)));
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = `the plugins cannot be read: ${describeError(error)}; name a directory with one folder per plugin`;
    throw new ConfigurationError([{ input: 'plugins', code: 'bad-plugins', message }], { cause: error });
  }
}

async function readPlugin(path: string, folder: string): Promise<Plugin> {
  const text = await readTextFile(join(path, manifestName));
  const manifest = pluginManifest.safeParse(tryParseJson(text));
  if (!manifest.success) {
    const message = `${folder}/${manifestName} must be a JSON object with a \`name\` and at most a \`description\``;
    throw new ConfigurationError([{ input: 'plugins', code: 'bad-plugin', message }]);
  }
  const { name, description = null } = manifest.data;
  const plugin = { id: createHashId('plg', folder), name };
  const { mtimeMs } = await stat(join(path, manifestName));
  const versions = join(path, 'versions');
  const folders = await listFolders(versions).catch(() => []);
  return {
    ...plugin,
    description,
    createdAt: Math.trunc(mtimeMs),
    versions: await Promise.all(folders.map((version) => readVersion(join(versions, version), plugin))),
  };
}

async function readVersion(path: string, plugin: { id: string; name: string }): Promise<PluginVersion> {
  const files = await listFiles(path);
  const digest = createHash('sha256');
  for (const file of files) digest.update(`${file}\0${hash('sha256', await readInput(join(path, file)))}\n`);
  const bundleHash = digest.digest('hex');
  const id = createHashId('plv', `${plugin.id}:${bundleHash}`);
  const text = files.includes(manifestName) ? await readTextFile(join(path, manifestName)) : null;
  const manifest = versionManifest.safeParse(tryParseJson(text ?? ''));
  const servers = Object.entries(manifest.data?.servers ?? {});
  const skillNames = files.flatMap((file) => /^skills\/(?<name>[^/]+)\/SKILL\.md$/.exec(file)?.groups?.['name'] ?? []);
  const skills = await Promise.all(
    skillNames.map(async (name) => {
      const instructions = await readTextFile(join(path, 'skills', name, 'SKILL.md'));
      return { id: `${id}:${name}`, name, instructions };
    }),
  );
  const { mtimeMs } = await stat(text === null ? path : join(path, manifestName));
  return {
    id,
    pluginId: plugin.id,
    pluginName: plugin.name,
    folder: basename(path),
    declaredVersion: manifest.data?.version ?? null,
    bundleHash,
    manifestHash: text === null ? null : hash('sha256', text),
    status: text === null ? 'staging' : manifest.success ? 'ready' : 'invalid',
    componentCounts: {
      skills: skills.length,
      servers: servers.length,
      apps: countEntries(files, 'apps'),
      assets: files.filter((file) => file.startsWith('assets/')).length,
      unsupported: countUnsupported(files),
    },
    servers: servers.map(([name, { url }]) => ({ id: `${id}:${name}`, name, url })),
    skills,
    createdAt: Math.trunc(mtimeMs),
  };
}

/** Lists the names of the folders in a directory, sorted. */
async function listFolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

/** Lists the paths of all files below a directory, with slashes, sorted. */
async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const below = parentPath.slice(path.length).split(/[\\/]/).filter(Boolean);
      return posix.join(...below, name);
    })
    .toSorted();
}

/** Counts the files and folders directly in a folder. */
function countEntries(files: readonly string[], folder: string): number {
  const inside = files.filter((file) => file.startsWith(`${folder}/`));
  return new Set(inside.map((file) => file.split('/')[1])).size;
}

/** Counts the files and folders of a version that have an unknown kind. */
function countUnsupported(files: readonly string[]): number {
  const roots = new Set(files.map((file) => file.split('/')[0] ?? ''));
  return [...roots].filter((root) => !knownRoots.has(root)).length;
}

function createHashId(prefix: string, text: string): string {
  return `${prefix}_${hash('sha256', text).slice(0, 24)}`;
}
