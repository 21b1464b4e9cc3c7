/** What a text on GitHub leads to. */
export interface PageLinks {
  /** Which job it is: `evals / test`. */
  job: string | null;
  run: { label: string; url: string } | null;
  /** `https://github.com/owner/name`. */
  repositoryUrl: string;
  /** Where the paths of a report begin, relative to the repository's root; null where that is outside of it. */
  directory: string | null;
}

/** A line of a file, as a report names it. */
export interface Place {
  file: string;
  line: number;
}

/** What tests written in place are called; they are in no file. */
const inlineTests = 'tests';

/** Finds the path of a file from the repository's root; null where it is not in there. Paths may be foreign text. */
function locateInRepository(directory: string | null, file: string): string | null {
  if (directory === null || /^(?:[/\\]|[A-Za-z]:)|\p{Cc}/u.test(file)) return null;
  const segments = [...directory.split('/'), ...file.split(/[/\\]/)].filter((part) => part !== '' && part !== '.');
  return segments.length === 0 || segments.includes('..') ? null : segments.join('/').toWellFormed();
}

/** Finds a line that a report names; null where it is in no file of the repository. */
export function locateLine(
  { directory }: Pick<PageLinks, 'directory'>,
  { file, line }: Place,
): { path: string; line: number } | null {
  const path = file === inlineTests ? null : locateInRepository(directory, file);
  return path === null || !Number.isInteger(line) || line < 1 ? null : { path, line };
}

/** Composes the address of a line of a commit; null where either is not known. */
export function composeLineUrl(page: PageLinks, commit: string | null, place: Place): string | null {
  const located = locateLine(page, place);
  if (located === null || !/^[0-9a-f]{40,64}$/.test(commit ?? '')) return null;
  const path = located.path.split('/').map(encodeURIComponent).join('/');
  return `${page.repositoryUrl}/blob/${commit}/${path}#L${located.line}`;
}
