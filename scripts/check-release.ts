/**
 * Checks that the tag of a release matches its content, and prints the release's section of the changelog in Markdown.
 * Usage: check-release.ts <tag> <owner/repository>. Exits with 1 and lists every problem if the release must not be made.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { generator } from '../src/base/version.ts';

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  repository: z.object({ url: z.string() }),
});

export interface Release {
  /** `v1.2.3` or `v1.2.3-rc.1`. */
  tag: string;
  /** `owner/name` of the repository in which the workflow runs. */
  repository: string;
  /** The parsed package.json. */
  manifest: unknown;
  changelog: string;
}

/** The notes of the release, or the problems that prevent it. */
export type ReleaseCheck = { notes: string; problems: [] } | { notes: null; problems: [string, ...string[]] };

/**
 * Checks a release. npm accepts provenance only if `repository` in package.json is the repository of the workflow, and nothing can be
 * published twice, so everything is checked before the first publishing step.
 */
export function checkRelease({ tag, repository, manifest, changelog }: Release): ReleaseCheck {
  const { version, repository: written } = packageSchema.parse(manifest);
  const notes = findSection(changelog, version);
  const expected = `git+https://github.com/${repository}.git`;
  const problems = [
    ...(tag === `v${version}` ? [] : [`The tag is ${tag}, and the version in package.json is ${version}.`]),
    ...(version === generator.version
      ? []
      : [`src/base/version.ts has ${generator.version}, and package.json has ${version}.`]),
    ...(written.url === expected
      ? []
      : [
          `package.json has the repository ${written.url}. Replace the owner your-org in all files; ${expected} is expected.`,
        ]),
    ...(notes === null ? [`CHANGELOG.md has no text under "## ${version}".`] : []),
  ];
  const [first, ...others] = problems;
  if (first !== undefined) return { notes: null, problems: [first, ...others] };
  return { notes: notes ?? '', problems: [] };
}

/** Returns the text under the heading of a version, up to the next heading; null if there is none. */
function findSection(changelog: string, version: string): string | null {
  const lines = changelog.split('\n');
  const start = lines.indexOf(`## ${version}`);
  if (start === -1) return null;
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '));
  const section = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length);
  return section.join('\n').trim() || null;
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '..');
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const [tag = '', repository = ''] = process.argv.slice(2);
  const manifest: unknown = JSON.parse(read('package.json'));
  const { notes, problems } = checkRelease({ tag, repository, manifest, changelog: read('CHANGELOG.md') });
  if (notes !== null) console.log(notes);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
