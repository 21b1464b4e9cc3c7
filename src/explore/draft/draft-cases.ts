import { isAnswered, isRefused, readsLikeError, wantsUrl } from '../answers.ts';
import { isJsonEqual, type JsonObject, listTexts } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import { type Ability, abilities } from '../../model/client-abilities.ts';
import type { AddedCase } from '../../suite/add-cases.ts';
import { createTaker, deriveSlug } from '../../suite/case-ids.ts';
import {
  type ExploredRequest,
  type ExploredSession,
  type Exploration,
  type Finding,
  nameRequest,
  type ObservedStep,
} from '../exploration.ts';
import { type Feature, findPlace, pickFeatures } from '../features/feature.ts';
import { isGuardedBy, isSameRequest } from '../features/list-features.ts';
import type { HiddenTools } from '../find-hidden.ts';
import { isValidationMessage } from '../findings/validation-messages.ts';
import { readOutcomeText } from '../stability/texts.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { readReference, type Reference } from '../world/placeholders.ts';
import { chooseChecks, readsLikeConfirmation } from './checks.ts';
import { settleSession } from './settle.ts';
import { joinWords, longestTitle, type RequiredNames, writeTitle } from './title.ts';
import { isHarmlessRequest } from '../vocabulary/statements.ts';
import { clipText, formatCount, putOnOneLine } from '../../base/text.ts';

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

export interface DraftOptions {
  suiteWorkspace: SuiteWorkspace;
  /** The most cases. */
  limit: number;
  /** Ids that other cases have. */
  ids: ReadonlySet<string>;
  /** Decides if a session with these subjects gets a case. */
  isWanted: (subjects: readonly string[]) => boolean;
  /** True if long results go into files. */
  keepsFiles: boolean;
}

/** A case with the session that it repeats. */
export interface ShownCase extends AddedCase {
  steps: readonly ObservedStep[];
  /** The positions in `steps` of the calls whose checks are chosen for good. */
  settled: ReadonlySet<number>;
}

export interface Drafted {
  cases: readonly ShownCase[];
  /** Findings, commented out. */
  findings: readonly AddedCase[];
  /** The files of `toMatchFile`, by their path from the evals file. */
  files: ReadonlyMap<string, string>;
  /** True if a case needs the files of the workspace. */
  needsWorkspace: boolean;
  /** The sessions that are no cases, with the reason: what they need, or are. */
  left: ReadonlyArray<{ title: string; reason: string }>;
}

interface Titled {
  session: ExploredSession;
  title: string;
  rank: number;
  /** Its place among all sessions. */
  position: number;
  /** The titles of further calls that the case has. */
  joined: readonly string[];
  /** Calls whose answers are asserted, too. */
  asserted: readonly ExploredRequest[];
}

/** Drafts a case for each session that a person would keep, grouped by tool, and comments findings out. */
export function draftCases(exploration: Exploration, options: DraftOptions): Drafted {
  const { findings, coverage } = exploration;
  const required = new Map(coverage.byTool.map(({ tool, parameters }) => [tool, parameters.required]));
  const takeId = createTaker(new Set(options.ids));
  const { chosen, left } = chooseTitled(exploration, required, options);
  const files = new Map<string, string>();
  const isConfirmation = findConfirmations(exploration);
  const cases = groupBySubject(chosen).map((titled): ShownCase => {
    const { session, title, joined, asserted } = titled;
    // The id stays when further calls join.
    const id = takeId(deriveSlug(title, 'case'));
    let count = 0;
    const keepFile = (extension: string, text: string) => {
      count += 1;
      const file = `snapshots/${id}${count === 1 ? '' : `-${count}`}.${extension}`;
      files.set(file, text);
      return file;
    };
    const selecting = new Set(pickFeatures(session.adds, 'selected', 'effect', 'search').map(({ tool }) => tool));
    const confirmations = new Set(session.steps.filter((step) => isConfirmation(step, session.steps)));
    const steps = draftSteps(session, {
      required,
      keepFile: options.keepsFiles ? keepFile : null,
      isChecked: ({ request }) =>
        joined.length > 0 ||
        selecting.has(nameRequest(request)) ||
        asserted.some((each) => isSameRequest(each, request)),
      isConfirmation: (step) => confirmations.has(step),
    });
    const settled = session.steps.flatMap((step, index) => (confirmations.has(step) ? [index] : []));
    const client = draftClient(session, {
      hidden: new Map(Object.entries(exploration.hidden ?? {})),
      hasWorkspace: options.suiteWorkspace !== 'none',
    });
    const content = { id, title: escapeText(joinTitles(titled)), ...(client !== null && { client }), steps };
    return { content, comments: [], isCommentedOut: false, steps: session.steps, settled: new Set(settled) };
  });
  return {
    cases,
    findings: findings
      .filter(({ tool }) => tool === null || options.isWanted([tool]))
      .map((finding) => draftFinding(finding, takeId)),
    files,
    needsWorkspace: chosen.some(({ session }) => session.needsFiles),
    left,
  };
}

