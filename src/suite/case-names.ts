/** A case as a name can mean it. */
export interface NamedCase {
  id: string;
  title: string;
  /** Where it is defined, as messages give it; null where that is not known. */
  place: string | null;
}

/**
 * Lists the cases that a name can mean, by id or by title. A name with more than one is ambiguous: it must never be resolved by order,
 * or a case in front of another would take over what is said of that.
 */
export function findNamed<T extends NamedCase>(cases: readonly T[], name: string): T[] {
  return cases.filter(({ id, title }) => id === name || title === name);
}

const maxNamed = 3;

/** Says which cases a name can mean and what to do about it. */
export function explainAmbiguity(name: string, found: readonly NamedCase[]): string {
  const members = found.slice(0, maxNamed).map(({ id, title, place }) => {
    const what = id === name && title !== name ? 'the id' : 'the title';
    return `${what} of the case \`${id}\`${place === null ? '' : ` at ${place}`}`;
  });
  const hidden = found.length - members.length;
  const list = [...members, ...(hidden > 0 ? [`${hidden} more`] : [])].join(' and ');
  return `${JSON.stringify(name)} is ambiguous: it is ${list}. Give each case its own id and title, and name the case by its id`;
}
