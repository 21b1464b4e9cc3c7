import type { Workspace } from '../../workspace/workspace.ts';

/** The start of a PNG with one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Small files of common kinds, for a server whose user names no workspace. */
const generatedFiles: Readonly<Record<string, string | Buffer>> = {
  'data.json': '{ "name": "alpha", "count": 2, "tags": ["work", "home"] }\n',
  'docs/guide.md': '# Guide\n\nAlpha comes before beta.\n\n## Notes\n\n- alpha\n- beta\n',
  'notes.txt': 'alpha\nbeta\nGamma\n',
  'pixel.png': Buffer.from(pixel, 'base64'),
  'table.csv': 'name,count\nalpha,2\nbeta,3\n',
};

/** A few files, for a server whose user names no workspace. */
export const generatedWorkspace: Workspace = {
  path: null,
  files: Object.keys(generatedFiles),
  directories: ['docs'],
  generated: generatedFiles,
};
