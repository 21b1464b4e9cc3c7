import { isAnswered, isUnexplained, readsLikeError } from '../answers.ts';
import { listTexts } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import { type ExploredSession, type Exploration } from '../exploration.ts';
import { nameRequest, readArguments } from '../../model/explored-request.ts';
import { type Feature, findPlace, pickFeatures } from '../features/feature.ts';
import { isValidationMessage } from '../findings/validation-messages.ts';
import { readOutcomeText } from '../stability/texts.ts';
import { isLimitOfWorld } from '../world/refused-by-world.ts';
import { settleSession } from './settle.ts';
import { type ChosenCase, shareCases } from './share-cases.ts';
import { type RequiredNames, writeTitle } from './title.ts';

/** The most cases of a file: more are not read. */
export const maxCases = 40;

/** The most resources and prompts that get a case before the tools have their first cases. */
const firstRequests = 3;

/** The most resources, or prompts, whose names differ in numbers only. */
const longestSeries = 2;

/**
 * The workspace of the suite: the explorer's with its files, an empty one, or none, so that its server works in the directory of the user.
 */
export type SuiteWorkspace = 'files' | 'empty' | 'none';

/** Which cases a file has. */
export interface ChoiceOptions {
  suiteWorkspace: SuiteWorkspace;
  /** The most cases. */
  limit: number;
  /** Decides if a session with these subjects gets a case. */
  isWanted: (subjects: readonly string[]) => boolean;
}

/** Chooses the sessions that a person would keep as cases, grouped by tool, and says why others are left out. */
export function chooseCases(
  { sessions, harmless, unexplored }: Pick<Exploration, 'sessions' | 'harmless' | 'unexplored'>,
  required: RequiredNames,
  { suiteWorkspace, isWanted, limit }: ChoiceOptions,
): { chosen: ChosenCase[]; left: Array<{ title: string; reason: string }> } {
  const left: Array<{ title: string; reason: string }> = [];
  const ranked: ChosenCase[] = [];
  // A server that misses a key, or a service, answers each call of a tool with the same error.
  const refusing = new Set([
    ...sessions.flatMap(({ steps }) =>
      steps.filter(({ observation }) => isAnswered(observation)).map(({ request }) => nameRequest(request)),
    ),
    ...unexplored.flatMap(({ subject, reason }) => (isLimitOfWorld(reason) ? [subject] : [])),
  ]);
  const counts = new Map<string, number>();
  const harmlessTools = new Set(harmless);
  for (const session of sessions) {
    const settled = settleSession(session, harmlessTools);
    const title = writeTitle(settled ?? session, required, harmlessTools);
    if (!isWanted(session.steps.map(({ request }) => nameRequest(request)))) continue;
    const reason =
      settled === null
        ? 'name a directory that only the explorer has'
        : settled.needsFiles && suiteWorkspace !== 'files'
          ? 'need files of the workspace'
          : explainWorthless(settled, refusing);
    if (settled === null || reason !== null) left.push({ title, reason: reason ?? '' });
    else {
      const position = ranked.length;
      ranked.push({ session: settled, title, rank: rank(settled, counts), position, joined: [], asserted: [] });
    }
  }
  const titles = new Set<string>();
  const distinct = ranked
    .toSorted((a, b) => a.rank - b.rank)
    .filter(({ title, rank: own }) => own < repeated && !titles.has(title) && titles.add(title));
  const fitting = shareCases(distinct, { limit, harmless: harmlessTools });
  appendAll(
    left,
    fitting.slice(limit).map(({ title }) => ({ title, reason: `are above the limit of ${maxCases} cases` })),
  );
  return { chosen: groupBySubject(fitting.slice(0, limit).toSorted((a, b) => a.position - b.position)), left };
}

/**
 * Explains why a session shows nothing that a person would assert; null if it does. An answer that only reads like an error is a refusal
 * of a tool in `refusing`.
 */