function chooseTitled(
  { sessions, harmless }: Pick<Exploration, 'sessions' | 'harmless'>,
  required: RequiredNames,
  { suiteWorkspace, isWanted, limit }: DraftOptions,
): { chosen: Titled[]; left: Array<{ title: string; reason: string }> } {
  const left: Array<{ title: string; reason: string }> = [];
  const ranked: Titled[] = [];
  const answering = new Set(
    sessions.flatMap(({ steps }) =>
      steps.filter(({ observation }) => isAnswered(observation)).map(({ request }) => nameRequest(request)),
    ),
  );
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
          : explainWorthless(settled, answering);
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
  const fitting = distinct.length > limit ? joinCalls(leaveOutShown(distinct, harmlessTools), harmlessTools) : distinct;
  appendAll(
    left,
    fitting.slice(limit).map(({ title }) => ({ title, reason: `are above the limit of ${maxCases} cases` })),
  );
  return { chosen: fitting.slice(0, limit).toSorted((a, b) => a.position - b.position), left };
}

/**
 * Leaves out a case of one call that changes something where another case makes the call before any other change: that one asserts its answer,
 * too, and takes its place.
 */
function leaveOutShown(ranked: readonly Titled[], harmless: ReadonlySet<string>): Titled[] {
  const isHarmless = ({ request }: ObservedStep) => isHarmlessRequest(request, (tool) => harmless.has(tool));
  const kept = new Set(ranked);
  const hosts = new Map<Titled, Titled>();
  for (const each of ranked) {
    const [call, ...others] = each.session.steps;
    if (call === undefined || others.length > 0 || isHarmless(call) || !isAnswered(call.observation)) continue;
    const host = ranked.find(({ session: { steps } }) => {
      const first = steps.length < 2 ? undefined : steps.find((step) => !isHarmless(step));
      return (
        first !== undefined &&
        isSameRequest(first.request, call.request) &&
        isJsonEqual(first.observation.outcome, call.observation.outcome)
      );
    });
    if (host === undefined) continue;
    const own = hosts.get(host) ?? host;
    hosts.set(host, {
      ...own,
      rank: Math.min(own.rank, each.rank),
      session: { ...own.session, adds: [...own.session.adds, ...each.session.adds] },
      asserted: [...own.asserted, call.request],
    });
    kept.delete(each);
  }
  return [...kept].map((each) => hosts.get(each) ?? each).toSorted((a, b) => a.rank - b.rank);
}

/** The most calls of a case to which further ones join. */
const maxJoined = 8;

/**
 * Lets further calls of a tool join the case of its first one, so that a file of few cases shows more: those that change nothing, and apart
 * from them the refusals of a tool that makes changes.
 */
function joinCalls(ranked: readonly Titled[], harmless: ReadonlySet<string>): Titled[] {
  const joint: Titled[] = [];
  const open = new Map<string, number>();
  for (const each of ranked) {
    const { session, title } = each;
    const key = nameJoint(session, harmless);
    const place = key === null ? undefined : open.get(key);
    const host = place === undefined ? undefined : joint[place];
    if (place === undefined || host === undefined || host.session.steps.length + session.steps.length > maxJoined) {
      if (key !== null) open.set(key, joint.length);
      joint.push(each);
      continue;
    }
    const whole = {
      ...host.session,
      steps: [...host.session.steps, ...session.steps],
      adds: [...host.session.adds, ...session.adds],
      needsFiles: host.session.needsFiles || session.needsFiles,
    };
    joint[place] = { ...host, session: whole, joined: [...host.joined, title] };
  }
  return joint;
}

/** Names the case that a session can be a part of; null if it must be one of its own. */
function nameJoint({ steps }: ExploredSession, harmless: ReadonlySet<string>): string | null {
  const [first] = steps;
  if (first?.request.kind !== 'tool') return null;
  const { tool } = first.request;
  const canJoin = steps.every(
    ({ request, observation: { asked = [] } }) =>
      request.kind === 'tool' && request.tool === tool && asked.length === 0,
  );
  if (!canJoin) return null;
  const isHarmless = (name: string) => harmless.has(name);
  if (steps.every(({ request }) => isHarmlessRequest(request, isHarmless))) return tool;
  return steps.every(({ observation }) => isRefused(observation)) ? `refusals of ${tool}` : null;
}

