import { z } from 'zod';
import type { MatchOptions } from '../../model/case.ts';
import { toPublicMatchOptions } from '../../model/case.ts';

/** Any of the options; what is absent is left to the layer below (defaults, suite, case, run). */
export type MatchOptionsLayer = Partial<MatchOptions>;

const argumentMatching = z.enum(['ignore', 'partial', 'exact']);
const internalKeys = ['maxExtraToolCalls', 'allowExtraToolCalls', 'argumentMatching'];
const internalOrders: ReadonlySet<unknown> = new Set(['ignore', 'superset', 'strict']);

/** The vocabulary of suites and cases. */
export const publicMatchOptionsSchema: z.ZodType<MatchOptionsLayer> = z.strictObject({
  toolCallOrder: z.enum(['any', 'in-order', 'exact']).exactOptional(),
  extraToolCalls: z.union([z.literal('unlimited'), z.int().min(0)]).exactOptional(),
  arguments: argumentMatching.exactOptional(),
});

/** The vocabulary of inline tests, read into the public one. `allowExtraToolCalls` is its older spelling of a limit. */
export const internalMatchOptionsSchema: z.ZodType<MatchOptionsLayer> = z
  .strictObject({
    toolCallOrder: z.enum(['ignore', 'superset', 'strict']).exactOptional(),
    maxExtraToolCalls: z.int().min(0).nullable().exactOptional(),
    allowExtraToolCalls: z.boolean().exactOptional(),
    argumentMatching: argumentMatching.exactOptional(),
  })
  .transform((sent) => {
    const legacyLimit = sent.allowExtraToolCalls === false ? 0 : null;
    const named = toPublicMatchOptions({
      toolCallOrder: sent.toolCallOrder ?? 'ignore',
      maxExtraToolCalls: sent.maxExtraToolCalls === undefined ? legacyLimit : sent.maxExtraToolCalls,
      argumentMatching: sent.argumentMatching ?? 'partial',
    });
    const limitsExtras = sent.maxExtraToolCalls !== undefined || sent.allowExtraToolCalls !== undefined;
    return {
      ...(sent.toolCallOrder === undefined ? {} : { toolCallOrder: named.toolCallOrder }),
      ...(limitsExtras ? { extraToolCalls: named.extraToolCalls } : {}),
      ...(sent.argumentMatching === undefined ? {} : { arguments: named.arguments }),
    };
  });

/** Either vocabulary, as a run's override accepts; the two are disjoint, and mixing them is refused. */
export const matchOptionsOverrideSchema: z.ZodType<MatchOptionsLayer> = z.looseObject({}).transform((sent, context) => {
  const isInternal = internalKeys.some((key) => key in sent) || internalOrders.has(sent['toolCallOrder']);
  const parsed = (isInternal ? internalMatchOptionsSchema : publicMatchOptionsSchema).safeParse(sent);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
  return z.NEVER;
});
