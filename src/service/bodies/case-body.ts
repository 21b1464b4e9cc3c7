import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import {
  type Assertion,
  type Check,
  findRoleProblem,
  findWrapProblem,
  type InnerCheck,
  isCombination,
} from '../../checks/assertion.ts';
import {
  type ChecksEnvelope,
  checksMode,
  createCaseShape,
  createTestShape,
  internalMatchOptionsSchema,
  type MatchOptionsLayer,
  matchOptionsSchema,
  type TestCase,
  toPublicMatchOptions,
} from '../../cases/case.ts';
import { createCaptureSchema } from '../../checks/captures.ts';
import { createStepSchema, type Step } from '../../cases/step.ts';
import { createElementSchema } from '../../checks/elements.ts';
import { wireActionSchemas, wireWidgetParts } from '../../model/widget.ts';
import { findSchemaProblems } from '../../suite/schema-problems.ts';
import type { ServiceLimits } from '../api-limits.ts';

/**
 * A predicate. Like the API, this schema checks only `type`. The engine fails an unknown type or a malformed field, so a wrong type claimed
 * here does no harm.
 */
const predicateSchema = z
  .custom<Record<string, unknown>>(
    (value) => isRecord(value) && typeof value['type'] === 'string' && !('kind' in value),
    'Expected an object with a string "type" and no "kind"',
  )
  .pipe(z.custom<Check>());

/** A predicate that can be judged: its pattern is not empty, and its schema has only known keywords. */
export const checkSchema = predicateSchema.superRefine(refuseUnusable);

function refuseUnusable(
  assertion: Assertion,
  context: z.RefinementCtx,
  base: ReadonlyArray<string | number> = [],
): void {
  if (!('type' in assertion)) return;
  const addIssue = (path: ReadonlyArray<string | number>, message: string) =>
    context.addIssue({ code: 'custom', path: [...base, ...path], message });
  const problem = findRoleProblem(assertion);
  if (problem !== null) addIssue([problem.field], problem.message);
  if (assertion.type !== 'not' && !isCombination(assertion)) return refuseUnusableFields(assertion, context, base);
  const refusePart = (part: InnerCheck, path: ReadonlyArray<string | number>) => {
    const message = findWrapProblem(assertion.type, part);
    if (message === null) refuseUnusable(part, context, [...base, ...path]);
    else addIssue(path, message);
  };
  if (assertion.type === 'not') return refusePart(assertion.assertion, ['assertion']);
  const { type, assertions } = assertion;
  if (!Array.isArray(assertions) || assertions.length === 0) {
    return addIssue(['assertions'], `\`${type}\` wraps a list of assertions`);
  }
  for (const [index, part] of assertions.entries()) refusePart(part, ['assertions', index]);
}

function refuseUnusableFields(check: Check, context: z.RefinementCtx, base: ReadonlyArray<string | number>): void {
  if ('pattern' in check && check.pattern === '') {
    context.addIssue({ code: 'custom', path: [...base, 'pattern'], message: 'An empty pattern matches everything' });
  }
  if (check.type !== 'toolResultMatchesSchema' || check.schema === undefined) return;
  for (const { path, message } of findSchemaProblems(check.schema)) {
    context.addIssue({ code: 'custom', path: [...base, 'schema', ...path], message });
  }
}

const widgetAssertionSchema = createElementSchema(wireWidgetParts);

const assertionSchema = z
  .union(
    [predicateSchema, widgetAssertionSchema],
    'Expected a predicate, which has a "type", or a widget assertion, which has a known "kind" and its fields',
  )
  .superRefine(refuseUnusable);