function explainWorthless({ steps, adds }: ExploredSession, refusing: ReadonlySet<string>): string | null {
  const last = steps.at(-1);
  const sent = steps.flatMap(({ request }) => [...listTexts(readArguments(request))]);
  const longest = pickFeatures(adds, 'limit').length > 0 ? longestLimit : longestSent;
  if (sent.some(({ text }) => text.length > longest)) return 'send a text that is too long to read';
  const unflagged = steps.filter(({ observation }) => readsLikeError(observation.outcome));
  const isRefusal =
    unflagged.length === 1 && last !== undefined && unflagged[0] === last && refusing.has(nameRequest(last.request));
  if (unflagged.length > 0 && !isRefusal) return 'have an answer that reads like an error';
  return isUnexplained(last) ? 'are refused for a reason that no schema names' : null;
}

/** The longest text in a call of a case: a person reads it. One that shows a limit is of one letter, and its title says its length. */
const longestSent = 500;
const longestLimit = 1100;

/** The rank of sessions that show what others show. */
const repeated = 9;

/** The ranks of the first requests that are no calls. */
const firstRanks = { resource: 0, prompt: 0, completion: 2 } as const;

/**
 * Ranks sessions: each tool has its first answer before other cases are taken; then what calls do together, one refusal by the server itself,
 * parameters, further refusals, further resources and what another tool answered alike, and the rest, such as one refusal by the validation
 * of each tool. `counts` remembers what earlier sessions had.
 */
function rank({ adds, steps }: ExploredSession, counts: Map<string, number>): number {
  const last = steps.at(-1);
  if (last === undefined) return repeated;
  const count = (key: string) => {
    const found = counts.get(key) ?? 0;
    counts.set(key, found + 1);
    return found;
  };
  const { request, observation, isValid } = last;
  if (request.kind !== 'tool') {
    const series = request.kind === 'completion' ? [request.argument, request.value === ''] : [];
    const name = JSON.stringify([request.kind, nameRequest(request), ...series]).replaceAll(/\d+/g, '0');
    if (count(name) >= longestSeries) return repeated;
    return count(request.kind) < firstRequests ? firstRanks[request.kind] : 5;
  }
  // Two names of one tool answer alike.
  const isLikeAnother = steps.length === 1 && count(JSON.stringify([request.arguments, observation.outcome])) > 0;
  if (isAnswered(observation)) {
    const place = findPlace(adds, 'inCases');
    // An argument that changes nothing in the answer shows little.
    const isSame = steps.length === 1 && count(JSON.stringify([request.tool, observation.outcome])) > 0;
    return place > 1 && (isLikeAnother || isSame) ? 5 : place;
  }
  if (pickFeatures(adds, 'guard').length > 0) return 3;
  const isFramework = isValid === false || isValidationMessage(readOutcomeText(observation.outcome));
  // What a parameter changes shows more than how else its tool refuses, or than what other tools refuse with the same words.
  if (!isFramework) {
    const isFirst = count(`own refusal ${request.tool}`) === 0;
    return isFirst && !isLikeAnother && count(`words ${readWords(adds)}`) < fewTools ? 2 : 4;
  }
  return count(`refusal ${request.tool}`) === 0 ? 6 : repeated;
}

/** So many tools may refuse with the same words before other cases show more. */
const fewTools = 2;

/** Reads the words of a refusal from what a session adds, without the name of its tool. */
const readWords = (adds: readonly Feature[]) =>
  pickFeatures(adds, 'refusal')[0]?.words.replace(/^Error executing tool \S+: /, '');

/** Groups cases by the subject of their last request, in the order in which the subjects first appear. */
function groupBySubject(cases: readonly ChosenCase[]): ChosenCase[] {
  const subjects = cases.map(({ session }) => nameSubject(session));
  const order = [...new Set(subjects)];
  return cases.toSorted((a, b) => order.indexOf(nameSubject(a.session)) - order.indexOf(nameSubject(b.session)));
}

/** Names what a session shows: the tool, resource or prompt of its last request. */
export function nameSubject({ steps }: Pick<ExploredSession, 'steps'>): string {
  const last = steps.at(-1);
  return last === undefined ? '' : nameRequest(last.request);
}
