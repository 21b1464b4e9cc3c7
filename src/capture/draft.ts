import { isRecord, type JsonObject, listTexts } from '../base/json.ts';
import { clipText, joinWords, putOnOneLine } from '../base/text.ts';
import { draftClient, draftSteps, escapeText } from '../explore/draft/draft-cases.ts';
import type { HiddenTools } from '../explore/find-hidden.ts';
import { settleSession } from '../explore/draft/settle.ts';
import { isWriter, longestTitle, type RequiredNames, writeTitle } from '../explore/draft/title.ts';
import { isAnswered, isRefused } from '../explore/answers.ts';
import { type ObservedStep } from '../explore/exploration.ts';
import { nameRequest } from '../model/explored-request.ts';
import { volatileMark } from '../explore/stability/forms.ts';
import { readOutcomeText } from '../explore/stability/texts.ts';
import { readVerb } from '../explore/vocabulary/names.ts';
import type { AddedCase } from '../suite/add-cases.ts';
import { deriveSlug } from '../suite/case-ids.ts';

/** A task as a case shows it. */
export interface DraftedTask {
  /** The steps of the task, after those of earlier tasks that it needs. */
  steps: readonly ObservedStep[];
  /** How many steps are of earlier tasks. Their own cases check their answers. */
  earlier: number;
  /** Why the case is commented out; null if it runs. */
  reason: string | null;
  /** True if the answers were compared with those of replays. Otherwise, only their type is asserted. */
  isReplayed: boolean;
}

export interface DraftContext {
  required: RequiredNames;
  harmless: ReadonlySet<string>;
  /** The tools that the server listed in the session; none if the client did not ask for them. */
  listed: ReadonlySet<string>;
  hidden: HiddenTools;
  hasWorkspace: boolean;
  takeId: (id: string) => string;
}

/** The case of a task, with the steps whose answers its checks are chosen from; null if its answers were not replayed. */
export interface TaskCase extends AddedCase {
  steps: readonly ObservedStep[] | null;
}

/** Drafts the case of a task. */
export function draftTask({ steps: seen, earlier, reason, isReplayed }: DraftedTask, context: DraftContext): TaskCase {
  const { required, harmless, listed, hidden, hasWorkspace, takeId } = context;
  const session = { id: 1, phase: 'chains' as const, steps: seen, adds: [], volatile: [], needsFiles: hasWorkspace };
  const settled = settleSession(session, harmless);
  const { steps } = settled ?? session;
  const isMissing = (tool: unknown) => listed.size > 0 && typeof tool === 'string' && !listed.has(tool);
  const unlisted = steps.find(({ request, observation }) => isMissing(nameTool(request)) && isAnswered(observation));
  const own =
    settled === null
      ? 'it names a directory that only the session had'
      : unlisted === undefined
        ? reason
        : `the server does not list ${nameRequest(unlisted.request)}, and a case calls listed tools only`;
  const title = nameTask(steps.slice(earlier), required);
  const client = draftClient({ steps }, { hidden, hasWorkspace });
  const all = draftSteps({ steps, adds: [] }, { required, keepFile: null, isChecked: () => true });
  const drafted = assertMissing(limitChecks(dropChecks(all, earlier)), isMissing);
  const content = {
    id: takeId(shortenId(deriveSlug(title, 'case'))),
    title: escapeText(title),
    ...(client !== null && { client }),
    steps: isReplayed ? drafted : assertTypes(drafted),
  };
  const hasPath = JSON.stringify(content).includes('{{workspace}}');
  const why =
    own ?? (hasPath && !hasWorkspace ? 'it names a file of the machine, and the suite has no `workspace`' : null);
  const comments = why === null ? [] : [`Not run: ${putOnOneLine(why)}.`];
  return { content, comments, isCommentedOut: why !== null, steps: isReplayed ? steps : null };
}

/** Drops the checks of the first requests. */
function dropChecks(steps: readonly JsonObject[], requests: number): JsonObject[] {
  const positions = steps.flatMap((step, index) => ('assert' in step ? [] : [index]));
  const end = positions[requests] ?? steps.length;
  return steps.filter((step, index) => index >= end || !('assert' in step));
}