/** Writes the title of a case with those of the calls that joined it, as far as they fit, without the name of their tool. */
function joinTitles({ session, title, joined }: Titled): string {
  const start = nameSubject(session).length + 1;
  const said = title.startsWith('refuses ', start) ? /^refuses / : /^answers (?=with )/;
  const others = joined.map((each) => each.slice(start).replace(said, ''));
  for (let count = others.length; count > 0; count -= 1) {
    const left = others.length - count;
    const more = left === 0 ? [] : [formatCount(left, 'more call')];
    const whole = joinWords([title, ...others.slice(0, count), ...more]);
    if (whole.length <= longestTitle) return whole;
  }
  return others.length === 0
    ? title
    : clipText(`${title} and ${formatCount(others.length, 'more call')}`, longestTitle);
}

/**
 * Explains why a session shows nothing that a person would assert; null if it does. An answer that only reads like an error is a refusal
 * where its tool answers other calls: a server that misses a key, or a service, answers each call so.
 */
function explainWorthless({ steps }: ExploredSession, answering: ReadonlySet<string>): string | null {
  const last = steps.at(-1);
  const unflagged = steps.filter(({ observation }) => readsLikeError(observation.outcome));
  const isRefusal =
    unflagged.length === 1 && last !== undefined && unflagged[0] === last && answering.has(nameRequest(last.request));
  if (unflagged.length > 0 && !isRefusal) return 'have an answer that reads like an error';
  // The explorer knows too little about resources and prompts to say what is wrong with a request.
  const isOther = last !== undefined && last.request.kind !== 'tool' && isRefused(last.observation);
  return isOther ? 'are refused for a reason that no schema names' : null;
}

/** The rank of sessions that show what others show. */
const repeated = 9;

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
    if (count(nameRequest(request).replaceAll(/\d+/g, '0')) >= longestSeries) return repeated;
    return count(request.kind) < firstRequests ? 0 : 5;
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
function groupBySubject(cases: readonly Titled[]): Titled[] {
  const subjects = cases.map(({ session }) => nameSubject(session));
  const order = [...new Set(subjects)];
  return cases.toSorted((a, b) => order.indexOf(nameSubject(a.session)) - order.indexOf(nameSubject(b.session)));
}

function nameSubject({ steps }: Pick<ExploredSession, 'steps'>): string {
  const last = steps.at(-1);
  return last === undefined ? '' : nameRequest(last.request);
}

/**
 * Drafts the client's answers to the requests of the server; null if it asked for nothing. A tool that is listed only for a client with
 * abilities gets these.
 */
export function draftClient(
  { steps }: Pick<ExploredSession, 'steps'>,
  { hidden, hasWorkspace }: { hidden: HiddenTools; hasWorkspace: boolean },
): JsonObject | null {
  const asked = steps.flatMap(({ observation }) => observation.asked ?? []);
  const needed = new Set([
    ...asked.map(({ ability }) => ability),
    ...steps.flatMap(({ request }) => (request.kind === 'tool' ? (hidden.get(request.tool) ?? []) : [])),
  ]);
  const names = abilities.filter((name) => needed.has(name));
  if (names.length === 0) return null;
  const roots = hasWorkspace ? ['file://{{workspace}}'] : [];
  const list = (name: Ability) =>
    steps.flatMap(({ observation }) => [
      ...(observation.asked ?? []).flatMap((each) =>
        each.ability === name && 'answer' in each ? [mapTexts<unknown>(each.answer, escapeText)] : [],
      ),
      // A user who opens the URL would make the client repeat the call, which the explorer did not.
      ...(name === 'elicitation' && wantsUrl(observation) ? ['decline'] : []),
    ]);
  return Object.fromEntries(names.map((name) => [name, name === 'roots' ? roots : list(name)]));
}

/**
 * Returns what checks if the text of an answer only confirms a call: its tool makes a change that a reader shows, and answers with one line, as
 * it did before in the session. Its words may change, and what the call did is seen without them.
 */
function findConfirmations({ sessions }: Pick<Exploration, 'sessions'>) {
  const proven = new Set(
    sessions.flatMap(({ adds }) => pickFeatures(adds, 'state', 'replaced').map(({ writer }) => writer)),
  );
  return (step: ObservedStep, steps: readonly ObservedStep[]): boolean => {
    const { request, observation } = step;
    const before = steps.slice(0, steps.indexOf(step)).filter((other) => isJsonEqual(other.request, request));
    return (
      proven.has(nameRequest(request)) &&
      readsLikeConfirmation(step) &&
      before.every((other) => isJsonEqual(other.observation.outcome, observation.outcome))
    );
  };
}

