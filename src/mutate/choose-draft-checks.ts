import { isRecord, type JsonObject } from '../base/json.ts';
import { systemClock } from '../base/time.ts';
import { serverUnderTest } from '../cases/step-server.ts';
import type { ShownCase } from '../explore/draft/draft-cases.ts';
import type { ObservedStep } from '../explore/exploration.ts';
import { hasVolatileForm } from '../explore/stability/forms.ts';
import type { ToolList } from '../mcp/tool-declarations.ts';
import type { AddedCase } from '../suite/add-cases.ts';
import { compileCase } from '../suite/compile.ts';
import { readSuite } from '../suite/read.ts';
import { emptyName } from '../workspace/workspace.ts';
import { observeCases } from './observe-cases.ts';
import { playedWorkspace, playSteps } from './play-steps.ts';
import { suggestChecks, type Suggestion } from './suggest-checks.ts';
import { createCaseRecorder, type TapedCase } from './taped-case.ts';

/** A longer check is no longer read as a whole, and a shorter text says nothing. */
const longestCheck = 300;
const shortestText = 3;

const timeoutMs = 30_000;

/**
 * Chooses the checks of drafted cases anew, as `mutate --fix` would: the fewest that notice most changes of the answers that the explorer
 * saw, and tolerate the harmless ones. The checks of a draft are among those to choose from, and stay where no others notice as much. No
 * server is needed. `tools` says what the server declares. The checks of `settled` calls stay.
 */
export async function chooseDraftChecks<Draft extends AddedCase & Partial<Pick<ShownCase, 'settled'>>>(
  drafts: readonly Draft[],
  {
    listSteps,
    tools,
    isPrivate,
  }: {
    /** The observed steps of a draft; null for one that stays as it is. */
    listSteps: (draft: Draft) => readonly ObservedStep[] | null;
    tools: ToolList;
    isPrivate: (text: string) => boolean;
  },
): Promise<Draft[]> {
  const runs: [TapedCase[], TapedCase[]] = [[], []];
  // Several cases may have one title.
  const owners = new Map<TapedCase, Draft>();
  for (const draft of drafts) {
    const steps = draft.isCommentedOut ? null : listSteps(draft);
    if (steps === null) continue;
    for (const run of [0, 1] as const) {
      const taped = await play(draft, steps, { run, tools });
      if (taped === null) continue;
      runs[run].push(taped);
      owners.set(taped, draft);
    }
  }
  const observed = await observeCases(...runs);
  const suggestions = await suggestChecks(observed, { replacesBrittle: true, isPrivate, isDraft: true, isFit });
  const byDraft = Map.groupBy(suggestions, ({ testCase }) => owners.get(testCase.taped));
  return drafts.map((draft) => ({ ...draft, content: applyTo(draft, byDraft.get(draft) ?? []) }));
}

/** The kinds of checks that other machines may fail, because they compress in another way, or that are hard to read. */
const unfit = /^toolResultContent$|MatchesSchema$/;

function isFit(check: JsonObject): boolean {
  const names = Object.keys(check);
  const isShort = Object.entries(check).some(
    ([name, value]) => name.endsWith('Contains') && typeof value === 'string' && value.length < shortestText,
  );
  return !isShort && !names.some((name) => unfit.test(name)) && JSON.stringify(check).length <= longestCheck;
}

/** Runs a draft on the answers that the explorer saw; null if the format does not allow it. */
async function play(
  { content }: AddedCase,
  steps: readonly ObservedStep[],
  { run, tools }: { run: 0 | 1; tools: ToolList },
): Promise<TapedCase | null> {
  const text = JSON.stringify({ suite: 'Draft', workspace: emptyName, cases: [content] });
  const { suite } = readSuite(text, { file: 'draft' });
  const [found] = suite?.cases ?? [];
  if (suite === null || found === undefined) return null;
  const recorder = createCaseRecorder();
  const target = { url: 'http://127.0.0.1', serverName: serverUnderTest, protocol: 'legacy' as const };
  await recorder.runCase(compileCase(found, suite, { dialect: 'embedded' }), target, {
    clock: systemClock,
    timeoutMs,
    openSession: playSteps(steps, { run, tools }),
    facts: { iteration: 1, uuid: '', variables: new Map(), workspace: playedWorkspace },
  });
  return recorder.list()[0] ?? null;
}

const isAssertion = (step: unknown) => isRecord(step) && Object.hasOwn(step, 'assert');

/**
 * Checks if an assertion is about values that no change is made to, so that others seem to notice as much: a time, which in a draft is one
 * that all replays had, or nulls alone.
 */
function isUnmatched(step: unknown): boolean {
  const check = isRecord(step) && isRecord(step['assert']) ? step['assert'] : {};
  return hasVolatileForm(JSON.stringify(check)) || hasOnlyNulls(check['toolResultEquals']);
}

function hasOnlyNulls(value: unknown): boolean {
  const members = isRecord(value) ? Object.values(value) : Array.isArray(value) ? value : null;
  return members === null ? value === null : members.length > 0 && members.every(hasOnlyNulls);
}

/** Applies suggestions to the steps of a case, except to those of settled calls. */
function applyTo(
  { content, settled }: AddedCase & Partial<Pick<ShownCase, 'settled'>>,
  suggestions: readonly Suggestion[],
): JsonObject {
  const { steps } = content;
  if (!Array.isArray(steps) || suggestions.length === 0) return content;
  const requests = [...steps.keys()].filter((index) => !isAssertion(steps[index]));
  const kept = suggestions.filter(
    ({ stepIndex, remove }) =>
      settled?.has(requests.indexOf(stepIndex)) !== true && !remove.some((index) => isUnmatched(steps[index])),
  );
  const removed = new Set(kept.flatMap(({ remove }) => remove));
  const added = Map.groupBy(kept, ({ stepIndex }) => stepIndex);
  return {
    ...content,
    steps: steps
      .filter(isRecord)
      .flatMap((step, index): JsonObject[] => [
        ...(removed.has(index) ? [] : [step]),
        ...(added.get(index) ?? []).flatMap(({ add }) => add.map((assert) => ({ assert }))),
      ]),
  };
}
