import type { LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { z } from 'zod';

const jsonObject = z.record(z.string(), z.json());

/** Data that a provider requires with the next call, such as the signature of a reasoning part. */
const providerMetadata = z.record(z.string(), jsonObject).exactOptional();

/** Bytes are kept in base64. */
const fileData = z.union([
  z.strictObject({ type: z.literal('data'), data: z.string() }),
  z.strictObject({ type: z.literal('url'), url: z.url().transform((text) => new URL(text)) }),
]);

const source = z.discriminatedUnion('sourceType', [
  z.strictObject({
    type: z.literal('source'),
    sourceType: z.literal('url'),
    id: z.string(),
    url: z.string(),
    title: z.string().exactOptional(),
    providerMetadata,
  }),
  z.strictObject({
    type: z.literal('source'),
    sourceType: z.literal('document'),
    id: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().exactOptional(),
    providerMetadata,
  }),
]);

const citation = z.strictObject({
  source,
  startIndex: z.number().exactOptional(),
  endIndex: z.number().exactOptional(),
  citedText: z.string().exactOptional(),
});

const customKind = z.templateLiteral([z.string(), '.', z.string()]);

const content: z.ZodType<LanguageModelV4Content> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text: z.string(),
    citations: z.array(citation).exactOptional(),
    providerMetadata,
  }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), providerMetadata }),
  z.strictObject({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.string(),
    providerExecuted: z.boolean().exactOptional(),
    dynamic: z.boolean().exactOptional(),
    providerMetadata,
  }),
  z.strictObject({ type: z.literal('file'), mediaType: z.string(), data: fileData, providerMetadata }),
  z.strictObject({ type: z.literal('reasoning-file'), mediaType: z.string(), data: fileData, providerMetadata }),
  z.strictObject({ type: z.literal('custom'), kind: customKind, providerMetadata }),
  z.strictObject({
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    result: z.union([z.string(), z.number(), z.boolean(), z.array(z.json()), jsonObject]),
    isError: z.boolean().exactOptional(),
    preliminary: z.boolean().exactOptional(),
    dynamic: z.boolean().exactOptional(),
    providerMetadata,
  }),
  z.strictObject({
    type: z.literal('tool-approval-request'),
    approvalId: z.string(),
    toolCallId: z.string(),
    providerMetadata,
  }),
  source,
]);

const finishReason: z.ZodType<LanguageModelV4FinishReason> = z
  .strictObject({
    unified: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'interrupted', 'other']),
    raw: z.string().exactOptional(),
  })
  .transform(({ unified, raw }) => ({ unified, raw }));

const tokens = z.number().nonnegative().exactOptional();

/** JSON has no undefined: a count that the provider did not give is absent. */
const usage: z.ZodType<LanguageModelV4Usage> = z
  .strictObject({
    inputTokens: z
      .strictObject({ total: tokens, noCache: tokens, cacheRead: tokens, cacheWrite: tokens })
      .transform(({ total, noCache, cacheRead, cacheWrite }) => ({ total, noCache, cacheRead, cacheWrite })),
    outputTokens: z
      .strictObject({ total: tokens, text: tokens, reasoning: tokens })
      .transform(({ total, text, reasoning }) => ({ total, text, reasoning })),
    raw: jsonObject.exactOptional(),
  })
  .transform(({ inputTokens, outputTokens }) => ({ inputTokens, outputTokens }));

/** What the model said. */
export const recordedContentShape = { content: z.array(content), finishReason };

export const recordedUsageSchema = usage;

/** The answer of one call, as a recording keeps it. The raw usage of the provider is left out. */
export const recordedAnswerSchema = z.strictObject({ ...recordedContentShape, usage });

export type RecordedAnswer = z.infer<typeof recordedAnswerSchema>;
