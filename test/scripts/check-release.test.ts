import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRelease } from '../../scripts/check-release.ts';
import { generator } from '../../src/base/version.ts';

const { version } = generator;
const repository = 'octo/mcp-eval-ci';
const manifest = {
  name: 'mcp-eval-ci',
  version,
  repository: { type: 'git', url: `git+https://github.com/${repository}.git` },
};
const changelog = `# Changelog\n\n## 99.0.0\n\n- Later.\n\n## ${version}\n\n- First.\n- Second.\n\n## 0.0.1\n\n- Before.\n`;
const release = { tag: `v${version}`, repository, manifest, changelog };

describe('checkRelease', () => {
  it('gives the section of the version and nothing of its neighbours', () => {
    expect(checkRelease(release)).toEqual({ notes: '- First.\n- Second.', problems: [] });
  });

  it('gives the last section, which no heading ends', () => {
    const last = `# Changelog\n\n## ${version}\n\n- Only.\n`;
    expect(checkRelease({ ...release, changelog: last })).toEqual({ notes: '- Only.', problems: [] });
  });

  it.each([
    ['another tag', { tag: 'v98.0.0' }, `The tag is v98.0.0, and the version in package.json is ${version}.`],
    [
      'a version that the sources do not have',
      { tag: 'v99.0.0', manifest: { ...manifest, version: '99.0.0' } },
      `src/base/version.ts has ${version}, and package.json has 99.0.0.`,
    ],
    [
      'a repository that is not its own',
      { repository: 'other/mcp-eval-ci' },
      `package.json has the repository git+https://github.com/octo/mcp-eval-ci.git. Replace the owner your-org in all files; git+https://github.com/other/mcp-eval-ci.git is expected.`,
    ],
    ['a version without changes', { changelog: '# Changelog\n' }, `CHANGELOG.md has no text under "## ${version}".`],
    [
      'an empty section',
      { changelog: `## ${version}\n\n## 0.0.1\n` },
      `CHANGELOG.md has no text under "## ${version}".`,
    ],
  ])('refuses %s', (_what, change, problem) => {
    expect(checkRelease({ ...release, ...change })).toEqual({ notes: null, problems: [problem] });
  });

  it('finds every problem of a release at once', () => {
    const { problems } = checkRelease({ ...release, tag: 'v0', repository: 'a/b', changelog: '' });
    expect(problems).toHaveLength(3);
  });

  it('accepts this repository once its owner is written in', () => {
    const root = path.resolve(import.meta.dirname, '../..');
    const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
    const own = { tag: `v${version}`, changelog: read('CHANGELOG.md') };
    const check = (text: string) => checkRelease({ ...own, repository, manifest: JSON.parse(text) });
    expect(check(read('package.json')).problems).toEqual([expect.stringContaining('Replace the owner your-org')]);
    expect(check(read('package.json').replaceAll('your-org', 'octo')).problems).toEqual([]);
  });
});
