import type { core } from 'zod';

/** Stores nothing, so that schemas parse without a search for cycles. */
const noMemoizer: core.$ZodMemoizer = {
  attach: () => {},
  guard: () => {},
  alloc: (_schema, _payload, empty) => empty,
};

/**
 * Makes zod do less on the first use of a schema. Zod reads these settings when it is loaded, in any file of a bundle.
 *
 * - By default, it compiles each schema to code, which takes a gate a tenth of a second and pays only for schemas that judge ten thousands
 *   of values.
 * - By default, it searches each schema for a way in which it contains itself, and remembers each object that it has parsed, in case a value
 *   contains itself. The gate parses JSON, which cannot, and YAML, whose reader refuses such aliases.
 */
export function simplifySchemas(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true, memoizer: noMemoizer } });
}
