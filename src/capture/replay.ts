import { listTexts } from '../base/json.ts';
import { isWriter } from '../explore/draft/title.ts';
import type { KeptSession } from '../explore/corpus.ts';
import { type Observation, type ObservedStep } from '../explore/exploration.ts';
import { type ExploredRequest, nameRequest } from '../model/explored-request.ts';
import { readVerb } from '../explore/vocabulary/names.ts';
import type { KeepsPart } from '../explore/stability/forms.ts';
import { areAlike, mergeSteps, nameOutcome, replaySessions, type StableSession } from '../explore/stability/replay.ts';
import { readOutcomeText } from '../explore/stability/texts.ts';
import { isHarmlessRequest } from '../explore/vocabulary/statements.ts';
import { environmentCanary } from '../explore/world/canary.ts';
import { readReference, writeReference } from '../explore/world/placeholders.ts';
import type { WorldSource } from '../explore/world/world.ts';
import type { TimeShares } from '../explore/time-shares.ts';
import { mapTexts } from '../workspace/placeholders.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { LinkedStep } from './references.ts';

/** A task that was replayed: its steps with what is stable in them, or the reason why they are no case. */
export type Replayed =
  | { kind: 'stable'; steps: readonly ObservedStep[]; needsFiles: boolean }
  | { kind: 'different'; steps: readonly ObservedStep[]; reason: string };

interface ReplayContext {
  source: WorldSource;
  workspace: Workspace;
  isHarmless: (tool: string) => boolean;
  /** Says which times of the answers stay if the session and all replays have them. */
  keeps: KeepsPart;
  time: Pick<TimeShares, 'isOver'>;
}

/**
 * Replays tasks in worlds, and compares the answers with those of the session. A task whose answers need what earlier tasks changed, or that
 * changes what they made, is replayed after their calls.
 */
export async function replayTasks(
  tasks: ReadonlyArray<readonly LinkedStep[]>,
  all: readonly LinkedStep[],
  context: ReplayContext,
): Promise<Replayed[]> {
  const changes = (request: ExploredRequest) => !isHarmlessRequest(request, context.isHarmless);
  const alone = tasks.map((task) => addNeeded(task, all));
  let tried = alone;
  let best = await replayOnce(alone, context);
  // Most tools change nothing whose name says that they read, although the server does not declare it.
  for (const mayChange of [(request: ExploredRequest) => isWriter(request) && changes(request), changes]) {
    const longer = tasks.map((task, index) => {
      const wanted = addNeeded([...listBefore(task, all, mayChange), ...task], all);
      const isOpen = best[index]?.isSame !== true || (tried === alone && changesMade(task, wanted));
      return isOpen && wanted.length > (tried[index]?.length ?? 0) ? wanted : null;
    });
    const again = await replayOnce(
      longer.flatMap((task) => (task === null ? [] : [task])),
      context,
    );
    best = best.map((first, index) => {
      const second = longer[index] === null ? undefined : again.shift();
      const isBetter =
        second?.isSame === true || (first.replayed.kind === 'different' && second?.replayed.kind === 'stable');
      return isBetter && second !== undefined ? second : first;
    });
    tried = tried.map((task, index) => longer[index] ?? task);
  }
  return best.map(({ replayed }) => replayed);
}

/** Adds the steps whose results a task uses, and those whose results these use. */
export function addNeeded(task: readonly LinkedStep[], all: readonly LinkedStep[]): LinkedStep[] {
  const wanted = new Set(task);
  for (const { needs } of wanted) {
    for (const index of needs) {
      const step = all[index];
      if (step !== undefined) wanted.add(step);
    }
  }
  return [...wanted].toSorted((a, b) => a.index - b.index);
}

/** Lists all answered calls before a task that may have changed something. */
function listBefore(
  task: readonly LinkedStep[],
  all: readonly LinkedStep[],
  mayChange: (request: ExploredRequest) => boolean,
): LinkedStep[] {
  const first = task[0]?.index ?? 0;
  return all
    .slice(0, first)
    .filter(({ request, outcome }) => outcome.kind === 'result' && !outcome.isError && mayChange(request));
}

/** Checks if a task changes or removes what a call before it names: without that call, nothing would be there, and no answer may say so. */
function changesMade(task: readonly LinkedStep[], wanted: readonly LinkedStep[]): boolean {
  const own = new Set(task);
  const listNames = (steps: readonly LinkedStep[]) =>
    steps.flatMap(({ request }) => (request.kind === 'tool' ? [...listTexts(request.arguments)] : []));
  const made = new Set(listNames(wanted.filter((step) => !own.has(step))).map(({ text }) => text));
  const changing = task.filter(({ request }) => /^(?:update|remove)$/.test(readVerb(nameRequest(request))));
  return listNames(changing).some(({ text }) => text.length >= shortestName && made.has(text));
}

