import type { z } from 'zod';
import type { Check } from '../../../../src/model/assertion.ts';
import type { MatchOptionsLayer } from '../../../../src/model/case.ts';
import type { ServiceLimits } from '../../../../src/service/limits.ts';
import type { Caller } from '../callers.ts';
import { createCaseSchemas, createTestSchemas } from '../../../../src/service/bodies/case.ts';
import { createCaseBatchSchema } from '../../../../src/service/bodies/case-requests.ts';
import { createRunSchema, createSuiteSchema } from '../../../../src/service/bodies/suite.ts';

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
  /** Of prompts, where neither the case nor the environment or host of the run says one. */
  systemPrompt?: string;
  temperature?: number;
  /** The environments that it runs in; servers of its own are not used then. */
  environmentIds?: string[];
  hosts?: SuiteHost[];
  judge?: JudgeSettings;
  schedule?: SuiteSchedule;
}

/** A host that runs of the suite may choose. */
export interface SuiteHost {
  hostId: string;
  /** Instead of those attached to the host. */
  serverIds?: string[];
}

export interface JudgeSettings {
  enabled?: boolean;
  model?: string | null;
  /** Whether each run is judged as soon as it has ended. */
  autoRun?: boolean;
  /** Fraction, 0..1. */
  threshold?: number;
}

/** When a suite runs by itself. */
export interface SuiteSchedule {
  enabled: boolean;
  /** Null where none was ever set. */
  intervalMinutes: number | null;
  /** The one of the suite's environments that runs take place in. */
  environmentId: string | null;
  /** In milliseconds of the epoch; null while it is disabled. */
  dueAt: number | null;
  /** How often the clock went back meanwhile: a due time may come twice then. */
  rewinds: number;
  /** Who enabled it: runs are made for that user. Absent in schedules of older versions, whose runs carry no tokens of a user. */
  caller?: Caller;
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

export type RunCreateBody = z.infer<ReturnType<typeof createRunSchema>>;

function buildBodySchemas(limits: ServiceLimits) {
  const tests = createTestSchemas(limits);
  return {
    cases: { ...createCaseSchemas(limits), batch: createCaseBatchSchema(limits) },
    suites: { create: createSuiteSchema(limits, tests) },
    run: createRunSchema(limits, tests),
  };
}

export type BodySchemas = ReturnType<typeof buildBodySchemas>;

/** Building takes milliseconds, and most services of a process have the same limits. */
const builtSchemas = new WeakMap<ServiceLimits, BodySchemas>();

/** The strict bodies whose bounds depend on the service's limits. */
export function createBodySchemas(limits: ServiceLimits): BodySchemas {
  const schemas = builtSchemas.get(limits) ?? buildBodySchemas(limits);
  builtSchemas.set(limits, schemas);
  return schemas;
}
