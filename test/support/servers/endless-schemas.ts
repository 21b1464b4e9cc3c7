/** A schema whose check takes twice the work for each of 40 references. */
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

/** A schema that tries three ways into each level of a value, none of which matches at the end. */
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

/** A value for `branchingRecursion`: 3 to the power of 40 ways. */
export const branchingValue = JSON.parse(`{"root":${'{"next":'.repeat(40)}{}${'}'.repeat(40)}}`) as Record<
  string,
  unknown
>;

/** A schema that compares each item with every other one. */
export const uniqueItems = { type: 'object', properties: { items: { type: 'array', uniqueItems: true } } };

/** A value for `uniqueItems`: 60,000 objects that differ only in their last member. */
export const uniqueValue = {
  items: Array.from({ length: 60_000 }, (_, index) => ({ a: 1, b: { c: [1, 2, 3] }, d: 'the same', index })),
};

/** Returns the JSON of an object with nested arrays. */
export function nestArrays(depth: number): string {
  return `{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}
