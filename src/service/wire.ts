import { z } from 'zod';

/**
 * The answers of the eval service. Unknown fields are ignored and statuses are plain strings. Fields that real deployments leave out or
 * send as null are optional, because a client must work with older and newer services. `parse.ts` turns these answers into the types of
 * `model/`, which the rest of the program uses.
 */
const timestampMs = z.number().nullish();
const text = z.string().nullish();
const count = z.number().nonnegative().nullish();
/** Shown to people and never judged, so a wrong shape reads as absent instead of failing. */
const openObject = z.record(z.string(), z.unknown()).nullish().catch(undefined);

/** A page of a collection. The last page has no cursor, a null one or an empty one. */
function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullish() });
}

export const deletedSchema = z.object({ id: z.string(), deleted: z.literal(true) });

export const meSchema = z.object({
  id: z.string(),
  email: text,
  name: text,
  imageUrl: text,
  profilePictureUrl: text,
  plan: text,
  createdAt: timestampMs,
  updatedAt: timestampMs,
});

export const projectSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: text,
  icon: text,
  organizationId: text,
  visibility: text,
  role: text,
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export const projectPageSchema = pageOf(projectSchema);
export type WireProject = z.infer<typeof projectSchema>;

/** An MCP server in a project. `url` is null for servers over stdio. */
export const serverSchema = z.object({
  id: z.string(),
  projectId: text,
  name: z.string(),
  enabled: z.boolean().nullish(),
  transportType: z.string(),
  url: text,
  useOAuth: z.boolean().nullish(),
  hasClientSecret: z.boolean().nullish(),
  oauthScopes: z.array(z.string()).nullish(),
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export const serverPageSchema = pageOf(serverSchema);
export type WireServer = z.infer<typeof serverSchema>;

export const suiteSummarySchema = z.object({
  id: z.string(),
  name: text,
  projectId: text,
  latestRun: z
    .object({
      id: text,
      status: text,
      passRate: z.number().nullish(),
      passed: z.number().nullish(),
      failed: z.number().nullish(),
      createdAt: timestampMs,
    })
    .nullish(),
  totals: z.object({ passed: count, failed: count, runs: count }).nullish(),
  /** Oldest first. Deployments use different scales, so nothing is computed from it. */
  passRateTrend: z.array(z.number()).nullish(),
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export const suitePageSchema = pageOf(suiteSummarySchema);
export type WireSuiteSummary = z.infer<typeof suiteSummarySchema>;

export const suiteDetailSchema = z.object({
  id: z.string(),
  name: text,
  description: text,
  projectId: text,
  environment: z.looseObject({ servers: z.array(z.string()).nullish() }).nullish(),
  executionConfig: z.looseObject({ model: text }).nullish(),
  settings: z
    .looseObject({
      /** In percent, 0..100. */
      minimumAccuracy: z.number().nullish(),
      minimumIterations: z.number().nullish(),
    })
    .nullish(),
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export type WireSuiteDetail = z.infer<typeof suiteDetailSchema>;

/** The cases that were written. `committed` keeps the order of the sent tests. */
const caseUpsertSchema = z.object({
  committed: z.array(z.object({ id: text, name: text })).nullish(),
  failed: z.array(z.object({ id: text, name: text, error: text })).nullish(),
});

const namedServers = z.array(z.object({ id: z.string(), name: text })).nullish();

export const suiteCreatedSchema = z.object({
  suiteId: z.string(),
  name: text,
  servers: namedServers,
  caseUpsert: caseUpsertSchema,
});

/** A case in an answer. Steps, checks and match options stay open, because they are listed and compared, and never executed here. */
export const caseSchema = z.object({
  id: z.string(),
  declaredId: text,
  title: text,
  steps: z.array(z.looseObject({ id: z.string(), kind: z.string() })).nullish(),
  expectedOutput: text,
  iterations: z.number().nullish(),
  isNegative: z.boolean().nullish(),
  scenario: text,
  models: z.array(z.object({ model: z.string(), provider: text })).nullish(),
  matchOptions: openObject,
  checks: openObject,
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export const casePageSchema = pageOf(caseSchema);
export type WireCase = z.infer<typeof caseSchema>;

/** The answer to a batch. Its status is 201 even if some cases failed. `index` is the index of the case in the request. */
export const caseBatchResultSchema = z.object({
  created: z.array(
    z.object({ index: z.number(), id: z.string(), declaredId: text, title: text, replayed: z.boolean().nullish() }),
  ),
  failed: z.array(
    z.object({ index: z.number(), title: text, declaredId: text, code: z.string(), message: z.string() }),
  ),
});

/** The answer to a launch. `deduped` means that the service had received the same launch before and returns the run that it started. */
export const runCreatedSchema = z.object({
  runId: z.string(),
  suiteId: z.string(),
  status: z.string(),
  deduped: z.boolean().nullish(),
  caseUpsert: caseUpsertSchema.nullish(),
  servers: namedServers,
  environment: openObject,
  runGroupId: text,
});
export type WireRunCreated = z.infer<typeof runCreatedSchema>;

export const runSchema = z.object({
  id: z.string(),
  suiteId: z.string(),
  runNumber: z.number().nullish(),
  status: z.string(),
  /** Often missing on completed runs. The counts decide. */
  result: text,
  summary: z.object({ total: count, passed: count, failed: count, passRate: z.number().nullish() }).nullish(),
  source: text,
  notes: text,
  createdAt: timestampMs,
  completedAt: timestampMs,
});
export const runPageSchema = pageOf(runSchema);
export type WireRun = z.infer<typeof runSchema>;

/** Older data has `name` and `args`, newer `toolName` and `arguments`. */
export const toolCallSchema = z.object({ toolName: text, name: text, arguments: openObject, args: openObject });
export type WireToolCall = z.infer<typeof toolCallSchema>;

const tokens = z.int().nonnegative().max(1e9).nullish();

/** An open document of the service, with these names. Only the gate's own service counts `modelCalls` and `replayedCalls`. */
const usageSchema = z.object({
  inputTokens: tokens,
  cachedInputTokens: tokens,
  outputTokens: tokens,
  modelCalls: tokens,
  replayedCalls: tokens,
  unmeasuredCalls: tokens,
});

export const iterationSchema = z.object({
  id: z.string(),
  testCaseId: text,
  title: text,
  iterationNumber: z.number().nullish(),
  status: z.string(),
  result: text,
  model: text,
  provider: text,
  startedAt: timestampMs,
  /** Not negative, because a negative value would make room in a budget. */
  durationMs: z.number().nonnegative().nullish(),
  tokensUsed: z.number().nonnegative().nullish(),
  usage: usageSchema.nullish().catch(null),
  /** Only `serve` sends it. */
  judges: z
    .array(z.object({ model: z.string(), isGating: z.boolean(), usage: usageSchema }))
    .nullish()
    .catch(null),
  actualToolCalls: z.array(toolCallSchema).nullish(),
  expectedToolCalls: z.array(toolCallSchema).nullish(),
  error: text,
});
export const iterationPageSchema = pageOf(iterationSchema);
export type WireIteration = z.infer<typeof iterationSchema>;

export const stepSchema = z.object({
  stepId: z.string(),
  stepIndex: z.number(),
  kind: z.string(),
  /** Only the embedded service sends it. */
  phase: z.enum(['setup', 'teardown']).nullish().catch(null),
  status: z.string(),
  reason: text,
  evidence: z
    .looseObject({
      toolCalls: z
        .array(z.object({ name: z.string(), args: openObject, ok: z.boolean().nullish(), error: text }))
        .nullish(),
    })
    .nullish(),
});
export const stepPageSchema = pageOf(stepSchema);
export type WireStep = z.infer<typeof stepSchema>;

/** An open document: every part may be missing, and there may be others. */
export const traceSchema = z.looseObject({
  messages: z.array(z.unknown()).nullish(),
  spans: z.array(z.unknown()).nullish(),
  prompts: z.array(z.unknown()).nullish(),
});
export type WireTrace = z.infer<typeof traceSchema>;

/** The answer that opens a tunnel to a server of this job. The `previous` fields hold the earlier values of an existing record. */
export const tunnelGrantSchema = z.object({
  serverId: z.string().min(1),
  name: text,
  existed: z.boolean().nullish(),
  previousUrl: text,
  previousTransportType: text,
  slug: text,
  url: z.url(),
  connectToken: z.string().min(1),
  connectTokenExpiresAt: timestampMs,
  relayWsUrl: z.string().min(1),
  secretVersion: z.number().nullish(),
});
export type WireTunnelGrant = z.infer<typeof tunnelGrantSchema>;

export const tunnelClosedSchema = z.object({ serverId: text, status: z.literal('closed') });

/** A refusal of ingestion, which may come with status 200. */
export const ingestRefusalSchema = z.object({ ok: z.literal(false), error: z.unknown() });

/** A run that was executed elsewhere. For a reused run, the service may leave out its status, result and summary. */
export const ingestedRunSchema = z.object({
  suiteId: z.string(),
  runId: z.string(),
  projectId: text,
  reused: z.boolean().nullish(),
  status: text,
  result: text,
  summary: z.object({ total: count, passed: count, failed: count }).nullish().catch(undefined),
});
export type WireIngestedRun = z.infer<typeof ingestedRunSchema>;

export const ingestedIterationsSchema = z.object({ inserted: count, skipped: count, total: count });
export type WireIngestedIterations = z.infer<typeof ingestedIterationsSchema>;
