import { createHash } from 'node:crypto';
import { createRandom } from '../base/random.ts';
import { isJsonEqual, isRecord } from '../base/json.ts';
import type { TapedAnswer } from '../engine/session-tape.ts';
import { readVerb } from '../explore/vocabulary/names.ts';
import { hidePaths } from '../workspace/placeholders.ts';
import type { AnswerKind, AnswerView } from './answer-view.ts';
import type { LeftOut, ObservedCase, Observation, ObservedSuite } from './observe-cases.ts';
import { joinByTool, listSent, placeDeclaration } from './declared-tools.ts';
import type { FaultClass, Operator, OperatorName } from './operators/define-operator.ts';
import { operators as allOperators } from './operators/registry.ts';
import { type CaseChanges, judgeAgain } from './taped-case.ts';

/** A change of an answer, judged by every case that gets this answer. */
export interface JudgedChange {
  operator: string;
  /** What changes: an answer, or the declaration of the tool. */
  of: Operator['of'];
  faultClass: FaultClass;
  isHarmful: boolean;
  kind: AnswerKind;
  /** The tool, the prompt, the URI or the list that answers. */
  subject: string;
  at: string;
  what: string;
  /** `noticed`: a case failed. `unknown`: no case failed, and in one a later request depends on the change. */
  outcome: 'noticed' | 'unnoticed' | 'unknown';
  /** The titles of the cases that get the answer. */
  cases: readonly string[];
  /** The cases that failed, with the reason. */
  failed: ReadonlyArray<{ title: string; reason: string }>;
}

/** A change with what it changes, so that further checks can be tried on it. */
export interface PlacedChange extends JudgedChange {
  observation: Observation;
  /** What changes in each case: answers by exchange. */
  answers: ReadonlyArray<{ testCase: ObservedCase } & CaseChanges>;
}

/** How many harmful changes evals notice, and under how many harmless ones they stay green. */
export interface Strength {
  harmful: { noticed: number; of: number };
  harmless: { tolerated: number; of: number };
  /** Changes on which a later request depends, so that their outcome is not known. They are not counted above. */
  unknown: number;
  changes: readonly PlacedChange[];
  leftOut: readonly LeftOut[];
  /** The cases, those that notice nothing first. */
  cases: ReadonlyArray<{ title: string; noticed: number; of: number }>;
}

/** The most changes of one class that one tool counts, so that a large result does not decide. */
const maxPerClass = 3;

/** A change that an operator can make, before it is judged. */
export interface Candidate {
  operator: OperatorName;
  observation: Observation;
  at: string;
  what: string;
  answers: PlacedChange['answers'];
}

/** Changes one answer at a time and judges the cases that get it again. The same tapes and seed give the same result. */
export async function measureStrength(
  { cases, observations, leftOut }: ObservedSuite,
  { seed = 1, operators = allOperators }: { seed?: number; operators?: readonly Operator[] } = {},
): Promise<Strength> {
  const candidates = [
    ...observations.flatMap((observation) => [
      ...operators.flatMap((operator) => listCandidates(operator, observation)),
      ...(operators === allOperators ? listLostEffects(observation) : []),
    ]),
    ...cases.flatMap((testCase) => operators.flatMap((operator) => listModelCandidates(operator, testCase))),
    ...joinByTool({ observations, cases }).flatMap((tool) =>
      operators.flatMap((operator) => listDeclarationCandidates(operator, tool)),
    ),
  ];
  const changes: PlacedChange[] = [];
  for (const candidate of drawCandidates(candidates, seed)) changes.push(await judgeChange(candidate));
  return countChanges(changes, cases, leftOut);
}

/** Counts judged changes. */
export function countChanges(
  changes: readonly PlacedChange[],
  cases: readonly ObservedCase[],
  leftOut: readonly LeftOut[],
): Strength {
  const known = changes.filter(({ outcome }) => outcome !== 'unknown');
  const harmful = known.filter(({ isHarmful }) => isHarmful);
  const harmless = known.filter(({ isHarmful }) => !isHarmful);
  const count = (list: readonly PlacedChange[], wanted: PlacedChange['outcome']) =>
    list.filter(({ outcome }) => outcome === wanted).length;
  const ofCase = cases.map(({ title }) => {
    // Each call fails if its tool is gone, which says nothing about the checks of the case.
    const own = harmful.filter((change) => change.of !== 'tool' && change.cases.includes(title));
    return {
      title,
      noticed: own.filter(({ failed }) => failed.some((each) => each.title === title)).length,
      of: own.length,
    };
  });
  return {
    harmful: { noticed: count(harmful, 'noticed'), of: harmful.length },
    harmless: { tolerated: count(harmless, 'unnoticed'), of: harmless.length },
    unknown: changes.length - known.length,
    changes,
    leftOut,
    cases: [
      ...ofCase.filter(({ noticed, of }) => noticed === 0 && of > 0),
      ...ofCase.filter(({ noticed, of }) => noticed > 0 || of === 0),
    ],
  };
}

/** Lists the changes that an operator can make of an answer. */
export function listCandidates(operator: Operator, observation: Observation): Candidate[] {
  if (operator.of !== 'answer') return [];
  return operator.list(observation.view).map(({ at, what, make }) => {
    let made: TapedAnswer | null = null;
    const answer = () => (made ??= make());
    return { operator, observation, at, what, answers: placeAnswers(observation, answer) };
  });
}

/** Lists the changes that an operator can make of the declaration of a tool. `observation` has all uses of it. */
export function listDeclarationCandidates(operator: Operator, observation: Observation): Candidate[] {
  const { tool, subject: name } = observation.view;
  if (operator.of !== 'tool' || tool === null) return [];
  const { inputSchema, outputSchema, annotations } = tool;
  return operator
    .list({ name, inputSchema, outputSchema, annotations }, listSent(observation))
    .map(({ at, what, make }) => ({ operator, observation, at, what, answers: placeDeclaration(observation, make) }));
}

