import { readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const dist = path.join(root, 'dist');
const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => ({
  name,
  text: readFileSync(path.join(dist, name), 'utf8'),
}));

const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Packages that the action does not use. */
const commandOnly: ReadonlySet<string> = new Set(['@hono/node-server', 'commander', 'hono', 'smol-toml']);

/** Finds absolute paths of the machine that built a bundle. */
function findMachinePaths(text: string): string[] {
  const isNamed = (directory: string) => text.includes(`${directory}/`) || text.includes(`${directory}"`);
  const local = [root, homedir()].filter((directory) => directory.length > 1 && isNamed(directory));
  // Excludes the documented example of a root.
  return [...local, ...(text.match(/file:\/\/\/(?!workspace\b)\w[^"'`\s]*/g) ?? [])];
}

describe('dist', () => {
  it.each(files)('$name holds no path of the machine it was built on', ({ text }) => {
    expect(findMachinePaths(text)).toEqual([]);
  });

  it.each([
    ['local backend', 'A suite of a service was planned without a service.'],
    ['hosted backend', 'An evals file was planned without a server to run it against.'],
    ['client of MCP', 'StreamableHTTPClientTransport'],
    ['WebSocket library', 'Missing or invalid Sec-WebSocket-Key header'],
    ['client of GitHub', 'the answer leads to another host'],
    ['table of GitHub routes', '/repos/{owner}/{repo}/actions/artifacts'],
    ['supervisor', 'The gate did not leave when it was asked to.'],
  ])('keeps the %s out of what every step loads', (_, text) => {
    const holding = files.filter((file) => file.name.endsWith('.js') && file.text.includes(text));
    expect(holding.map(({ name }) => name)).toEqual([expect.stringMatching(/^\d+\.(?:entry|stages)\.js$/)]);
  });

  it('has nothing of the eval service', () => {
    expect(files.filter(({ text }) => text.includes('openEmbeddedService')).map(({ name }) => name)).toEqual([]);
  });

  it('consists of what the runner starts, the supervisor, the gate, and their lazy parts', () => {
    const names = files.map(({ name }) => name).filter((name) => !/^\d+\.(?:entry|stages)\.js$/.test(name));
    const started = ['index.js', 'merge.js', 'post.js', 'publish.js'];
    expect(names.toSorted()).toEqual([...started, 'entry.js', 'stages.js', 'licenses.txt', 'package.json'].toSorted());
  });

  it('is at most 5 MB', () => {
    expect(files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(5_000_000);
  });

  it('names the licence of every package in it', () => {
    const licences = files.find(({ name }) => name === 'licenses.txt')?.text ?? '';
    const named = new Set([...licences.matchAll(/^## (\S+) /gm)].map((match) => match[1] ?? ''));
    // Packages of types have no code.
    const expected = Object.keys(dependencies).filter((name) => !commandOnly.has(name) && !name.startsWith('@types/'));
    expect(expected.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('the search for paths', () => {
  it('finds those of this checkout and file addresses, and no others', () => {
    expect(findMachinePaths(`import "${root}/lib/a.js"`)).toEqual([root]);
    expect(findMachinePaths('x("file:///build/lib/a.js")')).toEqual(['file:///build/lib/a.js']);
    expect(findMachinePaths('fetch("/api/v1")')).toEqual([]);
  });
});
