/** Keywords of JSON Schema whose value maps names to schemas. */
export const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Keywords of JSON Schema whose values are data: whatever they hold is no schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
