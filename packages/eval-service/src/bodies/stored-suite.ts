import type { z } from 'zod';
import type { Check } from '../../../../src/checks/assertion.ts';
import type { MatchOptionsLayer } from '../../../../src/cases/case.ts';
import type { runOperations } from '../../../../src/service/operations/runs.ts';
import type { Caller } from '../callers.ts';

/** The settings of a suite, without its cases. */
export interface SuiteContent {
  name: string;
  description: string | null;
  serverIds: string[];
  model: string | null;
  /** The minimum pass rate of a run that sets none, in percent, 0..100; null means 100. */
  minimumAccuracy: number | null;
  /** Every case runs at least so many times. */
  minimumIterations: number | null;
  matchOptions: MatchOptionsLayer | null;
  checks: Check[];
  /** The system prompt, if the case and the environment or host of the run set none. */
  systemPrompt?: string;
  temperature?: number;
  /** The environments of the suite. If there are any, the servers of the suite are not used. */
  environmentIds?: string[];
  hosts?: SuiteHost[];
  judge?: JudgeSettings;
  schedule?: SuiteSchedule;
}

/** A host that a run of the suite may choose. */
export interface SuiteHost {
  hostId: string;
  /** Replace the servers that are attached to the host. */
  serverIds?: string[];
}

export interface JudgeSettings {
  enabled?: boolean;
  model?: string | null;
  /** True if each run is judged as soon as it ends. */
  autoRun?: boolean;
  /** Fraction, 0..1. */
  threshold?: number;
}

/** The schedule of a suite that runs by itself. */
export interface SuiteSchedule {
  enabled: boolean;
  /** Null if it was never set. */
  intervalMinutes: number | null;
  /** The environment of the scheduled runs, one of the suite's. */
  environmentId: string | null;
  /** Milliseconds since the epoch; null while the schedule is disabled. */
  dueAt: number | null;
  /** Counts how often the clock went back, because the same due time may then occur twice. */
  rewinds: number;
  /** The user who enabled it, and for whom the runs are made. Absent in schedules of older versions, whose runs carry no user's tokens. */
  caller?: Caller;
}

/** Creates the content of a new suite. Settings that are not given are null. */
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

export type RunCreateBody = z.infer<typeof runOperations.createEvalRun.body>;