/**
 * Drafts the steps with their checks: those of the last request, of each request that another one repeats, and of those that `isChecked`
 * names.
 */
export function draftSteps(
  { steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>,
  {
    isChecked = () => false,
    isConfirmation = () => false,
    ...context
  }: {
    required: RequiredNames;
    keepFile: ((extension: string, text: string) => string) | null;
    isChecked?: (step: ObservedStep) => boolean;
    isConfirmation?: (step: ObservedStep) => boolean;
  },
): JsonObject[] {
  const captures = listCaptures(steps.map(({ request }) => request));
  const isShown = (step: ObservedStep, index: number) =>
    isChecked(step) || index === steps.length - 1 || isRepeated(index) || !isAnswered(step.observation);
  const isRepeated = (index: number) =>
    steps.some(
      ({ request }, other) => other !== index && JSON.stringify(request) === JSON.stringify(steps[index]?.request),
    );
  return steps.flatMap((step, index): JsonObject[] => {
    const call = draftRequest(step.request, { index, captures });
    const earlier = steps.slice(0, index).findLast(({ request }) => isJsonEqual(request, step.request));
    const shown = {
      ...context,
      isLater: index > 0,
      before: earlier?.observation.outcome,
      isConfirmation: isConfirmation(step),
      isGuard: pickFeatures(adds, 'guard').some((guard) => isGuardedBy(step.request, guard)),
    };
    const checks = isShown(step, index) ? chooseChecks(step, shown) : [];
    return [call, ...checks.map((check) => ({ assert: mapTexts(check, escapeText) }))];
  });
}

/** The values that later requests take from results, by the text of their reference. */
type Captures = ReadonlyMap<string, Reference & { name: string }>;

function listCaptures(requests: readonly ExploredRequest[]): Captures {
  const captures = new Map<string, Reference & { name: string }>();
  const takeName = createTaker(new Set());
  for (const request of requests) {
    for (const { text } of request.kind === 'tool' ? listTexts(request.arguments) : []) {
      const reference = readReference(text);
      if (reference !== null && !captures.has(text))
        captures.set(text, { ...reference, name: takeName(nameCapture(reference)) });
    }
  }
  return captures;
}

/** Names a capture by what it holds, and the number of its step. */
function nameCapture({ step, capture }: Reference): string {
  const held =
    typeof capture === 'string'
      ? capture.split('/').findLast((part) => !/^\d+$/.test(part))
      : /\b(\w+)\W*\(/.exec(capture.matches.toLowerCase())?.[1];
  return `${(held ?? 'id').replaceAll(/\W+/g, '_').replace(/^(?=\d)/, '_')}${step + 1}`;
}

/** Drafts a request of a session as a step, with captures for the values that later ones take from its result. */
function draftRequest(
  request: ExploredRequest,
  { index, captures }: { index: number; captures: Captures },
): JsonObject {
  const fill = (text: string) => {
    const found = captures.get(text);
    return found === undefined ? escapeText(text) : `{{${found.name}}}`;
  };
  if (request.kind === 'resource') return { readResource: escapeText(request.uri) };
  const own =
    request.kind === 'tool' ? { toolCall: escapeText(request.tool) } : { getPrompt: escapeText(request.prompt) };
  const kept = [...captures.values()].filter(({ step }) => step === index);
  return {
    ...own,
    ...(Object.keys(request.arguments).length > 0 && { arguments: mapTexts(request.arguments, fill) }),
    ...(kept.length > 0 && { capture: Object.fromEntries(kept.map(({ name, capture }) => [name, capture])) }),
  };
}

/** Drafts the requests of a session as steps, with captures for the values that later ones take from results. */
export function draftRequests(session: readonly ExploredRequest[]): JsonObject[] {
  const captures = listCaptures(session);
  return session.map((request, index) => draftRequest(request, { index, captures }));
}

/** Drafts the session of a finding, commented out: it fails until the server is corrected, or the case is. */
function draftFinding({ kind, tool, message, session }: Finding, takeId: (id: string) => string): AddedCase {
  const steps = draftRequests(session);
  const title = `${tool ?? 'The server'}: ${kind}`;
  return {
    content: { id: takeId(deriveSlug(title, 'finding')), title: escapeText(title), steps },
    comments: [`Finding ${kind}: ${putOnOneLine(message)}`],
    isCommentedOut: true,
  };
}

/** Escapes `{{`, which begins a placeholder in an evals file, except in that of the workspace. */
export function escapeText(text: string): string {
  return text.replaceAll(/\{\{(?!workspace\}\})/g, String.raw`\{{`);
}
