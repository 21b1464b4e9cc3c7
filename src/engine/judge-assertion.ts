import { compareRequirements, compareValues, toDifference } from '../base/difference.ts';
import type { Evidence } from '../checks/evidence.ts';
import { judgeCheck } from '../checks/judge-check.ts';
import type { CheckContext, Compared, Judgement } from '../checks/judgement.ts';
import { clipReason } from '../checks/reasons.ts';
import type { Difference } from '../model/difference.ts';
import { compileIgnore, ignoreInDocument } from '../models/recordings/ignore.ts';
import { findSchemaProblems } from '../suite/schema-problems.ts';
import type { JudgingContext } from './judging-context.ts';
import { askModel } from './model-judge.ts';
import { checkSchema, startSchemaTime } from './schema-check.ts';

/** The number of comparisons that an iteration keeps. */
const maxDifferences = 2;

/**
 * Judges one assertion on the transcript so far; cuts the reason to the API's limit. Fails closed.
 *
 * @throws the reason of the limit's signal once it aborts. Nothing else.
 */
export async function judgeAssertion(
  assertion: unknown,
  evidence: Evidence,
  context?: JudgingContext,
): Promise<Pick<Judgement, 'state' | 'reason'>> {
  const { state, reason: whole, compared } = await judgeCheck(assertion, evidence, createCheckContext(context));
  const reason = clipReason(whole);
  if (state === 'failed' && compared !== undefined) context?.differences?.set(reason, compared);
  return { state, reason };
}

/** Compares what failed checks compared. `reasons` are those of the iteration, because an assertion that failed may have held later. */
export function listDifferences(
  compared: ReadonlyMap<string, Compared>,
  reasons: ReadonlyArray<string | null>,
): Difference[] {
  return [...new Set(reasons)]
    .flatMap((reason) => compared.get(reason ?? '') ?? [])
    .slice(0, maxDifferences)
    .map((each) => {
      const { what, actual, path } = each;
      const lines =
        each.kind === 'values'
          ? compareValues(each.expected, actual, path)
          : compareRequirements(each.requirements, actual, path);
      return toDifference(what, lines);
    })
    .filter(({ lines }) => lines.length > 0);
}

/** Creates the services that checks use: schema validation, `ignore` rules, models, and the server. */
export function createCheckContext(context: JudgingContext = { time: startSchemaTime(), limit: null }): CheckContext {
  const { askJudge = null, judgeLog, snapshots = null, ownChecks = null, apps = null, tools = null } = context;
  const { waitForNotification = null, widgets } = context;
  return {
    schemas: {
      findProblem: (schema) => findSchemaProblems(schema)[0]?.message ?? null,
      fit: async (schema, value, options) => await checkSchema(schema, value, { ...options, budget: context }),
    },
    exclude: (value, patterns) => ignoreInDocument(value, compileIgnore(patterns)),
    askModel:
      askJudge === null
        ? null
        : async (question, { messages }) => await askModel(question, messages, { askJudge, judgeLog }),
    snapshots,
    ownChecks,
    apps,
    tools,
    waitForNotification,
    settleWidgets: async () => await widgets?.settle(),
    signal: context.limit?.signal ?? null,
  };
}
