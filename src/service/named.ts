/** A record that people may name and that the API identifies by id. */
export interface Named {
  id: string;
  /** Absent or null for a record that was saved without a name. */
  name?: string | null | undefined;
}

const longestList = 10;

/** Finds the record with this id, or else all records with exactly this name. */
export function findNamed<Item extends Named>(items: readonly Item[], idOrName: string): Item[] {
  const byId = items.find(({ id }) => id === idOrName);
  return byId === undefined ? items.filter(({ name }) => name === idOrName) : [byId];
}

/** Formats records for people, `"Demo" (p_1), "Other" (p_2) and 3 more`, at most ten by name. */
export function formatNamed(items: readonly Named[]): string {
  const shown = items
    .slice(0, longestList)
    .map(({ id, name }) => (name == null ? id : `${JSON.stringify(name)} (${id})`));
  const rest = items.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Completes a message about an unknown name. Begins with a semicolon and ends the sentence. */
export function suggestNamed(items: readonly Named[], idOrName: string): string {
  const near = items.filter(({ id, name }) => fold(id) === fold(idOrName) || fold(name ?? '') === fold(idOrName));
  return near.length > 0 ? `; did you mean ${formatNamed(near)}?` : `; there is ${formatNamed(items)}.`;
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
