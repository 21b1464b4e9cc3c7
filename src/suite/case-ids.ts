import { createHash } from 'node:crypto';

/** Leaves room for a suffix such as `-2` within the 128 characters of an id. */
const maxSlugLength = 120;

/**
 * Derives an id from a title: lower-case ASCII words joined by `-`. If the title has no ASCII word, the id is `fallback` and a short hash
 * of the title, so that the ids of two such titles differ and do not depend on their order.
 */
export function deriveSlug(title: string, fallback: string): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-+|-+$/g, '');
  if (slug !== '') return slug;
  return `${fallback}-${createHash('sha256').update(title.normalize('NFC')).digest('hex').slice(0, 8)}`;
}

/** Gives each entry an id: its own, or else the slug of its title, with `-2`, `-3` … if that is taken. */
export function assignIds(entries: ReadonlyArray<{ id?: string; title: string }>, fallback: string): string[] {
  const taken = new Set(entries.flatMap(({ id }) => id ?? []));
  const take = createTaker(taken);
  return entries.map(({ id, title }) => id ?? take(deriveSlug(title, fallback)));
}

/** Creates a function that reserves ids: the wanted one, or else the wanted one with the next free number. */
export function createTaker(taken: Set<string>): (wanted: string) => string {
  // The next number to try for each id, so that a thousand equal titles do not count up from 2 each time.
  const nextNumber = new Map<string, number>();
  return (wanted) => {
    let candidate = wanted;
    let number = nextNumber.get(wanted) ?? 2;
    while (taken.has(candidate)) {
      candidate = `${wanted}-${number}`;
      number += 1;
    }
    nextNumber.set(wanted, number);
    taken.add(candidate);
    return candidate;
  };
}

/** Names a variant of a case. Both parts are cut to fit into an id of the API. */
export function nameVariant(id: string, what: string, separator = '--'): string {
  const slug = what.replaceAll(/[^A-Za-z0-9_]+/g, '-').slice(0, 60);
  return `${id.slice(0, 125 - slug.length)}${separator}${slug}`;
}
