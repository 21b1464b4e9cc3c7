import { z } from 'zod';
import type { Check } from '../../model/assertion.ts';
import { type MatchOptionsLayer, matchOptionsSchema } from '../../model/case.ts';
import type { ServiceLimits } from '../../service/limits.ts';
import { checkSchema, createCaseSchemas, createTestSchemas, type TestSchemas } from '../../service/bodies/case.ts';
import { createRunSchema, createSuiteSchema } from '../../service/bodies/suite.ts';

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

const unread = z.unknown().exactOptional();

/** The bodies of the suite routes. */
function createSuiteSchemas(limits: ServiceLimits, tests: TestSchemas) {
  return {
    create: createSuiteSchema(limits, tests),
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
