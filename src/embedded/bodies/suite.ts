import { z } from 'zod';
import type { Check } from '../../model/assertion.ts';
import { matchOptionsSchema, type MatchOptionsLayer } from '../../model/case.ts';
import type { ServiceLimits } from '../limits.ts';
import type { createTestSchemas } from './case.ts';
import { checkSchema } from './step.ts';

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
export const passCriteriaSchema = z.strictObject({ minimumPassRate: z.number().exactOptional() });

const unread = z.unknown().exactOptional();

/** The bodies of the suite routes. */
export function createSuiteSchemas(limits: ServiceLimits, tests: ReturnType<typeof createTestSchemas>) {
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