/** Lists the changes that an operator can make of what the model of a case answers. */
function listModelCandidates(operator: Operator, testCase: ObservedCase): Candidate[] {
  const { model, tape } = testCase.taped;
  if (operator.of !== 'model' || model == null) return [];
  const lists = [...tape.servers.values()].map(({ sharedTools, lists: [first] }) => sharedTools ?? first ?? null);
  const tools = lists.flatMap((list) => (list === null ? [] : [...list.keys()]));
  const view: AnswerView = {
    kind: 'model',
    subject: testCase.title,
    request: { method: 'prompt', params: {} },
    answer: { kind: 'result', result: {} },
    workspace: null,
    tool: null,
    result: null,
    isError: false,
    document: null,
    texts: [],
  };
  return operator.list(model.answers, tools).map(({ at, what, make }) => ({
    operator,
    observation: { view, uses: [] },
    at,
    what,
    answers: [{ testCase, answers: new Map(), modelAnswers: make(), isLenient: true }],
  }));
}

/** Makes the answer only when a case is judged with it, because few candidates are drawn. */
function placeAnswers({ uses }: Observation, make: () => TapedAnswer): PlacedChange['answers'] {
  return [...Map.groupBy(uses, ({ testCase }) => testCase)].map(([testCase, own]) => ({
    testCase,
    get answers() {
      return new Map(own.map(({ exchange }) => [exchange, make()]));
    },
  }));
}

/** A tool says that it worked and does nothing. */
export const loseEffect: OperatorName = { of: 'answer', name: 'lose-effect', faultClass: 'state', isHarmful: true };

/**
 * Lists the changes in which a tool says that it worked and does nothing: later answers to the same request are as before. Where nothing is
 * requested afterwards, no answer changes.
 */
function listLostEffects(observation: Observation): Candidate[] {
  const { kind, subject, isError, request } = observation.view;
  if (kind !== 'tool' || isError || !/^(?:create|update|remove)$/.test(readVerb(subject))) return [];
  return observation.uses.flatMap(({ testCase, exchange }): Candidate[] => {
    const { exchanges, servers } = testCase.taped.tape;
    const tools = [...servers.values()].flatMap(({ sharedTools, lists }) => sharedTools ?? lists[0] ?? []);
    if (tools.some((list) => new Map(list).get(subject)?.isReadOnly === true)) return [];
    const own = new Set(testCase.exchangeOf.values());
    const later = exchanges.flatMap((each, index) => (index > exchange && own.has(index) ? [{ each, index }] : []));
    const answers = new Map<number, TapedAnswer>();
    for (const { each, index } of later) {
      const before = exchanges.slice(0, exchange).findLast((other) => isJsonEqual(other.request, each.request));
      if (before?.answer != null && isRecord(before.answer)) answers.set(index, before.answer);
    }
    // Without an earlier answer to compare with, it is not known what would be read.
    if (later.length > 0 && answers.size === 0) return [];
    const what = `say that it worked and do nothing${later.length === 0 ? ': no case reads afterwards' : ''}`;
    return [
      {
        operator: loseEffect,
        observation,
        at: JSON.stringify(request.params),
        what,
        answers: [{ testCase, answers }],
      },
    ];
  });
}

/** Draws at most three changes of each tool and class, harmful and harmless ones apart. */
function drawCandidates(candidates: readonly Candidate[], seed: number): Candidate[] {
  const groups = Map.groupBy(candidates, ({ operator: { faultClass, isHarmful }, observation: { view } }) =>
    [view.kind, view.subject, faultClass, isHarmful].join(' '),
  );
  return [...groups].flatMap(([name, group]) => {
    const hash = createHash('sha256').update(`${seed} ${name}`).digest();
    const random = createRandom(hash.readInt32LE());
    const drawn = group
      .map((candidate, index) => ({ candidate, index, rank: random() }))
      .toSorted((a, b) => a.rank - b.rank);
    // Another operator or another answer comes before one that is drawn already.
    const seen = new Set<unknown>();
    const first = drawn.filter(({ candidate: { operator, observation } }) => {
      const isNew = !seen.has(operator) || !seen.has(observation);
      seen.add(operator).add(observation);
      return isNew;
    });
    const chosen = [...first, ...drawn.filter((each) => !first.includes(each))].slice(0, maxPerClass);
    return chosen.toSorted((a, b) => a.index - b.index).map(({ candidate }) => candidate);
  });
}

async function judgeChange({ operator, observation, at, what, answers }: Candidate): Promise<PlacedChange> {
  const failed: Array<{ title: string; reason: string }> = [];
  let isUnknown = false;
  for (const { testCase, ...changed } of answers) {
    const judged = await judgeAgain(testCase.taped, changed);
    if (judged.kind === 'failed') {
      // The path is another one in each run.
      const { workspace } = testCase.taped.options.facts ?? {};
      failed.push({ title: testCase.title, reason: hidePaths(judged.reason, { workspace }) });
    }
    if (judged.kind === 'unknown') isUnknown = true;
  }
  const { name, of, faultClass, isHarmful } = operator;
  const { kind, subject } = observation.view;
  return {
    operator: name,
    of,
    faultClass,
    isHarmful,
    kind,
    subject,
    at,
    what,
    outcome: failed.length > 0 ? 'noticed' : isUnknown ? 'unknown' : 'unnoticed',
    cases: answers.map(({ testCase }) => testCase.title),
    failed,
    observation,
    answers,
  };
}