/** Creates the schema of the steps of a case: closed objects, 1 to `stepsPerCase`. */
export function createStepsSchema(limits: Pick<ServiceLimits, 'stepsPerCase' | 'argumentCharacters'>) {
  const anyText = z.string();
  const values = {
    prompt: anyText,
    // Optional, because some clients give only the id of the server.
    serverName: anyText.default(''),
    serverId: anyText,
    toolName: anyText.min(1),
    widgetToolName: anyText,
    arguments: z
      .record(z.string(), z.unknown())
      .refine(
        (value) => JSON.stringify(value).length <= limits.argumentCharacters,
        `Expected at most ${limits.argumentCharacters} characters when serialised`,
      ),
    renderTimeoutMs: z.number().max(120_000),
    action: z.discriminatedUnion('kind', wireActionSchemas),
    capture: z.record(z.string(), createCaptureSchema({ pointer: anyText, pattern: anyText })),
  };
  return z.array(createStepSchema(values, assertionSchema)).min(1).max(limits.stepsPerCase);
}

const internalKeys = ['maxExtraToolCalls', 'allowExtraToolCalls', 'argumentMatching'];
const internalOrders: ReadonlySet<unknown> = new Set(['ignore', 'superset', 'strict']);

/** Turns the vocabulary of inline tests into the public one. */
const testMatchOptionsSchema: z.ZodType<
  MatchOptionsLayer,
  z.input<typeof internalMatchOptionsSchema>
> = internalMatchOptionsSchema.transform((sent) => {
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

/** Accepts either vocabulary, as the override of a run may use both. They have no words in common, and mixing them is refused. */
export const matchOptionsOverrideSchema: z.ZodType<MatchOptionsLayer, Record<string, unknown>> = z
  .looseObject({})
  .transform((sent, context) => {
    const isInternal = internalKeys.some((key) => key in sent) || internalOrders.has(sent['toolCallOrder']);
    const parsed = (isInternal ? testMatchOptionsSchema : matchOptionsSchema).safeParse(sent);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  });

/** The content of a case, independent of the vocabulary that it came in. */
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
  /** Only inline tests can set it, and no answer contains it. */
  advancedConfig?: TestCase['advancedConfig'];
}

export interface CaseModel {
  model: string;
  provider?: string;
}

/** The declared id of a case. It is checked separately, because a batch reports it under its own code. */
export const declaredIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
const declaredIdRule = 'Expected 1 to 128 of A-Z, a-z, 0-9, _ and -';

/** An envelope without a mode replaces the suite's checks if it has a list. Dropping the list silently would let too much pass. */
const checksSchema = z
  .strictObject({
    mode: checksMode.exactOptional(),
    list: z.array(checkSchema).exactOptional(),
  })
  .transform(({ mode, list }): ChecksEnvelope => ({
    mode: mode ?? (list === undefined ? 'inherit' : 'replace'),
    list: list ?? [],
  }));

type CaseLimits = Pick<ServiceLimits, 'iterationsPerCase' | 'stepsPerCase' | 'argumentCharacters'>;

function createValues(limits: CaseLimits) {
  return {
    title: z.string().min(1),
    steps: createStepsSchema(limits),
    iterations: z.int().min(1).max(limits.iterationsPerCase),
  };
}

/** Creates the schemas of the bodies of the case routes, in the public vocabulary. */
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

/** Reads the fields of a new case, with the API's defaults for absent ones. The declared id is not part of the content. */
export function toCaseContent({ id: _id, title, steps, ...optional }: CaseCreateBody): CaseContent {
  return patchCaseContent({ title, steps, iterations: 1, isNegative: false, models: [] }, optional);
}

/** Applies changes to the content of a case. `null` removes its match options or checks. */
export function patchCaseContent(before: CaseContent, patch: CasePatchBody): CaseContent {
  const { matchOptions, checks, ...fields } = patch;
  const after: CaseContent = { ...before, ...fields };
  if (matchOptions === null) delete after.matchOptions;
  else if (matchOptions !== undefined) after.matchOptions = matchOptions;
  if (checks === null) delete after.checks;
  else if (checks !== undefined) after.checks = checks;
  return after;
}

/** Creates the schemas of inline tests, which have other names for the fields and another vocabulary for match options. */
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

export type TestSchemas = ReturnType<typeof createTestSchemas>;

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
