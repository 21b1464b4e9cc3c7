import { isRecord, type JsonObject } from '../../base/json.ts';
import { type AddedCase, renderEvals } from '../../suite/add-cases.ts';
import { createTaker, deriveSlug } from '../../suite/case-ids.ts';
import {
  type ExploredRequest,
  type ExploredSession,
  type Exploration,
  type Finding,
  isAnswered,
  nameRequest,
} from '../exploration.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { readReference } from '../world/placeholders.ts';
import { chooseChecks } from './checks.ts';
import { type RequiredNames, writeTitle } from './title.ts';

/** The most cases of a file: more are not read. */
const maxCases = 40;

export interface DraftedEvals {
  text: string;
  cases: number;
  /** The sessions that are no cases, with the reason: what they need, or are. */
  left: ReadonlyArray<{ title: string; reason: string }>;
}

/** Writes an evals file from an exploration: a case for each session that needs no workspace, and findings commented out. */
export function draftEvals(exploration: Exploration): DraftedEvals {
  const { sessions, findings, server, coverage } = exploration;
  const required = new Map(coverage.byTool.map(({ tool, parameters }) => [tool, parameters.required]));
  const takeId = createTaker(new Set());
  const titled = sessions.map((session) => ({ session, title: writeTitle(session, required) }));
  const movable = titled.filter(({ session }) => !session.needsFiles);
  const chosen = new Set(movable.toSorted((a, b) => rank(a.session) - rank(b.session)).slice(0, maxCases));
  const cases = groupBySubject(movable.filter((each) => chosen.has(each))).map(({ session, title }): AddedCase => ({
    content: { id: takeId(deriveSlug(title, 'case')), title: escapeText(title), ...draftSteps(session, required) },
    comments: [],
    isCommentedOut: false,
  }));
  const suite = server.name ?? 'MCP server';
  return {
    text: renderEvals({
      comments: headComments,
      suite,
      cases: [...cases, ...findings.map((finding) => draftFinding(finding, takeId))],
    }),
    cases: cases.length,
    left: titled
      .filter((each) => !chosen.has(each))
      .map(({ session, title }) => ({
        title,
        reason: session.needsFiles ? 'need files of the workspace' : `are above the limit of ${maxCases} cases`,
      })),
  };
}

const headComments = [
  'yaml-language-server: $schema=../node_modules/mcp-eval-ci/schemas/evals.schema.json',
  'Written by `mcp-eval-ci explore`. The server gave these answers in several runs when it was written. Check that they are right.',
];

/** Each tool has its first answer before other cases are taken; then what calls do together, refusals, and the rest. */
function rank({ adds, steps }: ExploredSession): number {
  if (adds.some((feature) => /^(?:tool|resource|prompt) /.test(feature))) return 0;
  if (adds.some((feature) => feature.startsWith('state '))) return 1;
  const last = steps.at(-1);
  return last !== undefined && isAnswered(last.observation) ? 3 : 2;
}

interface Titled {
  session: ExploredSession;
  title: string;
}

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

/** Drafts the steps with their checks: those of the last request, and of each request that another one repeats. */
function draftSteps({ steps }: Pick<ExploredSession, 'steps'>, required: RequiredNames): JsonObject {
  const captures = listCaptures(steps.map(({ request }) => request));
  const isShown = (index: number) => index === steps.length - 1 || isRepeated(index);
  const isRepeated = (index: number) =>
    steps.some(
      ({ request }, other) => other !== index && JSON.stringify(request) === JSON.stringify(steps[index]?.request),
    );
  const drafted = steps.flatMap((step, index): JsonObject[] => {
    const capture = captures.get(index);
    const call = { ...draftRequest(step.request, captures), ...(capture !== undefined && { capture }) };
    const checks = isShown(index) || !isAnswered(step.observation) ? chooseChecks(step, required) : [];
    return [call, ...checks.map((check) => ({ assert: mapTexts(check, escapeText) }))];
  });
  return { steps: drafted };
}

type Captures = ReadonlyMap<number, Record<string, string>>;

/** Names the values that later requests take from results, by step. */
function listCaptures(requests: readonly ExploredRequest[]): Captures {
  const captures = new Map<number, Record<string, string>>();
  const visit = (value: unknown) => {
    if (typeof value === 'string') {
      const reference = readReference(value);
      if (reference === null) return;
      const known = captures.get(reference.step) ?? {};
      captures.set(reference.step, { ...known, [nameCapture(reference)]: reference.pointer });
    } else if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isRecord(value)) for (const member of Object.values(value)) visit(member);
  };
  for (const request of requests) if (request.kind === 'tool') visit(request.arguments);
  return captures;
}

function nameCapture({ step, pointer }: { step: number; pointer: string }): string {
  const last = pointer.split('/').findLast((part) => !/^\d+$/.test(part)) ?? 'value';
  return `${last.replaceAll(/\W+/g, '_').replace(/^(?=\d)/, '_')}${step + 1}`;
}

function draftRequest(request: ExploredRequest, captures: Captures): JsonObject {
  const fill = (text: string) => {
    const reference = readReference(text);
    if (reference === null) return escapeText(text);
    return captures.has(reference.step) ? `{{${nameCapture(reference)}}}` : escapeText(text);
  };
  if (request.kind === 'resource') return { readResource: escapeText(request.uri) };
  const step =
    request.kind === 'tool' ? { toolCall: escapeText(request.tool) } : { getPrompt: escapeText(request.prompt) };
  return Object.keys(request.arguments).length === 0 ? step : { ...step, arguments: mapTexts(request.arguments, fill) };
}

/** Drafts the requests of a session as steps, with captures for the values that later ones take from results. */
export function draftRequests(session: readonly ExploredRequest[]): JsonObject[] {
  const captures = listCaptures(session);
  return session.map((request, index) => {
    const capture = captures.get(index);
    return { ...draftRequest(request, captures), ...(capture !== undefined && { capture }) };
  });
}

/** Drafts the session of a finding, commented out: it fails until the server is corrected, or the case is. */
function draftFinding({ kind, tool, message, session }: Finding, takeId: (id: string) => string): AddedCase {
  const steps = draftRequests(session);
  const title = `${tool ?? 'The server'}: ${kind}`;
  return {
    content: { id: takeId(deriveSlug(title, 'finding')), title: escapeText(title), steps },
    comments: [`Finding ${kind}: ${message.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')}`],
    isCommentedOut: true,
  };
}

/** Escapes `{{`, which begins a placeholder in an evals file. */
export function escapeText(text: string): string {
  return text.replaceAll('{{', String.raw`\{{`);
}