/** A shorter text is the same by chance. */
const shortestName = 3;

/** Describes steps as an exploration does. References count the steps of the case. */
export function toObserved(steps: readonly LinkedStep[]): ObservedStep[] {
  const positions = new Map(steps.map(({ index }, position) => [index, position]));
  const move = (text: string) => {
    const found = readReference(text);
    return found === null ? text : writeReference({ ...found, step: positions.get(found.step) ?? found.step });
  };
  return steps.map(({ request, outcome, asked }) => ({
    request: mapTexts<ExploredRequest>(request, move),
    isValid: null,
    observation: {
      outcome,
      files: { added: [], changed: [], removed: [] },
      noise: null,
      ...(asked.length > 0 && { asked }),
    },
  }));
}

async function replayOnce(
  tasks: ReadonlyArray<readonly LinkedStep[]>,
  { source, workspace, isHarmless, keeps, time }: ReplayContext,
): Promise<Array<{ replayed: Replayed; isSame: boolean }>> {
  const kept = tasks.map((task): KeptSession => ({ run: { phase: 'chains', steps: toObserved(task) }, adds: [] }));
  const alone = new Set(kept.map(({ run }) => run));
  const { stable, flaky } = await replaySessions(kept, { source, workspace, alone, isHarmless, keeps, time });
  const print = (requests: readonly ExploredRequest[]) => JSON.stringify(requests);
  const listRequests = (steps: readonly ObservedStep[]) => print(steps.map(({ request }) => request));
  const byRequests = new Map(stable.map((each) => [listRequests(each.run.steps), each]));
  const reasons = new Map(flaky.map(({ requests, reason }) => [print(requests), reason]));
  return kept.map(({ run: { steps } }) => {
    const key = listRequests(steps);
    const found = byRequests.get(key);
    if (found === undefined) {
      const reason = reasons.get(key) ?? 'the time was over before it was replayed';
      return { replayed: { kind: 'different', steps, reason }, isSame: false };
    }
    return compare(steps, found, keeps);
  });
}

/** Compares what a session showed with what its replays have in common. */
function compare(
  recorded: readonly ObservedStep[],
  { run: { steps: replayed }, needsFiles }: StableSession,
  keeps: KeepsPart,
): { replayed: Replayed; isSame: boolean } {
  const observations = replayed.map(({ observation }) => observation);
  const both = [recorded.map(({ observation }) => observation), observations];
  const merged = mergeSteps(recorded, both, keeps).map((step, index) =>
    showsEnvironment(observations[index]) ? dropContent(step) : step,
  );
  const isSame = merged.every(({ observation }, index) => hasOutcome(observation, observations[index]));
  if (isSame || areAlike(recorded, observations)) {
    return { replayed: { kind: 'stable', steps: merged, needsFiles }, isSame };
  }
  return { replayed: { kind: 'different', steps: recorded, reason: explain(recorded, observations) }, isSame };
}

/** An answer with the variables of its process is another one on each machine. */
function showsEnvironment(observation: Observation | undefined): boolean {
  return observation !== undefined && readOutcomeText(observation.outcome).includes(environmentCanary.value);
}

function dropContent(step: ObservedStep): ObservedStep {
  const { outcome } = step.observation;
  if (outcome.kind !== 'result') return step;
  return { ...step, observation: { ...step.observation, outcome: { ...outcome, result: { content: [] } } } };
}

const hasOutcome = ({ outcome }: Observation, other: Observation | undefined) =>
  JSON.stringify(outcome) === JSON.stringify(other?.outcome);

function explain(recorded: readonly ObservedStep[], replayed: readonly Observation[]): string {
  const at = recorded.findIndex(({ observation }, index) => {
    const other = replayed[index];
    return other === undefined || nameOutcome(other.outcome) !== nameOutcome(observation.outcome);
  });
  const [step, other] = [recorded[at], replayed[at]];
  if (step === undefined || other === undefined) return 'it had another answer in a copy of the workspace';
  const subject = step.request.kind === 'tool' ? step.request.tool : 'the request';
  return `${subject} ended with ${nameOutcome(other.outcome)} in a copy of the workspace without network, and with ${nameOutcome(step.observation.outcome)} in the session`;
}
