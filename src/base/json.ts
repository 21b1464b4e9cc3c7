/** Deeper JSON is refused: what compares, prints and stores values calls itself for each level. */
export const maxJsonDepth = 1000;

/** Whether a JSON value nests arrays and objects deeper than `maxJsonDepth`. */
export function isTooDeep(root: unknown): boolean {
  // A stack of its own: the value may be nested deeper than the call stack.
  const open: Array<{ value: object; depth: number }> = [];
  const visit = (value: unknown, depth: number) => {
    if (typeof value === 'object' && value !== null) open.push({ value, depth });
  };
  visit(root, 1);
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (item.depth > maxJsonDepth) return true;
    if (Array.isArray(item.value)) for (const part of item.value) visit(part, item.depth + 1);
    else for (const part of Object.values(item.value)) visit(part, item.depth + 1);
  }
  return false;
}
