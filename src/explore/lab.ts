import { isAnswered, wantsUrl } from './answers.ts';
import { isJsonEqual } from '../base/json.ts';
import { checkSchema } from '../engine/schema-check.ts';
import { hasNoEffects, type Observation, type ObservedStep, type PhaseName, type SessionRun } from './exploration.ts';
import { type ExploredRequest, nameRequest, type ToolRequest } from '../model/explored-request.ts';
import type { Inventory, ListedTool } from './inventory.ts';
import { printMasked } from './stability/texts.ts';
import type { TimeShares } from './time-shares.ts';
import { readVerb } from './vocabulary/names.ts';
import { isHarmlessRequest } from './vocabulary/statements.ts';
import type { Trace } from './world/history.ts';
import { fillReferences } from './world/placeholders.ts';
import type { Start, Worlds } from './world/worlds.ts';

/** Sends sessions to worlds, and keeps the observations. */
export interface Lab {
  readonly inventory: Inventory;
  /** Every session that ran, in order. */
  readonly runs: readonly SessionRun[];
  readonly sent: number;
  /** Lets the next sessions use up to this many requests in all. */
  allow(requests: number): void;
  /** Runs a session; null if the allowed requests, or the time, are used up, or if one of its tools is not called any more. */
  run(requests: readonly ExploredRequest[], options: { phase: PhaseName; start?: Start }): Promise<SessionRun | null>;
  /** Lists the sessions that had left something in the world of a run before it. */
  listBefore(run: SessionRun): ReadonlyArray<readonly ExploredRequest[]>;
  /** True if calls of the tool were shown, or declared, to change nothing. */
  isHarmless: (tool: string) => boolean;
  /** Remembers that calls of the tool change nothing. */
  markHarmless(tool: string): void;
  /** True if answers of the tool differ by chance alone, so that its calls change nothing and show nothing of what others changed. */
  isDrawn: (tool: string) => boolean;
  markDrawn(tool: string): void;
  findTool(name: string): ListedTool | undefined;
  /** Returns the reason why a tool is not called any more; null while it is called. */
  explainStop(tool: string): string | null;
}

/** A tool that ended, or silenced, this many processes is not called any more. One that only takes long may do so more often. */
const maxLosses = 2;
const lossOfSlowCall = 0.5;

/** Creates a lab. It runs nothing while the time of the present part is over; `onRun` gets each session that ran. */
export function createLab(
  inventory: Inventory,
  worlds: Worlds,
  { time, onRun }: { time: Pick<TimeShares, 'isOver'>; onRun: (run: SessionRun) => void },
): Lab {
  const tools = new Map(inventory.tools.map((tool) => [tool.name, tool]));
  const runs: SessionRun[] = [];
  const known = new Map<string, SessionRun>();
  const before = new Map<SessionRun, ReadonlyArray<readonly ExploredRequest[]>>();
  const harmless = new Set<string>();
  const drawn = new Set<string>();
  /** How many requests of the server a call of each tool led to, at most. They count as requests, too. */
  const questions = new Map<string, number>();
  const losses = new Map<string, { count: number; reason: string }>();
  /** The first answered call of each tool that runs as a task only. Each task may take long, and runs again in each replay. */
  const shown = new Map<string, ToolRequest>();
  let sent = 0;
  let allowed = 0;

  const isAlone = (run: SessionRun) => (before.get(run) ?? []).length === 0;
  const explainStop = (tool: string) => {
    const lost = losses.get(tool);
    return lost !== undefined && lost.count >= maxLosses ? lost.reason : null;
  };
  const isHarmless = (name: string) => {
    const tool = tools.get(name);
    return harmless.has(name) || tool?.isReadOnly === true;
  };
  /** Checks for another task of a tool than the first. A wrong call is refused before there is a task. */
  const hasOtherTask = async (requests: readonly ExploredRequest[]) => {
    for (const request of requests) {
      const first = isTask(request) ? shown.get(request.tool) : undefined;
      if (first === undefined || isJsonEqual(first, request)) continue;
      if ((await checkArguments(request, (name) => tools.get(name))) !== false) return true;
    }
    return false;
  };
  const noteLoss = ({ request, observation: { outcome } }: ObservedStep) => {
    if (request.kind !== 'tool' || (outcome.kind !== 'ended' && outcome.kind !== 'silent')) return;
    const { count } = losses.get(request.tool) ?? { count: 0 };
    const loss = outcome.kind === 'silent' && outcome.isAlive ? lossOfSlowCall : 1;
    const reason = outcome.kind === 'ended' ? 'its calls ended the server' : 'its calls were not answered in time';
    losses.set(request.tool, { count: count + loss, reason });
  };
  return {
    inventory,
    runs,
    get sent() {
      return sent;
    },
    allow: (requests) => {
      allowed = sent + requests;
    },
    listBefore: (run) => before.get(run) ?? [],
    isHarmless,
    markHarmless: (tool) => void harmless.add(tool),
    isDrawn: (tool) => drawn.has(tool),
    markDrawn: (tool) => void drawn.add(tool),
    findTool: (name) => tools.get(name),
    explainStop,
    run: async (requests, { phase, start = 'used' }) => {
      const key = JSON.stringify(requests);
      const earlier = known.get(key);
      // What ran in a new world need not run again.
      if (earlier !== undefined && (start === 'used' || isAlone(earlier))) return earlier;
      if (requests.some((request) => request.kind === 'tool' && explainStop(request.tool) !== null)) return null;
      if (await hasOtherTask(requests)) return null;
      if (sent + countExpected(requests, questions) > allowed || time.isOver()) return null;
      sent += requests.length;
      const judge = (step: Pick<ObservedStep, 'request' | 'observation'>) =>
        judgeTrace(step, (tool) => isHarmless(tool) || drawn.has(tool));
      const { observations, shared, before: left } = await worlds.run(requests, { start, judge });
      sent -= shared;
      const steps = await describeSteps(requests, observations, (name) => tools.get(name));
      for (const [index, step] of steps.entries()) {
        noteLoss(step);
        if (isTask(step.request) && !shown.has(step.request.tool) && isAnswered(step.observation)) {
          shown.set(step.request.tool, step.request);
        }
        if (index >= shared) sent += noteQuestions(step, questions);
      }
      const run = { phase, steps };
      runs.push(run);
      before.set(run, left);
      known.set(key, run);
      onRun(run);
      return run;
    },
  };
}

