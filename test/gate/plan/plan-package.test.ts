import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rmSync } from 'node:fs';
import { createFindings } from '../../../src/base/findings.ts';
import { planPackage, readServerWords } from '../../../src/gate/plan/plan-package.ts';

test.each([
  ['node build/index.js --verbose', { runner: ['node'], program: 'build/index.js', args: ['--verbose'] }],
  [
    'node --import tsx src/index.ts a b',
    { runner: ['node', '--import', 'tsx'], program: 'src/index.ts', args: ['a', 'b'] },
  ],
  ['./bin/server {{workspace}}', { runner: [], program: './bin/server', args: ['{{workspace}}'] }],
  ['uv run notes --port 1', { runner: [], program: 'notes', args: ['--port', '1'] }],
  ['python3 -m notes --db x', { runner: ['python3', '-m'], program: 'notes', args: ['--db', 'x'] }],
])('reads the arguments of the server in %s', (command, words) => {
  expect(readServerWords(command.split(' '))).toEqual(words);
});

test.each(['npm run start', 'docker run image', 'uv run --with x notes', 'node'])(
  'knows no arguments of the server in %s',
  (command) => {
    expect(readServerWords(command.split(' '))).toBeNull();
  },
);

function writeProject(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'package-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'build'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

async function plan(
  files: Record<string, string>,
  given = { name: null as string | null, version: null as string | null },
  command = Object.hasOwn(files, 'pyproject.toml') ? 'python3 -m notes' : 'node build/index.js',
) {
  const cwd = writeProject(files);
  const findings = createFindings();
  const planned = await planPackage(given, { command, serverCwd: cwd, cwd }, findings);
  return { planned, codes: findings.issues.map(({ code }) => code) };
}

test.each([
  ['1.2.3', '<=1.2.3'],
  ['2.0.0-beta.1', '<2.0.0'],
  ['1.2.3+build', '<=1.2.3'],
])('takes no release newer than the version %s of the change', async (version, range) => {
  const { planned } = await plan({ 'package.json': JSON.stringify({ name: '@scope/notes', version }) });
  expect(planned).toMatchObject({ ecosystem: 'npm', name: '@scope/notes', range });
});

test.each([
  ['1.2.0', '<=1.2.0'],
  ['1.2.0rc1', '<1.2.0'],
  ['1.2.0.post2', '<=1.2.0.post2'],
])('reads the version %s of pyproject.toml', async (version, range) => {
  const { planned } = await plan({ 'pyproject.toml': `[project]\nname = "notes"\nversion = "${version}"\n` });
  expect(planned).toMatchObject({ ecosystem: 'python', name: 'notes', range });
});

test('refuses a private package without a name', async () => {
  const { codes } = await plan({ 'package.json': '{ "name": "notes", "private": true }' });
  expect(codes).toEqual(['private-package']);
});

test('refuses a directory without a manifest', async () => {
  expect((await plan({})).codes).toEqual(['package-without-name']);
});

test('takes a package that the option names', async () => {
  const files = { 'package.json': '{ "name": "notes", "version": "3.0.0", "private": true }' };
  const { planned } = await plan(files, { name: 'other', version: '1.0.0' });
  expect(planned).toMatchObject({ name: 'other', range: '1.0.0' });
});

test.each([
  ['v/bin/python -m notes', 'python', '==1.2.0'],
  ['uvx notes', 'python', '==1.2.0'],
  ['node build/index.js', 'npm', '1.2.0'],
  ['npx notes', 'npm', '1.2.0'],
])('takes a named package from the registry of %s, whatever the manifest', async (command, ecosystem, range) => {
  const given = { name: 'notes', version: '1.2.0' };
  const manifests = {
    'package.json': JSON.stringify({ name: 'site', version: '9.0.0' }),
    'pyproject.toml': '[project]\nname = "other"\nversion = "9.0.0"\n',
  };
  for (const files of [{}, manifests])
    expect((await plan(files, given, command)).planned).toMatchObject({ ecosystem, name: 'notes', range });
});

test('reads the manifest of the language in which the server is written', async () => {
  const files = {
    'package.json': JSON.stringify({ name: 'site', version: '9.0.0' }),
    'pyproject.toml': '[project]\nname = "notes"\nversion = "1.0.0"\n',
  };
  const none = { name: null, version: null };
  expect((await plan(files, none, 'python3 -m notes')).planned).toMatchObject({ name: 'notes', range: '<=1.0.0' });
  expect((await plan(files, none, 'node build/index.js')).planned).toMatchObject({ name: 'site', range: '<=9.0.0' });
});
