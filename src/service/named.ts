/** Whatever people may call by its name and the API by its id. */
export interface Named {
  id: string;
  /** Absent or null of a record that was saved without one. */
  name?: string | null | undefined;
}

const longestList = 10;

/** Gives the one with this id, or else all of exactly this name. */
export function findNamed<Item extends Named>(items: readonly Item[], idOrName: string): Item[] {
  const byId = items.find(({ id }) => id === idOrName);
  return byId === undefined ? items.filter(({ name }) => name === idOrName) : [byId];
}

/** Lists them for people, `"Demo" (p_1), "Other" (p_2) and 3 more`, at most ten by name. */
export function formatNamed(items: readonly Named[]): string {
  const shown = items
    .slice(0, longestList)
    .map(({ id, name }) => (name == null ? id : `${JSON.stringify(name)} (${id})`));
  const rest = items.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Completes a message about a name that nothing has. Begins with a semicolon and ends the sentence. */
export function suggestNamed(items: readonly Named[], idOrName: string): string {
  const near = items.filter(({ id, name }) => fold(id) === fold(idOrName) || fold(name ?? '') === fold(idOrName));
  return near.length > 0 ? `; did you mean ${formatNamed(near)}?` : `; there is ${formatNamed(items)}.`;
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
