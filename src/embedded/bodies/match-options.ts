import { z } from 'zod';
import {
  internalMatchOptionsSchema,
  matchOptionsSchema,
  toPublicMatchOptions,
  type MatchOptionsLayer,
} from '../../model/case.ts';

const internalKeys = ['maxExtraToolCalls', 'allowExtraToolCalls', 'argumentMatching'];
const internalOrders: ReadonlySet<unknown> = new Set(['ignore', 'superset', 'strict']);

/** The vocabulary of inline tests, read into the public one. */
export const testMatchOptionsSchema: z.ZodType<MatchOptionsLayer> = internalMatchOptionsSchema.transform((sent) => {
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
  const parsed = (isInternal ? testMatchOptionsSchema : matchOptionsSchema).safeParse(sent);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
  return z.NEVER;
});
