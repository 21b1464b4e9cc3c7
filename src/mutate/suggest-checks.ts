import { type JsonObject, listTexts } from '../base/json.ts';
import { createRandom } from '../base/random.ts';
import type { Step } from '../cases/step.ts';
import { readsLikeError } from '../explore/answers.ts';
import { readSuite } from '../suite/read.ts';
import { isOfDeclaration, listCandidateChecks } from './candidate-checks.ts';
import { joinByTool } from './declared-tools.ts';
import { type Candidate, listCandidates, listDeclarationCandidates } from './measure-strength.ts';
import type { ObservedCase, Observation, ObservedSuite } from './observe-cases.ts';
import { operators } from './operators/registry.ts';
import { judgeAgain, runAgain, type TapedCase } from './taped-case.ts';

/** Changes of the checks of one step. */
export interface Suggestion {
  testCase: ObservedCase;
  /** The position of the step whose answer is checked. */
  stepIndex: number;
  /** Checks to add after it, in the notation of an evals file. */
  add: readonly JsonObject[];
  /** The positions of assertions to remove, because they fail on harmless changes and the added ones notice what they notice. */
  remove: readonly number[];
}

interface SuggestOptions {
  /** True if assertions that fail on harmless changes are replaced where others notice as much. */
  replacesBrittle: boolean;
  /** Checks if a text has a secret or a value of this machine, which no check may have. */
  isPrivate: (text: string) => boolean;
  /** True if only answers that are asserted get checks, whose own assertions are dropped where the added ones say the same and more. */
  isDraft?: boolean;
  /** Checks if a person would write the check. */
  isFit?: (content: JsonObject) => boolean;
}

/** The most changes of an answer that are judged to choose its checks, and the most checks that are added to one step. */
const maxJudged = 48;
const maxAdded = 3;

interface Judged {
  isHarmful: boolean;
  /** The assertions of the case that fail, by position; empty if the case stays green. Other steps that fail have the position -1. */
  failing: ReadonlySet<number>;
  /** The candidates that fail. */
  noticing: ReadonlySet<number>;
}

/**
 * Chooses checks for the answers whose changes evals miss: the fewest that notice most and tolerate the harmless changes. They hold in both
 * runs. The choice is made on all changes of an answer, not only on those that count for the strength.
 */
export async function suggestChecks(
  { observations, cases }: Pick<ObservedSuite, 'observations' | 'cases'>,
  options: SuggestOptions,
): Promise<Suggestion[]> {
  const suggestions: Suggestion[] = [];
  // Checks of the declaration of a tool follow the first answers whose calls they need: a call notices only the arguments that it sends.
  const declared = new Map(
    options.isDraft === true
      ? []
      : joinByTool({ observations, cases }).map((tool) => [tool.view.subject, listDeclarationChanges(tool)]),
  );
  for (const observation of observations) {
    const { kind, subject } = observation.view;
    const ofTool = (kind === 'tool' ? declared.get(subject) : undefined) ?? [];
    const suggestion = await suggestForObservation(observation, [...drawChanges(observation), ...ofTool], options);
    if (suggestion === null) continue;
    suggestions.push(suggestion);
    if (suggestion.add.some(isOfDeclaration)) declared.set(subject, await listMissed(ofTool, suggestion));
  }
  return suggestions;
}

/** Lists the changes that a case would not notice with the suggested checks. */
async function listMissed(
  changes: readonly Candidate[],
  { testCase, stepIndex, add, remove }: Suggestion,
): Promise<Candidate[]> {
  const steps = readChecks(add).filter((step) => step !== null);
  const edited = editTaped(testCase.taped, { stepIndex, steps, removed: new Set(remove) });
  const missed: Candidate[] = [];
  for (const change of changes) {
    const own = change.answers.find((each) => each.testCase === testCase);
    if (own === undefined || (await judgeAgain(edited, own)).kind !== 'failed') missed.push(change);
  }
  return missed;
}

