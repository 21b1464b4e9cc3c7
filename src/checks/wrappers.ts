import { z } from 'zod';
import { combinationTypes, type CombinedCheck, findWrapProblem } from './assertion.ts';
import { type Judgement, leaveUnmeasured } from './judgement.ts';
import { policy } from './parts.ts';
import { joinWithin, maxListLength } from './reasons.ts';
import type { CheckRegistry } from './registry.ts';

/** When checks that wrap others pass: their cells in docs/evals.md. */
export const wrapperDocs: Readonly<Record<'not' | CombinedCheck['type'], string>> = {
  not: 'the assertion that it wraps fails',
  anyOf: 'one of these assertions passes',
  allOf: 'all of these assertions pass',
};

/** A check that holds where another does not. What it wraps differs between the file and the wire. */
export function createNotSchema<Assertion extends z.ZodType>(assertion: Assertion) {
  return z.strictObject({ type: z.literal('not'), assertion, ...policy });
}

/** Several checks as one. */
export function createCombinationSchema<Assertions extends z.ZodType>(assertions: Assertions) {
  return z.strictObject({ type: z.literal(combinationTypes), assertions, ...policy });
}

/** Checks that wrap others, as the wire has them. */
export function createWrapperSchemas(registry: CheckRegistry) {
  const negated = z.custom<unknown>().superRefine((check, context) => {
    const message = findWrapProblem('not', check, registry);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
  const combination = createCombinationSchema(z.array(z.custom<unknown>()).min(1)).superRefine(
    ({ type, assertions }, context) => {
      for (const [index, check] of assertions.entries()) {
        const message = findWrapProblem(type, check, registry);
        if (message !== null) context.addIssue({ code: 'custom', path: ['assertions', index], message });
      }
    },
  );
  return { not: createNotSchema(negated), anyOf: combination, allOf: combination };
}

/** The judgement of the opposite, which says as much about the transcript: what was not measured stays that. */
export function negate(judgement: Judgement): Judgement {
  const { state, reason, failsClosed } = judgement;
  if (failsClosed === 'malformed' || state === 'unmeasured') return judgement;
  if (failsClosed === 'unmeasured') return leaveUnmeasured(reason);
  return { state: state === 'passed' ? 'failed' : 'passed', reason };
}

/**
 * Judges several assertions as one, in the logic of three values: `anyOf` passes with the first that passes, and fails if all fail; `allOf`
 * fails with the first that fails, and passes if all pass. Otherwise, the result is not measured. A part that cannot be read decides.
 */
export async function judgeCombination<Part>(
  { type, assertions }: { type: CombinedCheck['type']; assertions: readonly Part[] },
  judge: (assertion: Part) => Promise<Judgement>,
): Promise<Judgement> {
  const judgements: Judgement[] = [];
  for (const assertion of assertions) judgements.push(await judge(assertion));
  const decisive = type === 'anyOf' ? 'passed' : 'failed';
  const found =
    judgements.find(({ failsClosed }) => failsClosed === 'malformed') ??
    // Of two that fail, one that says something about the transcript decides.
    judgements.find(({ state, failsClosed }) => state === decisive && failsClosed === undefined) ??
    judgements.find(({ state }) => state === decisive) ??
    judgements.find(({ state }) => state === 'unmeasured');
  if (found !== undefined) return found;
  const reason = joinWithin(
    judgements.map((each) => each.reason.replace(/\.$/, '')),
    maxListLength,
  );
  if (type === 'allOf') return { state: 'passed', reason: `${reason}.` };
  const failsClosed = judgements.find((each) => each.failsClosed !== undefined)?.failsClosed;
  return { state: 'failed', reason: `none holds: ${reason}.`, ...(failsClosed !== undefined && { failsClosed }) };
}
