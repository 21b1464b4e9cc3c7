/** A schema whose check doubles its work with each of 40 references. */
export const doubledReferences = {
  type: 'object',
  $defs: Object.fromEntries(
    Array.from({ length: 41 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, index === 40 ? { type: 'object' } : { allOf: [next, next] }];
    }),
  ),
  $ref: '#/$defs/d0',
};

/** A schema that tries three ways into each level of a value, none of which fits at its end. */
export const branchingRecursion = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      anyOf: Array.from({ length: 3 }, () => ({
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' } },
        required: ['next'],
      })),
    },
  },
};

/** For `branchingRecursion`: 3 to the power of 40 ways. */
export const branchingValue = JSON.parse(`{"root":${'{"next":'.repeat(40)}{}${'}'.repeat(40)}}`) as Record<
  string,
  unknown
>;

/** Compares each item with each other one. */
export const uniqueItems = { type: 'object', properties: { items: { type: 'array', uniqueItems: true } } };

/** For `uniqueItems`: 60,000 objects that differ in their last member alone. */
export const uniqueValue = {
  items: Array.from({ length: 60_000 }, (_, index) => ({ a: 1, b: { c: [1, 2, 3] }, d: 'the same', index })),
};

/** An object around arrays, one in the other, as JSON. */
export function nestArrays(depth: number): string {
  return `{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}
