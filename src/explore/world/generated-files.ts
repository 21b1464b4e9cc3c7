import { gunzipSync } from 'node:zlib';
import { describeError } from '../../base/errors.ts';
import { isRecord, type JsonObject } from '../../base/json.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type AddedFiles, addedFiles, type Unexplored } from '../exploration.ts';
import { databaseFile } from '../vocabulary/statements.ts';
import { splitName } from '../vocabulary/names.ts';
import { writeWorkbook } from './workbook.ts';
import { addRepository, needsRepository, type RepositoryPlan } from './repository.ts';

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
const repositoryPlan: RepositoryPlan = { changed: { file: 'notes.txt', text: 'alpha\nbeta\n' }, staged: 'table.csv' };

/** A SQLite database, compressed: the table `items` with the columns id, name and count, and the rows (1, alpha, 2) and (2, beta, 3). */
const database =
  'H4sIAAAAAAAC/wsO9MksSVVIyy/KTSxRMGZgYmBkZHBQUGBgYGCCYhhgZGBgYEHjEwJMDHpTz/CCFDPOZGCcyTAKiAWpjOzi4uKMjZoliUk5qZ' +
  'klqbnFYILJOcjVMcRVIcTRycdVASykoJGZouDpF+Lq7hqkEBDk6esYFKng7Rqpo5CXmJuqEOIaEaLg5x+i4Bfq46OjkJxfmlcCU64JihsmxpcM' +
  'jF8YX44G+jAGnEwsDKKMSaklicxcjCwM4oyJOQUZiUwAS2wxNwAEAAA=';

/** A PDF of one page, with the text "Alpha comes before beta." */
function writePdf(): string {
  const content = 'BT /F1 24 Tf 72 720 Td (Alpha comes before beta.) Tj ET';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}${trailer}`;
}

const addFile = (file: string, content: string | Buffer) => (workspace: Workspace) => ({
  ...workspace,
  files: [...workspace.files, file].toSorted(),
  generated: { ...workspace.generated, [file]: content },
});

/** Files that only some servers need: others would list them, and read them as text. */
interface NeededFiles {
  isNeeded: (tools: readonly JsonObject[]) => boolean;
  /** Throws the reason if this machine cannot make them. */
  add: (workspace: Workspace) => Workspace | Promise<Workspace>;
}

const neededFiles: Readonly<Record<AddedFiles, NeededFiles>> = {
  // Before the repository, where all other files are committed.
  database: {
    isNeeded: (tools) => tools.some((tool) => mentions(tool, /\bsqlite/i) && hasDatabaseParameter(tool)),
    add: addFile(databaseFile, gunzipSync(Buffer.from(database, 'base64'))),
  },
  document: {
    isNeeded: (tools) => tools.some((tool) => mentions(tool, /\bpdfs?\b/i)),
    add: addFile('guide.pdf', writePdf()),
  },
  workbook: {
    isNeeded: (tools) => tools.some((tool) => mentions(tool, /\b(?:xlsx|excel|spreadsheets?|workbooks?)\b/i)),
    add: addFile('table.xlsx', writeWorkbook()),
  },
  repository: { isNeeded: needsRepository, add: async (workspace) => await addRepository(workspace, repositoryPlan) },
};

const mentions = ({ name, description, inputSchema }: JsonObject, word: RegExp) =>
  word.test(`${splitName(String(name)).join(' ')} ${String(description)} ${JSON.stringify(inputSchema)}`);

function hasDatabaseParameter({ inputSchema }: JsonObject): boolean {
  const properties = isRecord(inputSchema) && isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  return Object.keys(properties).some((name) => /^(?:db|database)\b/.test(splitName(name).join(' ')));
}

/** Names the files that a server with these tools needs in addition. */
export function listNeeded(tools: readonly JsonObject[]): AddedFiles[] {
  return addedFiles.filter((name) => neededFiles[name].isNeeded(tools));
}

/** Generates the files of an exploration; `missing` says what this machine cannot make. */
export async function generateFiles(
  wanted: readonly AddedFiles[],
): Promise<{ workspace: Workspace; added: AddedFiles[]; missing: Unexplored[] }> {
  let workspace = generatedWorkspace;
  const added: AddedFiles[] = [];
  const missing: Unexplored[] = [];
  for (const name of wanted) {
    try {
      workspace = await neededFiles[name].add(workspace);
      added.push(name);
    } catch (error) {
      missing.push({ subject: `files: ${name}`, reason: describeError(error) });
    }
  }
  return { workspace, added, missing };
}
