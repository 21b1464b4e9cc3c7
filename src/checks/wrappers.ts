import { z } from 'zod';
import { combinationTypes, type CombinedCheck, findWrapProblem } from './assertion.ts';
import { type Judgement, leaveUnmeasured } from './judgement.ts';
import { policy } from './parts.ts';
import { joinWithin, maxListLength } from './reasons.ts';
import type { CheckRegistry } from './registry.ts';

/** The conditions under which wrapping checks pass: their cells in docs/evals.md. */
export const wrapperDocs: Readonly<Record<'not' | CombinedCheck['type'], string>> = {
  not: 'the assertion that it wraps fails',
  anyOf: 'one of these assertions passes',
  allOf: 'all of these assertions pass',
};

/** Creates the schema of a check that passes if another check fails. The schema of the inner check differs between file and wire. */
export function createNotSchema<Assertion extends z.ZodType>(assertion: Assertion) {
  return z.strictObject({ type: z.literal('not'), assertion, ...policy });
}

/** Creates the schema of a check that combines several checks. */
export function createCombinationSchema<Assertions extends z.ZodType>(assertions: Assertions) {
  return z.strictObject({ type: z.literal(combinationTypes), assertions, ...policy });
}

/** Creates the schemas of wrapping checks on the wire. */
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

/** Negates a judgement. An unmeasured judgement stays unmeasured. */
export function negate(judgement: Judgement): Judgement {
  const { state, reason, failsClosed } = judgement;
  if (failsClosed === 'malformed' || state === 'unmeasured') return judgement;
  if (failsClosed === 'unmeasured') return leaveUnmeasured(reason);
  return { state: state === 'passed' ? 'failed' : 'passed', reason };
}

/**
 * Combines several assertions with three-valued logic. `anyOf` passes with the first that passes, and fails if all fail. `allOf` fails with
 * the first that fails, and passes if all pass. Otherwise the result is unmeasured. A malformed part always decides.
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
    // Prefers a failure with evidence from the transcript over one without.
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
