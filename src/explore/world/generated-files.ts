import type { Workspace } from '../../workspace/workspace.ts';
import type { Exploration } from '../exploration.ts';
import { addRepository, type RepositoryPlan } from './repository.ts';

/** The start of a PNG with one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Letters of two bytes, an odd number of bytes after the start of a line of an even length: any cut at an even position splits one. */
const letters = 'αβγδεζηθικλμνξοπρστυφχψω'.repeat(24);

/** Small files of common kinds, for a server whose user names no workspace. */
const generatedFiles: Readonly<Record<string, string | Buffer>> = {
  'data.json': '{ "name": "alpha", "count": 2, "tags": ["work", "home"] }\n',
  // Shorter than the guide, and before it by name.
  'docs/draft.txt': 'Beta comes after alpha.\n',
  'docs/guide.md': '# Guide\n\nAlpha comes before beta.\n\n## Notes\n\n- alpha\n- beta\n',
  'notes.txt': 'alpha\nbeta\nGamma\n',
  'pixel.png': Buffer.from(pixel, 'base64'),
  'table.csv': 'name,count\nalpha,2\nbeta,3\n',
  // Each line is longer than the 1,024 bytes that a program may read at once.
  'unicode.txt': `1${letters}\n2${letters}\n3${letters}\n`,
};

/** A few files, for a server whose user names no workspace. */
export const generatedWorkspace: Workspace = {
  path: null,
  files: Object.keys(generatedFiles),
  directories: ['docs'],
  generated: generatedFiles,
};

/** What a repository of these files has in addition to committed files. */
export const repositoryPlan: RepositoryPlan = {
  changed: { file: 'notes.txt', text: 'alpha\nbeta\n' },
  staged: 'table.csv',
};

/** Generates the files that an exploration had. */
export async function generateFiles({ hasRepository }: Pick<Exploration, 'hasRepository'>): Promise<Workspace> {
  const added = hasRepository === true ? await addRepository(generatedWorkspace, repositoryPlan) : null;
  return added ?? generatedWorkspace;
}