/** Keeps one check of each request before the last one, whose answer the task was about. */
function limitChecks(steps: readonly JsonObject[]): JsonObject[] {
  const last = steps.findLastIndex((step) => !('assert' in step));
  return steps.filter((step, index) => index > last || !('assert' in step && 'assert' in (steps[index - 1] ?? {})));
}

const nameTool = (request: ObservedStep['request']) => (request.kind === 'tool' ? request.tool : null);

/** Asserts that a tool is missing that the server refused because it does not list it: any other check of it fails. */
function assertMissing(steps: readonly JsonObject[], isMissing: (tool: unknown) => boolean): JsonObject[] {
  let called: unknown = null;
  return steps.map((step) => {
    if (!('assert' in step)) called = step['toolCall'];
    return 'assert' in step && isMissing(called) ? { assert: { toolNotFound: called } } : step;
  });
}

/** Asserts that calls were answered, and no value: values were seen once. Refusals stay. */
function assertTypes(steps: readonly JsonObject[]): JsonObject[] {
  const isValue = ({ assert }: JsonObject) =>
    isRecord(assert) &&
    ('toolResultEquals' in assert || 'toolResultContains' in assert || 'toolResultContent' in assert);
  return steps.flatMap((step, index) => {
    if (!isValue(step)) return [step];
    return isValue(steps[index - 1] ?? {}) ? [] : [{ assert: { toolResultIsError: false } }];
  });
}

/** Quoted values and messages make a title long. A person types an id after `--cases`. */
const longestId = 60;

/** Cuts an id after a whole word. */
function shortenId(id: string): string {
  if (id.length <= longestId) return id;
  const words = id.slice(0, longestId + 1).replace(/-[^-]*$/, '');
  return words.slice(0, longestId);
}

/** The most requests that a title names. */
const maxSubjects = 4;

/** Says what a reader finds at the end of a task, or else what the last request is. */
function nameTask(steps: readonly ObservedStep[], required: RequiredNames): string {
  const last = steps.at(-1);
  const writer = steps.slice(0, -1).findLast((step) => isWriter(step.request) && isAnswered(step.observation));
  if (last !== undefined && writer !== undefined && !isWriter(last.request) && isAnswered(last.observation)) {
    const text = readOutcomeText(last.observation.outcome);
    const given = writer.request.kind === 'tool' ? [...listTexts(writer.request.arguments)] : [];
    const isFound = given.some((each) => each.text.length > 2 && text.includes(each.text));
    const verb = readVerb(nameRequest(writer.request));
    const [reader, name] = [nameRequest(last.request), nameRequest(writer.request)];
    if (isFound && verb === 'create') return clipText(`${reader} finds what ${name} made`, longestTitle);
    const isGone = given.length > 0 && given.every((each) => !text.includes(each.text));
    if (isGone && verb === 'remove') return clipText(`${reader} no longer finds what ${name} removed`, longestTitle);
    if (isFound && verb === 'update') return clipText(`${reader} sees what ${name} changed`, longestTitle);
  }
  const subjects = [...new Set(steps.map(({ request }) => nameRequest(request)))];
  if (subjects.length === 1) return nameStep(steps.slice(-1), required);
  const shown = subjects.slice(0, subjects.length > maxSubjects ? maxSubjects - 1 : maxSubjects);
  const more = subjects.length - shown.length;
  const words = more === 0 ? shown : [...shown, `${more} more`];
  return clipText(joinWords(words), longestTitle);
}

/** Quotes the message of a refusal whose arguments are too large to be shown. */
function nameStep(steps: readonly ObservedStep[], required: RequiredNames): string {
  const [step] = steps;
  const title = writeTitle({ steps, adds: [] }, required);
  if (step === undefined || step.request.kind !== 'tool' || !isRefused(step.observation)) return title;
  const isShown = Object.values(step.request.arguments).every((value) => typeof value !== 'object' || value === null);
  const [line = ''] = readOutcomeText(step.observation.outcome).split('\n');
  const isOneLine = line.length > 0 && !line.includes(volatileMark);
  return isShown || !isOneLine ? title : clipText(`${step.request.tool} refuses: ${line}`, longestTitle);
}
