import { isAnswered, wantsUrl } from '../answers.ts';
import { isJsonEqual, type JsonObject, listTexts } from '../../base/json.ts';
import { type Ability, abilities } from '../../model/client-abilities.ts';
import type { AddedCase } from '../../suite/add-cases.ts';
import { createTaker, deriveSlug } from '../../suite/case-ids.ts';
import { type ExploredSession, type Exploration, type Finding, type ObservedStep } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import { pickFeatures } from '../features/feature.ts';
import { isGuardedBy } from '../features/guards.ts';
import { isSameRequest } from '../features/list-features.ts';
import type { HiddenTools } from '../find-hidden.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { readReference, type Reference } from '../world/placeholders.ts';
import { chooseChecks, readsLikeConfirmation } from './checks.ts';
import { type ChoiceOptions, chooseCases, nameSubject } from './choose-cases.ts';
import { joinTitles, type RequiredNames } from './title.ts';
import { putOnOneLine } from '../../base/text.ts';

export interface DraftOptions extends ChoiceOptions {
  /** Ids that other cases have. */
  ids: ReadonlySet<string>;
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

/** Drafts a case for each session that a person would keep, grouped by tool, and comments findings out. */
export function draftCases(exploration: Exploration, options: DraftOptions): Drafted {
  const { findings, coverage } = exploration;
  const required = new Map(coverage.byTool.map(({ tool, parameters }) => [tool, parameters.required]));
  const takeId = createTaker(new Set(options.ids));
  const { chosen, left } = chooseCases(exploration, required, options);
  const files = new Map<string, string>();
  const isConfirmation = findConfirmations(exploration);
  const cases = chosen.map(({ session, title, joined, asserted }): ShownCase => {
    // The id stays when further calls join.
    const id = takeId(deriveSlug(title, 'case'));
    let count = 0;
    const keepFile = (extension: string, text: string) => {
      count += 1;
      const file = `snapshots/${id}${count === 1 ? '' : `-${count}`}.${extension}`;
      files.set(file, text);
      return file;
    };
    const selecting = new Set(
      pickFeatures(session.adds, 'selected', 'effect', 'limit', 'edge', 'search', 'statement', 'several').map(
        ({ tool }) => tool,
      ),
    );
    const confirmations = new Set(session.steps.filter((step) => isConfirmation(step, session.steps)));
    const steps = draftSteps(session, {
      required,
      keepFile: options.keepsFiles ? keepFile : null,
      isChecked: ({ request }) =>
        selecting.has(nameRequest(request)) || asserted.some((each) => isSameRequest(each, request)),
      isConfirmation: (step) => confirmations.has(step),
    });
    const settled = session.steps.flatMap((step, index) => (confirmations.has(step) ? [index] : []));
    const client = draftClient(session, {
      hidden: new Map(Object.entries(exploration.hidden ?? {})),
      hasWorkspace: options.suiteWorkspace !== 'none',
    });
    const content = {
      id,
      title: escapeText(joinTitles([title, ...joined], nameSubject(session))),
      ...(client !== null && { client }),
      steps,
    };
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
      isFirst:
        index === steps.length - 1 &&
        pickFeatures(adds, 'tool').some(({ subject }) => subject === nameRequest(step.request)),
      // What is behind a guard refuses the value, too, and names it.
      keepsWords: pickFeatures(adds, 'guard').some((guard) => isGuardedBy(step.request, guard)),
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
  if (request.kind === 'completion') {
    const { argument, of, name, value, arguments: others } = request;
    return {
      complete: escapeText(argument),
      [of]: escapeText(name),
      ...(value !== '' && { value: escapeText(value) }),
      ...(Object.keys(others).length > 0 && { arguments: mapTexts(others, escapeText) }),
    };
  }
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
