import { z } from 'zod';
import {
  checksMode,
  createCaseShape,
  createTestShape,
  matchOptionsSchema,
  type ChecksEnvelope,
  type MatchOptionsLayer,
  type TestCase,
} from '../../model/case.ts';
import type { Step } from '../../model/step.ts';
import type { ServiceLimits } from '../limits.ts';
import { testMatchOptionsSchema } from './match-options.ts';
import { checkSchema, createStepsSchema } from './step.ts';

/** What a case says, whichever vocabulary it came in. */
export interface CaseContent {
  title: string;
  steps: Step[];
  iterations: number;
  isNegative: boolean;
  expectedOutput?: string;
  scenario?: string;
  models: CaseModel[];
  matchOptions?: MatchOptionsLayer;
  checks?: ChecksEnvelope;
  /** Inline tests alone can set it; no answer shows it. */
  advancedConfig?: TestCase['advancedConfig'];
}

export interface CaseModel {
  model: string;
  provider?: string;
}

/** What a client may call a case; checked apart from the rest, because a batch reports it under a code of its own. */
export const declaredIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
const declaredIdRule = 'Expected 1 to 128 of A-Z, a-z, 0-9, _ and -';

/** An envelope without a mode means its own list where it has one: dropping checks in silence would pass too much. */
const checksSchema: z.ZodType<ChecksEnvelope> = z
  .strictObject({
    mode: checksMode.exactOptional(),
    list: z.array(checkSchema).exactOptional(),
  })
  .transform(({ mode, list }) => ({ mode: mode ?? (list === undefined ? 'inherit' : 'replace'), list: list ?? [] }));

type CaseLimits = Pick<ServiceLimits, 'iterationsPerCase' | 'stepsPerCase' | 'argumentCharacters'>;

function createValues(limits: CaseLimits) {
  return {
    title: z.string().min(1),
    steps: createStepsSchema(limits),
    iterations: z.int().min(1).max(limits.iterationsPerCase),
  };
}

/** The bodies of the case routes, in the vocabulary that cases are read and written in. */
export function createCaseSchemas(limits: CaseLimits) {
  const fields = createCaseShape({
    ...createValues(limits),
    matchOptions: matchOptionsSchema.nullable(),
    checks: checksSchema.nullable(),
  });
  const id = z.string().regex(declaredIdPattern, declaredIdRule);
  return {
    create: z.strictObject({ id: id.exactOptional(), ...fields }),
    patch: z.strictObject({ ...fields, title: fields.title.exactOptional(), steps: fields.steps.exactOptional() }),
  };
}

type CaseSchemas = ReturnType<typeof createCaseSchemas>;
export type CaseCreateBody = z.infer<CaseSchemas['create']>;
export type CasePatchBody = z.infer<CaseSchemas['patch']>;

/** Reads a new case's fields, with the API's defaults for the absent ones. The declared id is not content. */
export function toCaseContent({ id: _id, title, steps, ...optional }: CaseCreateBody): CaseContent {
  return patchCaseContent({ title, steps, iterations: 1, isNegative: false, models: [] }, optional);
}

/** Applies a write to what a case says already; `null` takes its match options or checks away. */
export function patchCaseContent(before: CaseContent, patch: CasePatchBody): CaseContent {
  const { matchOptions, checks, ...fields } = patch;
  const after: CaseContent = { ...before, ...fields };
  if (matchOptions === null) delete after.matchOptions;
  else if (matchOptions !== undefined) after.matchOptions = matchOptions;
  if (checks === null) delete after.checks;
  else if (checks !== undefined) after.checks = checks;
  return after;
}

/** Inline tests, which name the same things differently and match options in the other vocabulary. */
export function createTestSchemas(limits: CaseLimits) {
  const fields = createTestShape({
    ...createValues(limits),
    matchOptions: testMatchOptionsSchema,
    checks: checksSchema,
  });
  const { model, provider, runs } = fields;
  return {
    ofSuite: z.strictObject({ ...fields, runs: runs.default(1) }).transform(toContent),
    ofRun: z.strictObject({ ...fields, model: model.unwrap(), provider: provider.unwrap() }).transform(toContent),
  };
}

type TestFields = Omit<TestCase, 'matchOptions'> & { matchOptions?: MatchOptionsLayer };

function toContent(test: TestFields): CaseContent {
  const { runs, isNegativeTest, predicates, model, provider, ...shared } = test;
  return {
    ...shared,
    iterations: runs,
    isNegative: isNegativeTest ?? false,
    models: model === undefined ? [] : [{ model, ...(provider === undefined ? {} : { provider }) }],
    ...(predicates === undefined ? {} : { checks: predicates }),
  };
}
