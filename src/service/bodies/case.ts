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
import { createStepSchema, type Step } from '../../cases/step.ts';
import { createElementSchema } from '../../checks/elements.ts';
import { wireActionSchemas, wireWidgetParts } from '../../model/widget.ts';
import { findSchemaProblems } from '../../suite/schema-problems.ts';
import type { ServiceLimits } from '../limits.ts';

/**
 * A predicate: only its `type` is checked here, as the API does. The engine fails closed on an unknown type or a
 * malformed field, so the type claimed here is what it will find or refuse.
 */
const predicateSchema = z
  .custom<Record<string, unknown>>(
    (value) => isRecord(value) && typeof value['type'] === 'string' && !('kind' in value),
    'Expected an object with a string "type" and no "kind"',
  )
  .pipe(z.custom<Check>());

/** A predicate that can be judged: a pattern that says something, and a schema whose every word is understood. */
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

/** The closed step objects of a case, 1 to `stepsPerCase` of them. */
export function createStepsSchema(limits: Pick<ServiceLimits, 'stepsPerCase' | 'argumentCharacters'>) {
  const anyText = z.string();
  const values = {
    prompt: anyText,
    // Some clients name the server by id alone.
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
    capture: z.record(z.string(), z.string()),
  };
  return z.array(createStepSchema(values, assertionSchema)).min(1).max(limits.stepsPerCase);
}

const internalKeys = ['maxExtraToolCalls', 'allowExtraToolCalls', 'argumentMatching'];
const internalOrders: ReadonlySet<unknown> = new Set(['ignore', 'superset', 'strict']);

/** The vocabulary of inline tests, read into the public one. */
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

/** Either vocabulary, as a run's override accepts; the two are disjoint, and mixing them is refused. */
export const matchOptionsOverrideSchema: z.ZodType<MatchOptionsLayer, Record<string, unknown>> = z
  .looseObject({})
  .transform((sent, context) => {
    const isInternal = internalKeys.some((key) => key in sent) || internalOrders.has(sent['toolCallOrder']);
    const parsed = (isInternal ? testMatchOptionsSchema : matchOptionsSchema).safeParse(sent);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  });

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
