import { z } from 'zod';
import type { Check } from '../../model/assertion.ts';
import { type MatchOptionsLayer, matchOptionsSchema } from '../../model/case.ts';
import type { ServiceLimits } from '../limits.ts';
import { checkSchema, createCaseSchemas, createTestSchemas, matchOptionsOverrideSchema } from './case.ts';

/** What a suite says, its cases apart. */
export interface SuiteContent {
  name: string;
  description: string | null;
  serverIds: string[];
  model: string | null;
  /** Percent, 0..100, that a run must reach where it says nothing itself; null for all of them. */
  minimumAccuracy: number | null;
  /** Every case runs at least this often. */
  minimumIterations: number | null;
  matchOptions: MatchOptionsLayer | null;
  checks: Check[];
}

/** What a new suite says; null wherever nothing was said. */
export function createSuiteContent(said: {
  name: string;
  description?: string | undefined;
  serverIds: readonly string[];
  model?: string;
  minimumAccuracy?: number | undefined;
}): SuiteContent {
  return {
    name: said.name,
    description: said.description ?? null,
    serverIds: [...said.serverIds],
    model: said.model ?? null,
    minimumAccuracy: said.minimumAccuracy ?? null,
    minimumIterations: null,
    matchOptions: null,
    checks: [],
  };
}

/** Percent. No range is checked, as in the API: a client that sends 0.9 asks for 0.9 %. */
const passCriteriaSchema = z.strictObject({ minimumPassRate: z.number().exactOptional() });

const unread = z.unknown().exactOptional();

/** The bodies of the suite routes. */
function createSuiteSchemas(limits: ServiceLimits, tests: ReturnType<typeof createTestSchemas>) {
  return {
    create: z.strictObject({
      name: z.string().trim().min(1),
      description: z.string().exactOptional(),
      serverIds: z.array(z.string().min(1)).min(1),
      serverNames: z.array(z.string()).exactOptional(),
      model: z.string().min(1),
      provider: z.string().exactOptional(),
      passCriteria: passCriteriaSchema.exactOptional(),
      tags: z.array(z.string()).exactOptional(),
      tests: z.array(tests.ofSuite).min(1).max(limits.testsPerRequest),
    }),
    patch: z.strictObject({
      name: z.string().trim().min(1).exactOptional(),
      description: z.string().exactOptional(),
      environment: z
        .strictObject({ servers: z.array(z.string().min(1)).exactOptional(), computerEnvironment: unread })
        .exactOptional(),
      environmentIds: unread,
      executionConfig: unread,
      hosts: unread,
      settings: z
        .strictObject({
          minimumAccuracy: z.number().min(0).max(100).exactOptional(),
          minimumIterations: z.int().min(1).max(limits.iterationsPerCase).nullable().exactOptional(),
          matchOptions: matchOptionsSchema.nullable().exactOptional(),
          checks: z.array(checkSchema).nullable().exactOptional(),
          judge: unread,
        })
        .exactOptional(),
    }),
  };
}

type SuiteSchemas = ReturnType<typeof createSuiteSchemas>;
export type SuitePatchBody = z.infer<SuiteSchemas['patch']>;

/** Names the fields of a write that ask for what this service lacks. */
export function listUnsupportedSuiteFields(patch: SuitePatchBody): string[] {
  const asked: Record<string, unknown> = {
    'environment.computerEnvironment': patch.environment?.computerEnvironment,
    environmentIds: patch.environmentIds,
    executionConfig: patch.executionConfig,
    hosts: patch.hosts,
    'settings.judge': patch.settings?.judge,
  };
  return Object.keys(asked).filter((key) => asked[key] !== undefined);
}

const text = z.string().exactOptional();

/** The body that creates a run, before its shape (rerun, upsert, new suite) is known. */
function createRunSchema(limits: ServiceLimits, tests: ReturnType<typeof createTestSchemas>) {
  return z.strictObject({
    /** Read on the short path only; the path's project wins. */
    projectId: text,
    suiteId: z.string().min(1).exactOptional(),
    suiteName: z.string().trim().min(1).exactOptional(),
    suiteDescription: text,
    tests: z.array(tests.ofRun).min(1).max(limits.testsPerRequest).exactOptional(),
    serverIds: z.array(z.string().min(1)).min(1).exactOptional(),
    serverNames: z.array(z.string()).exactOptional(),
    suiteRerun: z.boolean().exactOptional(),
    /** Used for this run, and never stored. */
    modelApiKeys: z.record(z.string(), z.string()).exactOptional(),
    notes: text,
    passCriteria: passCriteriaSchema.exactOptional(),
    iterationOverride: z.int().min(1).max(limits.iterationsPerCase).exactOptional(),
    environmentId: text,
    namedHostId: text,
    caseIds: z.array(z.string().min(1)).min(1).exactOptional(),
    matchOptionsOverride: matchOptionsOverrideSchema.exactOptional(),
    /** There are no skills here, so leaving them out is what happens anyway. */
    skillsOverride: z.literal('exclude').exactOptional(),
    refreshSnapshot: z.boolean().exactOptional(),
    runGroupId: text,
    idempotencyKey: z.string().max(256).exactOptional(),
  });
}

export type RunCreateBody = z.infer<ReturnType<typeof createRunSchema>>;

/** The strict bodies whose bounds depend on the service's limits. */
export function createBodySchemas(limits: ServiceLimits) {
  const tests = createTestSchemas(limits);
  return {
    cases: createCaseSchemas(limits),
    suites: createSuiteSchemas(limits, tests),
    run: createRunSchema(limits, tests),
  };
}

export type BodySchemas = ReturnType<typeof createBodySchemas>;
