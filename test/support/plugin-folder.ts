import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes files below a directory, by path. Content other than text is written as JSON. */
export async function writeFolder(directory: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Returns the files of a plugin `weather` with one version, whose server has the given URL. */
export function describeWeatherPlugin(url: string, version = '1.0.0'): Record<string, unknown> {
  const folder = `weather/versions/${version}`;
  return {
    'weather/plugin.json': { name: 'weather', description: 'Forecasts.' },
    [`${folder}/plugin.json`]: { version, servers: { forecast: { url } } },
    [`${folder}/skills/umbrella/SKILL.md`]: 'Take an umbrella when it rains.',
    [`${folder}/apps/map/index.html`]: '<p>Map</p>',
    [`${folder}/apps/map/map.js`]: '0;',
    [`${folder}/assets/sun.svg`]: '<svg/>',
    [`${folder}/notes.txt`]: 'Of no known kind.',
  };
}