async function suggestForObservation(
  observation: Observation,
  changes: readonly Candidate[],
  { replacesBrittle, isPrivate, isDraft = false, isFit = () => true }: SuggestOptions,
): Promise<Suggestion | null> {
  const { uses, view } = observation;
  // The words of an error are what a person wants to see in a draft, although they may change.
  if (isDraft && (view.isError || isUnflagged(view))) return null;
  const use = isDraft ? uses.find((each) => listOwn(each).length > 0) : uses[0];
  const stepIndex = use === undefined ? undefined : locateStep(use);
  if (use === undefined || stepIndex === undefined) return null;
  const { testCase } = use;
  const { taped, second } = testCase;
  // A value of one run alone may be another in each run.
  if (second?.outcome.result !== 'passed') return null;
  const runs = [taped, second];
  const isLater = [...testCase.exchangeOf.keys()].some((index) => index < stepIndex);
  const contents = listCandidateChecks(view, {
    isLater,
    workspace: taped.options.facts?.workspace,
    isPrivate,
  }).filter(isFit);
  const checks = readChecks(contents);
  const usable = await findHolding(runs, stepIndex, checks);
  const judged: Judged[] = [];
  for (const candidate of changes) {
    const isElsewhere = !isDraft && candidate.operator.isHarmful;
    if (isElsewhere && (await isNoticedElsewhere(testCase, candidate))) continue;
    const one = await judgeWith(testCase, candidate, { stepIndex, checks });
    if (one !== null) judged.push(one);
  }
  const harmless = judged.filter(({ isHarmful }) => !isHarmful);
  const harmful = judged.filter(({ isHarmful }) => isHarmful);
  const tolerant = usable.filter((index) => !harmless.some(({ noticing }) => noticing.has(index)));
  const brittle = new Set(harmless.flatMap(({ failing }) => [...failing]).filter((index) => index >= 0));
  const isShape = (index: number) => Object.keys(contents[index] ?? {}).some((name) => name.endsWith('MatchesSchema'));
  const isNoticed = ({ failing }: Judged, without: ReadonlySet<number>) =>
    [...failing].some((index) => !without.has(index));
  const choose = (without: ReadonlySet<number>) => {
    const missed = harmful.filter((one) => !isNoticed(one, without));
    const fewest = chooseFewest(missed, tolerant, contents);
    // What replaces an assertion that no change needs is a check of the same answer, because answers change in other ways, too.
    const isReplaced = without.size === 0 || fewest.some((index) => !isOfDeclaration(contents[index] ?? {}));
    const chosen = isReplaced ? fewest : [...fewest, ...tolerant.filter(isShape).slice(0, 1)];
    const noticed = harmful.filter((one) => isNoticed(one, without) || chosen.some((index) => one.noticing.has(index)));
    return { chosen, noticed: noticed.length };
  };
  const added = choose(new Set());
  const before = harmful.filter((one) => isNoticed(one, new Set())).length;
  const suggest = async (chosen: readonly number[], removed: ReadonlySet<number>): Promise<Suggestion | null> => {
    if (chosen.length === 0) return null;
    const add = contents.filter((_, index) => chosen.includes(index));
    const said = isDraft ? listOwn(use).filter((index) => saysNoMore(taped.testCase.steps[index], add)) : [];
    const all = new Set([...removed, ...said]);
    const steps = chosen.flatMap((index) => checks[index] ?? []);
    const edit = { stepIndex, steps, removed: all };
    for (const run of runs) if ((await judgeAgain(editTaped(run, edit))).kind !== 'passed') return null;
    return { testCase, stepIndex, add, remove: [...all].toSorted((a, b) => a - b) };
  };
  if (replacesBrittle && brittle.size > 0) {
    const replaced = choose(brittle);
    const suggestion = replaced.noticed >= before ? await suggest(replaced.chosen, brittle) : null;
    if (suggestion !== null) return suggestion;
  }
  return await suggest(added.chosen, new Set());
}

/** Checks if an answer of a tool only reads like an error. */
function isUnflagged({ kind, result }: Observation['view']): boolean {
  return kind === 'tool' && result !== null && readsLikeError({ kind: 'result', isError: false, result });
}

/** The position of the step that sends the request. */
function locateStep({ testCase, exchange }: Observation['uses'][number]): number | undefined {
  return [...testCase.exchangeOf].find(([, each]) => each === exchange)?.[0];
}

/** Lists the positions of the assertions that directly follow the request. */
function listOwn(use: Observation['uses'][number]): number[] {
  const stepIndex = locateStep(use);
  if (stepIndex === undefined) return [];
  const { steps } = use.testCase.taped.testCase;
  const next = steps.findIndex(({ kind }, index) => index > stepIndex && kind !== 'assert');
  return [...steps.keys()].slice(stepIndex + 1, next === -1 ? steps.length : next);
}

/** Checks if an assertion says no more than others do: that there is a result, or that it has a part of a text that they assert. */
function saysNoMore(step: Step | undefined, others: readonly JsonObject[]): boolean {
  if (step?.kind !== 'assert') return false;
  const { type, path, isError, caseSensitive, ...fields }: JsonObject = { ...step.assertion };
  if (type === 'toolResultIsError') return isError === false;
  if (!String(type).endsWith('Contains') || path !== undefined || caseSensitive === true) return false;
  const texts = [...listTexts(fields)].map(({ text }) => text.toLowerCase());
  const found = [...listTexts(others)].map(({ text }) => text.toLowerCase());
  return texts.length > 0 && texts.every((text) => found.some((each) => each.includes(text)));
}

/** Adds steps after a step and removes others, as the evals file will have them. */
function editTaped(
  taped: TapedCase,
  { stepIndex, steps, removed }: { stepIndex: number; steps: readonly Step[]; removed: ReadonlySet<number> },
): TapedCase {
  const { testCase } = taped;
  const added = steps.map((step, index) => ({ ...step, id: `added-${index}` }));
  const edited = testCase.steps.flatMap((step, index) => [
    ...(removed.has(index) ? [] : [step]),
    ...(index === stepIndex ? added : []),
  ]);
  return { ...taped, testCase: { ...testCase, steps: edited } };
}

