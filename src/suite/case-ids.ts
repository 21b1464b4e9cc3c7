import { createHash } from 'node:crypto';

/** Room for a `-2` and the like below the 128 characters that an id may have. */
const maxSlugLength = 120;

/**
 * Derives an id from a title: lower-case ASCII words joined by `-`. Where no word of it is ASCII, `fallback` and a short
 * hash of the title, so that two titles in another script have distinct ids and keep them wherever they stand.
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

/** Gives each title an id: its own where it has one, else its slug, with `-2`, `-3` … where that is taken. */
export function assignIds(entries: ReadonlyArray<{ id?: string; title: string }>, fallback: string): string[] {
  const taken = new Set(entries.flatMap(({ id }) => id ?? []));
  const take = createTaker(taken);
  return entries.map(({ id, title }) => id ?? take(deriveSlug(title, fallback)));
}

/** Takes ids that are free: the one that is asked for, or else with the next number behind it. */
export function createTaker(taken: Set<string>): (wanted: string) => string {
  // Where to look next, so that a thousand equal titles do not count up from 2 each time.
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

/** Names one of the cases that a case of the file becomes. Both parts are cut where they are longer than the API's ids. */
export function nameVariant(id: string, what: string, separator = '--'): string {
  const slug = what.replaceAll(/[^A-Za-z0-9_]+/g, '-').slice(0, 60);
  return `${id.slice(0, 125 - slug.length)}${separator}${slug}`;
}