const isTask = (request: ExploredRequest): request is ToolRequest => request.kind === 'tool' && request.asTask === true;

/** Counts requests, with the questions that earlier calls of their tools led to. */
function countExpected(requests: readonly ExploredRequest[], questions: ReadonlyMap<string, number>): number {
  return requests.reduce((sum, request) => sum + 1 + (questions.get(nameRequest(request)) ?? 0), 0);
}

/** Remembers how many questions a request led to, and returns the number. Those for roots do not count: they may come at any time. */
function noteQuestions({ request, observation: { asked = [] } }: ObservedStep, questions: Map<string, number>): number {
  const name = nameRequest(request);
  const count = asked.filter(({ ability }) => ability !== 'roots').length;
  questions.set(name, Math.max(questions.get(name) ?? 0, count));
  return count;
}

/** Judges how a request leaves its world. */
export function judgeTrace(
  { request, observation }: Omit<ObservedStep, 'isValid'>,
  isHarmless: (tool: string) => boolean,
): Trace {
  const { files } = observation;
  // The server may answer the next call, because it remembers this one.
  if (wantsUrl(observation)) return 'used';
  if (hasNoEffects(files) && (isHarmlessRequest(request, isHarmless) || !isAnswered(observation))) return 'clean';
  return request.kind === 'tool' && readVerb(request.tool) === 'remove' ? 'spoilt' : 'used';
}

/** Joins requests with what was observed. The arguments are checked as they were sent, with the values of earlier results. */
export async function describeSteps(
  requests: readonly ExploredRequest[],
  observations: readonly Observation[],
  findTool: (name: string) => ListedTool | undefined,
): Promise<ObservedStep[]> {
  const results = observations.map(({ outcome }) => (outcome.kind === 'result' ? outcome.result : undefined));
  return await Promise.all(
    observations.map(async (observation, index): Promise<ObservedStep> => {
      const request = requests[index];
      if (request === undefined) throw new RangeError('A world answered more requests than were sent.');
      return { request, isValid: await checkArguments(fillReferences(request, results), findTool), observation };
    }),
  );
}

/** Checks if the arguments of a request fit the input schema of its tool; null for a request without one, or with one that cannot be used. */
async function checkArguments(
  request: ExploredRequest,
  findTool: (name: string) => ListedTool | undefined,
): Promise<boolean | null> {
  if (request.kind !== 'tool') return null;
  const schema = findTool(request.tool)?.inputSchema;
  if (schema === undefined) return null;
  const check = await checkSchema(schema, request.arguments);
  return check.kind === 'valid' || check.kind === 'invalid' ? check.kind === 'valid' : null;
}

/** Checks if two steps have the same outcome, apart from times, ids and other volatile forms. */
export function isSameOutcome(left: ObservedStep | undefined, right: ObservedStep | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [a, b] = [left.observation.outcome, right.observation.outcome];
  return isJsonEqual(a, b) || printMasked(a) === printMasked(b);
}