/** Checks if another case that gets the answer fails on a change of it. */
async function isNoticedElsewhere(testCase: ObservedCase, { answers }: Candidate): Promise<boolean> {
  for (const other of answers) {
    if (other.testCase === testCase) continue;
    const judged = await judgeAgain(other.testCase.taped, other);
    if (judged.kind === 'failed') return true;
  }
  return false;
}

/** Takes the check that notices most of what is missed, and then the one that notices most of the rest. */
function chooseFewest(missed: readonly Judged[], usable: readonly number[], contents: readonly JsonObject[]): number[] {
  const chosen: number[] = [];
  let left = missed;
  while (left.length > 0 && chosen.length < maxAdded) {
    const ranked = usable
      .map((index) => ({
        index,
        gain: left.filter(({ noticing }) => noticing.has(index)).length,
        length: JSON.stringify(contents[index]).length,
      }))
      .filter(({ gain }) => gain > 0)
      // A long check has to notice more than a short one: a change for every 60 characters.
      .toSorted((a, b) => b.gain - b.length / 60 - (a.gain - a.length / 60) || a.length - b.length);
    const [best] = ranked;
    if (best === undefined) break;
    chosen.push(best.index);
    left = left.filter(({ noticing }) => !noticing.has(best.index));
  }
  return chosen;
}

const listDeclarationChanges = (tool: Observation): Candidate[] =>
  operators.flatMap((operator) => listDeclarationCandidates(operator, tool));

/** Draws changes of an answer, the same ones each time. */
function drawChanges(observation: Observation): Candidate[] {
  const all = operators.flatMap((operator) => listCandidates(operator, observation));
  const random = createRandom(1);
  return all
    .map((candidate) => ({ candidate, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, maxJudged)
    .map(({ candidate }) => candidate);
}

/** Reads checks as an evals file does. A check that the file refuses becomes null. */
function readChecks(contents: readonly JsonObject[]): Array<Step | null> {
  return contents.map((content) => {
    const text = JSON.stringify({
      suite: 'Checks',
      cases: [{ title: 'Check', steps: [{ listTools: true }, { assert: content }] }],
    });
    const { suite, findings } = readSuite(text, { file: 'checks' });
    return findings.length > 0 ? null : (suite?.cases[0]?.steps[1]?.step ?? null);
  });
}

/** Inserts checks after a step. They only report, so that one run judges all of them. */
function withChecks(taped: TapedCase, stepIndex: number, checks: ReadonlyArray<Step | null>): TapedCase {
  const reporting = checks.map((step, index): Step => {
    const id = `candidate-${index}`;
    if (step?.kind !== 'assert' || !('type' in step.assertion)) return { id, kind: 'wait', ms: 1 };
    return { id, kind: 'assert', assertion: { ...step.assertion, role: 'advisory' } };
  });
  const { testCase } = taped;
  return { ...taped, testCase: { ...testCase, steps: testCase.steps.toSpliced(stepIndex + 1, 0, ...reporting) } };
}

/** Lists the checks that hold in each run. */
async function findHolding(
  runs: readonly TapedCase[],
  stepIndex: number,
  checks: ReadonlyArray<Step | null>,
): Promise<number[]> {
  let holding = checks.flatMap((check, index) => (check === null ? [] : [index]));
  for (const taped of runs) {
    const { outcome } = await runAgain(withChecks(taped, stepIndex, checks));
    holding = holding.filter((index) => {
      const step = outcome.steps[stepIndex + 1 + index];
      return step?.status === 'ok' && step.reason === null;
    });
  }
  return holding;
}

async function judgeWith(
  testCase: ObservedCase,
  { operator, answers }: Candidate,
  { stepIndex, checks }: { stepIndex: number; checks: ReadonlyArray<Step | null> },
): Promise<Judged | null> {
  const own = answers.find((each) => each.testCase === testCase);
  if (own === undefined) return null;
  const { outcome, missing } = await runAgain(withChecks(testCase.taped, stepIndex, checks), own);
  const noticing = new Set<number>();
  const failing = new Set<number>();
  for (const { stepIndex: at, status, reason, kind } of outcome.steps) {
    const candidate = at - stepIndex - 1;
    if (candidate >= 0 && candidate < checks.length) {
      if (status === 'ok' && reason !== null) noticing.add(candidate);
    } else if (status === 'fail') {
      failing.add(kind === 'assert' ? (at > stepIndex ? at - checks.length : at) : -1);
    }
  }
  if (outcome.result === 'failed' && failing.size === 0) failing.add(-1);
  if (missing !== null && failing.size === 0) return null;
  return { isHarmful: operator.isHarmful, failing, noticing };
}
