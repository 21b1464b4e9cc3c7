import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import type { Assertion, Check } from '../../model/assertion.ts';
import { createStepSchema } from '../../model/step.ts';
import { widgetSchemas } from '../../model/widget.ts';
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

const widgetAssertionSchema = z.discriminatedUnion('kind', widgetSchemas.assertions);

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
    action: z.discriminatedUnion('kind', widgetSchemas.actions),
  };
  return z.array(createStepSchema(values, assertionSchema)).min(1).max(limits.stepsPerCase);
}
