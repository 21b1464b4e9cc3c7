import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import type { Assertion, Check, WidgetAssertion } from '../../model/assertion.ts';
import { findSchemaProblems } from '../../suite/schema-problems.ts';
import type { ServiceLimits } from '../limits.ts';

/**
 * A predicate: only its `type` is checked here, as the API does. The engine fails closed on an unknown type or a
 * malformed field, so the type claimed here is what it will find or refuse.
 */
const predicateSchema = z.custom<Check>(
  (value) => isRecord(value) && typeof value['type'] === 'string' && !('kind' in value),
  'Expected an object with a string "type" and no "kind"',
);

/** A predicate that can be judged: a pattern that says something, and a schema whose every word is understood. */
export const checkSchema = predicateSchema.superRefine(refuseUnusable);

function refuseUnusable(assertion: Assertion, context: z.RefinementCtx): void {
  if (!('type' in assertion)) return;
  if ('pattern' in assertion && assertion.pattern === '') {
    context.addIssue({ code: 'custom', path: ['pattern'], message: 'An empty pattern matches everything' });
  }
  if (assertion.type !== 'toolResultSchema' || assertion.schema === undefined) return;
  for (const { path, message } of findSchemaProblems(assertion.schema)) {
    context.addIssue({ code: 'custom', path: ['schema', ...path], message });
  }
}

const locatorSchema = z
  .strictObject({
    role: z
      .strictObject({ role: z.string(), name: z.string().exactOptional(), exact: z.boolean().exactOptional() })
      .exactOptional(),
    text: z.string().exactOptional(),
    css: z.string().exactOptional(),
    testId: z.string().exactOptional(),
    nth: z.int().exactOptional(),
  })
  .refine(
    ({ role, text, css, testId }) => [role, text, css, testId].some((part) => part !== undefined),
    'Expected at least one of role, text, css and testId',
  );

const widgetAssertionSchema: z.ZodType<WidgetAssertion> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('textVisible'), toolName: z.string(), text: z.string() }),
  z.strictObject({ kind: z.literal('elementVisible'), toolName: z.string(), target: locatorSchema }),
  z.strictObject({ kind: z.literal('elementHidden'), toolName: z.string(), target: locatorSchema }),
  z.strictObject({ kind: z.literal('inputValue'), toolName: z.string(), target: locatorSchema, equals: z.string() }),
  z.strictObject({ kind: z.literal('widgetToolCalled'), toolName: z.string(), calledToolName: z.string() }),
]);

const assertionSchema = z
  .union(
    [predicateSchema, widgetAssertionSchema],
    'Expected a predicate, which has a "type", or a widget assertion, which has a known "kind" and its fields',
  )
  .superRefine(refuseUnusable);

const actionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('click'),
    target: locatorSchema,
    clickType: z.enum(['left', 'double', 'right']).exactOptional(),
  }),
  z.strictObject({ kind: z.literal('type'), target: locatorSchema, text: z.string().max(5000) }),
  z.strictObject({ kind: z.literal('key'), key: z.string() }),
  z.strictObject({
    kind: z.literal('scroll'),
    direction: z.enum(['up', 'down']),
    amount: z.number().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('wait'), ms: z.number().min(0).max(30_000) }),
]);

const id = z.string().min(1);

/** The closed step objects of a case, 1 to `stepsPerCase` of them. */
export function createStepsSchema(limits: Pick<ServiceLimits, 'stepsPerCase' | 'argumentCharacters'>) {
  const argumentsSchema = z
    .record(z.string(), z.unknown())
    .refine(
      (value) => JSON.stringify(value).length <= limits.argumentCharacters,
      `Expected at most ${limits.argumentCharacters} characters when serialised`,
    );
  const stepSchema = z.discriminatedUnion('kind', [
    z.strictObject({ id, kind: z.literal('prompt'), prompt: z.string() }),
    z.strictObject({
      id,
      kind: z.literal('toolCall'),
      // Some clients name the server by id alone.
      serverName: z.string().default(''),
      serverId: z.string().exactOptional(),
      toolName: z.string().min(1),
      arguments: argumentsSchema,
      renderTimeoutMs: z.number().max(120_000).exactOptional(),
    }),
    z.strictObject({ id, kind: z.literal('interact'), toolName: z.string(), action: actionSchema }),
    z.strictObject({ id, kind: z.literal('assert'), assertion: assertionSchema }),
  ]);
  return z.array(stepSchema).min(1).max(limits.stepsPerCase);
}
