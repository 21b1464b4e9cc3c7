import { ProtocolError } from '../base/errors.ts';
import type { Page } from './parse.ts';

/** More pages than any collection of this API has. It ends the walk if a service invents pages without end. */
const maxPages = 10_000;

/**
 * Walks a paged collection to its end and yields the new items of each page. An item that repeats an earlier one, by `idOf` and
 * `contentOf`, is skipped. An item that contradicts an earlier one is yielded again, so that the reader sees both. `what` names the
 * collection in errors.
 *
 * @throws {ProtocolError} when the walk cannot end: a cursor repeats, or two pages in a row bring nothing new
 */
export async function* walkPages<Item>(
  loadPage: (cursor: string | undefined) => Promise<Page<Item>>,
  {
    what,
    idOf,
    contentOf = () => '',
  }: { what: string; idOf: (item: Item) => string; contentOf?: (item: Item) => string },
): AsyncGenerator<Item[]> {
  const seenContents = new Map<string, string>();
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let wasBarren = false;

  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const page = await loadPage(cursor);
    const seenBefore = seenContents.size;
    const fresh = page.items.filter((item) => {
      const content = contentOf(item);
      if (seenContents.get(idOf(item)) === content) return false;
      seenContents.set(idOf(item), content);
      return true;
    });
    if (fresh.length > 0) yield fresh;
    const isBarren = seenContents.size === seenBefore;

    cursor = page.nextCursor ?? '';
    if (cursor === '') return;
    if (seenCursors.has(cursor)) throw endlessWalk(what, `page ${pageNumber} leads back to an earlier one`);
    if (isBarren && wasBarren) throw endlessWalk(what, `pages ${pageNumber - 1} and ${pageNumber} bring nothing new`);
    seenCursors.add(cursor);
    wasBarren = isBarren;
  }
  throw endlessWalk(what, `${maxPages} pages were read and there are more`);
}

function endlessWalk(what: string, reason: string): ProtocolError {
  return new ProtocolError(`The list of ${what} does not end: ${reason}.`, { path: 'nextCursor' });
}
