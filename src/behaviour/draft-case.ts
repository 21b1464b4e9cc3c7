import { isRecord, type JsonObject } from '../base/json.ts';
import { chooseChecks } from '../explore/draft/checks.ts';
import { draftRequests, escapeText } from '../explore/draft/draft-cases.ts';
import type { RequiredNames } from '../explore/draft/title.ts';
import { type ObservedStep, type Outcome } from '../explore/exploration.ts';
import { nameRequest } from '../model/explored-request.ts';
import { volatileMark } from '../explore/stability/forms.ts';
import { mergeValues } from '../explore/stability/merge-values.ts';
import { mapTexts } from '../workspace/placeholders.ts';
import { renderCases } from '../suite/add-cases.ts';
import { deriveSlug } from '../suite/case-ids.ts';
import { listRequests } from './candidates.ts';
import type { FoundDifference, Run } from './compare-runs.ts';
import type { ComparedRequest } from './bench.ts';

const longestValue = 300;

/** Drafts a session as a case of an evals file that asserts what the last request was answered in these runs. */
export function draftCase(
  requests: readonly ComparedRequest[],
  runs: readonly Run[],
  { difference, required }: { difference: Pick<FoundDifference, 'exact' | 'what' | 'value'>; required: RequiredNames },
): string {
  const last = requests.at(-1);
  const answered = runs.flatMap((run) => run[requests.length - 1] ?? []);
  const [first] = answered;
  if (last === undefined || first === undefined) return '';
  const outcome = mergeOutcomes(answered.map(({ observation }) => observation.outcome)) ?? first.observation.outcome;
  const step: ObservedStep = {
    request: last.request,
    isValid: !last.isWrong,
    observation: { ...first.observation, outcome },
  };
  const checks =
    checkPointer(difference) ??
    chooseChecks(step, { required, isLater: requests.length > 1, keepFile: null, keepsWords: true });
  const title = `${nameRequest(last.request)}: ${describeCase(difference.exact)}`;
  const asserted = checks.map((check) => ({ assert: mapTexts(check, escapeText) }));
  return print(title, [...draftRequests(listRequests(requests)), ...asserted]);
}

function print(title: string, steps: readonly JsonObject[]): string {
  const content = { id: deriveSlug(title, 'case'), title: escapeText(title), steps };
  return renderCases([{ content, comments: [], isCommentedOut: false }], '');
}

function describeCase(exact: string | null): string {
  return exact === null || exact === '' ? 'answers as before' : `${readInner(exact).slice(1)} is as before`;
}

/** The part of a pointer within structured content, or within a text that is JSON. */
function readInner(exact: string): string {
  return /^(?:\/structuredContent|\/content\/\d+\/text)(\/.*)$/.exec(exact)?.[1] ?? exact;
}

/** Asserts the value that differs, if it is a small one in JSON. */
function checkPointer({ exact, value }: Pick<FoundDifference, 'exact' | 'value'>): JsonObject[] | null {
  if (exact === null || value === undefined) return null;
  const inner = readInner(exact);
  const text = JSON.stringify(value);
  if (inner === exact || text.length > longestValue || text.includes(volatileMark)) return null;
  return [{ toolResultEquals: value, path: inner }];
}

function mergeOutcomes(outcomes: readonly Outcome[]): Outcome | null {
  const [first] = outcomes;
  if (first?.kind !== 'result') return null;
  const merged = mergeValues(outcomes.map((each) => (each.kind === 'result' ? each.result : {})));
  return { ...first, result: isRecord(merged) ? merged : {} };
}

/** Drafts a session as a case that limits how long the last request takes: in the middle between a base of `beforeMs` and a slower call. */
export function draftTimed(requests: readonly ComparedRequest[], limitMs: number): string {
  const last = requests.at(-1);
  if (last === undefined) return '';
  const title = `${nameRequest(last.request)}: answers in time`;
  return print(title, [
    ...draftRequests(listRequests(requests)),
    { assert: { toolLatencyUnder: limitMs, latest: true } },
  ]);
}
