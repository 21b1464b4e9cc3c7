import { z } from 'zod';
import { exploredRequestSchema } from './explored-request.ts';
import { count } from './quantities.ts';

/** How the answers of a change differ from those of its base, worst first. */
export const behaviourKinds = ['broken', 'lost', 'changed', 'slower', 'fixed'] as const;
export type BehaviourKind = (typeof behaviourKinds)[number];

/**
 * How a difference counts: `fail` fails the verdict, `review` is shown to a person, `ignore` is only listed, and `accepted` was accepted by
 * its id or by a label.
 */
export const behaviourDispositions = ['fail', 'review', 'ignore', 'accepted'] as const;
export type BehaviourDisposition = (typeof behaviourDispositions)[number];

const differenceShape = {
  id: z
    .string()
    .describe('Stable: a hash of the subject, the pointer and the kind. Another run or machine gives the same id.'),
  kind: z
    .enum(behaviourKinds)
    .describe(
      '`broken`: it worked, and now is an error, a crash, a hang or an invalid result. `lost`: it no longer shows the effect of an earlier call of the session, or of an argument. `fixed`: the reverse. `changed`: another value or another error. `slower`: at least 100 ms and twice as slow.',
    ),
  tool: z
    .string()
    .nullable()
    .describe('The tool, the URI of the resource, or the prompt or template; null if it is the whole server.'),
  pointer: z
    .string()
    .describe(
      'The value in the answer, as a JSON Pointer in which `*` is each item of a list; empty if it is the whole answer. In a text that is JSON, it continues.',
    ),
  message: z.string().describe('The difference, in words.'),
  before: z.string().describe('The part of the answer of the base that differs.'),
  after: z.string().describe('The same part of the answer of the change.'),
  session: z
    .array(exploredRequestSchema)
    .describe('The shortest known session that shows it, from a new copy of the workspace.'),
  case: z
    .string()
    .describe(
      'The session as a case of an evals file. It asserts the answer of the base, or that of the change if it is `fixed`.',
    ),
};

const measuredDifferenceSchema = z.object(differenceShape);
/** A difference before a policy decides how it counts. */
export type MeasuredDifference = z.infer<typeof measuredDifferenceSchema>;

const differenceSchema = z.object({
  ...differenceShape,
  disposition: z
    .enum(behaviourDispositions)
    .describe('How it counts, by the policy and what was accepted; `accepted` by its id or by a label.'),
});
export type BehaviourDifference = z.infer<typeof differenceSchema>;

const subjectSchema = z.object({ subject: z.string(), reason: z.string() });
const countedSchema = z.object({ reached: count, of: count });

const comparedShape = {
  sandbox: z.enum(['none', 'isolated', 'confined']).describe('The sandbox level of the worlds of the change.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  corpus: z.enum(['explored', 'cached']).describe('`cached`: the requests were found by an earlier job.'),
  isCutByTime: z.boolean().describe('True if the time limit ended the exploration. Another run may then find more.'),
  requests: z
    .object({ sent: count, budget: count })
    .describe('Those of the exploration of the base; replays do not count.'),
  sessions: z
    .object({ compared: count, of: count })
    .describe('The sessions that ran on both sides, of those that were found on the base.'),
  tools: countedSchema.describe('The tools of the base whose answered calls were compared.'),
  coverage: z
    .object({ tools: countedSchema, parameters: countedSchema, errorPaths: countedSchema })
    .describe('What the exploration of the base reached.'),
  unexplored: z.array(subjectSchema).describe('What was not explored on the base, with the reason.'),
  uncompared: z
    .array(subjectSchema)
    .describe('What was explored and not compared, with the reason: changes of the tool surface, for example.'),
  flaky: z
    .array(z.object({ session: z.array(exploredRequestSchema), reason: z.string() }))
    .describe('Sessions whose answers vary, so that they are not compared.'),
};

const measuredBehaviourSchema = z.object({ ...comparedShape, differences: z.array(measuredDifferenceSchema) });
/** The comparison of two servers before a policy decides how its differences count. */
export type MeasuredBehaviour = z.infer<typeof measuredBehaviourSchema>;

/** The schema of `behaviour` in `report.json`. */
export const behaviourReportSchema = z.object({
  base: z.object({
    label: z.string().describe('The name of the base, for people.'),
    commit: z.string().nullable().describe('Null where the base is no commit.'),
  }),
  problem: z.string().nullable().describe('Why nothing is compared; null where something is.'),
  compared: z
    .object({ ...comparedShape, differences: z.array(differenceSchema).describe('Worst first.') })
    .nullable()
    .describe('Null if nothing is compared.'),
  unusedAccepts: z.array(z.string()).describe('Accepted ids of differences that no longer occur.'),
});

/** The behaviour of the server under test, compared with that of the base in the same job. */
export type BehaviourReport = z.infer<typeof behaviourReportSchema>;

/** How the differences of each kind count. */
export type BehaviourEffects = Readonly<Record<BehaviourKind, Exclude<BehaviourDisposition, 'accepted'>>>;

/**
 * Makes the report of a comparison: each difference counts by the effect of its kind, unless its id, or everything by a label, was
 * accepted.
 */
export function reportBehaviour(
  base: BehaviourReport['base'],
  measured: MeasuredBehaviour,
  {
    effects,
    accepted,
    isAllAccepted,
  }: { effects: BehaviourEffects; accepted: readonly string[]; isAllAccepted: boolean },
): BehaviourReport {
  const ids = new Set(measured.differences.map(({ id }) => id));
  const known = new Set(accepted);
  return {
    base,
    problem: null,
    compared: {
      ...measured,
      differences: measured.differences.map((difference) => ({
        ...difference,
        disposition: isAllAccepted || known.has(difference.id) ? 'accepted' : effects[difference.kind],
      })),
    },
    unusedAccepts: accepted.filter((id) => !ids.has(id)),
  };
}
