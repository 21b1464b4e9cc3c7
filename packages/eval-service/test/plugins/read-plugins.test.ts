import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPlugins } from '../../src/plugins/read-plugins.ts';
import { describeWeatherPlugin, writeFolder } from '../../../../test/support/plugin-folder.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

const weather = describeWeatherPlugin('https://weather.example/mcp');
const versionFolder = 'weather/versions/1.0.0';

describe('a directory of plugins', () => {
  it('gives a version the same id until one of its files changes', async () => {
    await using workspace = await createWorkspace();
    const readId = async () => (await readPlugins(workspace.path))[0]?.versions[0]?.id;
    await writeFolder(workspace.path, weather);
    const before = await readId();
    await writeFolder(workspace.path, { 'weather/plugin.json': { name: 'weather', description: 'Other words.' } });
    expect(await readId()).toBe(before);
    await writeFolder(workspace.path, { [`${versionFolder}/assets/sun.svg`]: '<svg></svg>' });
    const changed = await readId();
    expect(changed).not.toBe(before);
    await writeFolder(workspace.path, { [`${versionFolder}/assets/moon.svg`]: '' });
    expect(await readId()).not.toBe(changed);
  });

  it.each([
    ['staging', 'no manifest', null],
    ['invalid', 'a manifest that is no JSON', '{'],
    ['invalid', 'a manifest with an unknown field', { colour: 'red' }],
    ['invalid', 'a server that is not reached over HTTP', { servers: { a: { url: 'file:///etc' } } }],
    ['ready', 'an empty manifest', {}],
  ])('reads a version as %s that has %s', async (status, _what, manifest) => {
    await using workspace = await createWorkspace();
    await writeFolder(workspace.path, weather);
    const path = `${versionFolder}/plugin.json`;
    if (manifest === null) await rm(join(workspace.path, path));
    else await writeFolder(workspace.path, { [path]: manifest });
    const [plugin] = await readPlugins(workspace.path);
    expect(plugin?.versions).toMatchObject([{ status, declaredVersion: null, servers: [] }]);
  });

  it('reads several versions in the order of their folders, and follows no symbolic link', async () => {
    await using workspace = await createWorkspace();
    await writeFolder(workspace.path, { ...weather, ...describeWeatherPlugin('https://weather.example/2', '2.0.0') });
    await symlink('/etc', join(workspace.path, 'weather/versions/3.0.0'));
    await symlink('/etc/hostname', join(workspace.path, versionFolder, 'assets/host'));
    const [plugin] = await readPlugins(workspace.path);
    expect(plugin?.versions.map(({ declaredVersion }) => declaredVersion)).toEqual(['1.0.0', '2.0.0']);
    expect(plugin?.versions[0]?.componentCounts.assets).toBe(1);
  });

  it('is refused where it does not exist, and where a plugin has no usable manifest', async () => {
    await using workspace = await createWorkspace();
    await expect(readPlugins(join(workspace.path, 'absent'))).rejects.toThrow('the plugins cannot be read');
    await writeFolder(workspace.path, { 'broken/plugin.json': { title: 'Broken' } });
    await expect(readPlugins(workspace.path)).rejects.toThrow(
      'broken/plugin.json must be a JSON object with a `name` and at most a `description`',
    );
  });
});
