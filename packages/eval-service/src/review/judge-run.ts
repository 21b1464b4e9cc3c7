import pMap from 'p-map';
import type { RunJudges } from '../../../../src/service/operations/run-reviews.ts';
import { buildJudgeCall, type JudgedCase, readListed, readOpinion } from '../../../../src/models/judge-prompt.ts';
import { formatModelName } from '../../../../src/models/model-name.ts';
import type { ChosenModel } from '../ask-model.ts';
import type { ReviewedCase, ReviewedIteration } from './reviewed-run.ts';

/** The number of cases that are judged at the same time. */
const concurrency = 4;

type State = RunJudges['goalCompletion'];

/** The state of a judge that was not requested. */
const notRequested = {
  status: null,
  errorCode: null,
  summary: null,
  generatedAt: null,
  modelUsed: null,
  threshold: null,
  cases: [],
};
export const noJudges: RunJudges = { goalCompletion: notRequested, groundedness: notRequested };

/** Creates the states of both judges of a run, equal at first. */
export function createJudges(state: Omit<State, 'cases'>): RunJudges {
  return { goalCompletion: { ...state, cases: [] }, groundedness: { ...state, cases: [] } };
}

const groundednessRubric = `Every factual claim in the assistant's final answer is supported by what the user said or by results of tools in the conversation. What is only plausible is not supported. An answer that claims nothing is supported.`;

/** Writes the rubric from the expected output, which the author of the case wrote. */
function writeGoalRubric(expectedOutput: string): string {
  return `The assistant's final answer achieves what the user asked for. It agrees in substance with this expected output, whatever its words:\n${expectedOutput}`;
}

const rubricHits = {
  name: 'rubricHits',
  description: 'The parts of the expected output that the answer achieves, one short phrase each.',
};
const unsupportedClaims = {
  name: 'unsupportedClaims',
  description: 'Claims of the answer that nothing in the conversation supports.',
};

/**
 * Judges a run with a model: whether the answers of each case achieve its expected output, and whether tool results support them. The score of a case
 * is the mean of its iterations; the reason is that of the lowest score. A case without an expected output has no goal, and a case whose
 * iterations have no answer in their traces is not judged.
 *
 * @throws {ModelError} if an opinion is missing or cannot be read
 * @throws the signal's reason once it aborts
 */
export async function judgeRun(
  cases: readonly ReviewedCase[],
  { chosen, threshold, signal }: { chosen: ChosenModel; threshold: number; signal: AbortSignal },
): Promise<
  Record<keyof RunJudges, { summary: string }> & {
    goalCompletion: Pick<State, 'cases'>;
    groundedness: Pick<RunJudges['groundedness'], 'cases'>;
  }
> {
  const judgeAll = async (judged: ReadonlyArray<{ reviewed: ReviewedCase; rubric: string }>, list: Listed) => {
    const answered = judged.flatMap(({ reviewed, rubric }) => {
      const iterations = reviewed.iterations.filter(hasAnswer);
      return iterations.length === 0 ? [] : [{ caseKey: reviewed.caseKey, iterations, rubric }];
    });
    return await pMap(answered, (each) => judgeCase(each, { chosen, threshold, signal, list }), { concurrency });
  };
  const withGoal = cases.flatMap((reviewed) =>
    reviewed.expectedOutput === null ? [] : [{ reviewed, rubric: writeGoalRubric(reviewed.expectedOutput) }],
  );
  const goals = await judgeAll(withGoal, rubricHits);
  const grounds = await judgeAll(
    cases.map((reviewed) => ({ reviewed, rubric: groundednessRubric })),
    unsupportedClaims,
  );
  return {
    goalCompletion: {
      summary: summarize(goals, cases.length),
      cases: goals.map(({ listed, ...rest }) => ({ ...rest, rubricHits: listed })),
    },
    groundedness: {
      summary: summarize(grounds, cases.length),
      cases: grounds.map(({ listed, ...rest }) => ({ ...rest, unsupportedClaims: listed })),
    },
  };
}

type Listed = NonNullable<JudgedCase['list']>;

function hasAnswer({ conversation }: ReviewedIteration): boolean {
  return conversation.some((part) => 'assistant' in part && part.assistant.trim() !== '');
}

async function judgeCase(
  { caseKey, iterations, rubric }: { caseKey: string; iterations: readonly ReviewedIteration[]; rubric: string },
  { chosen, threshold, signal, list }: { chosen: ChosenModel; threshold: number; signal: AbortSignal; list: Listed },
) {
  const session = await chosen.openSession();
  const opinions = [];
  for (const { conversation } of iterations) {
    const answer = await session.answer(buildJudgeCall({ rubric, conversation, list }), { signal });
    opinions.push({ ...readOpinion(answer), listed: readListed(answer, list.name) });
  }
  const score = opinions.reduce((sum, opinion) => sum + opinion.score, 0) / opinions.length;
  const [lowest] = opinions.toSorted((a, b) => a.score - b.score);
  return { caseKey, score, passed: score >= threshold, reason: lowest?.reason ?? null, listed: lowest?.listed ?? [] };
}

function summarize(judged: ReadonlyArray<{ passed: boolean }>, total: number): string {
  const passed = judged.filter((each) => each.passed).length;
  return `${passed} of ${judged.length} judged cases passed; ${total - judged.length} of ${total} could not be judged.`;
}

/** Names the model that judged, for the record. */
export function nameModel({ model }: ChosenModel): string {
  return formatModelName(model);
}
