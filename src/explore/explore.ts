import { createRandom } from '../base/random.ts';
import type { Clock } from '../base/time.ts';
import { chooseSessions } from './corpus.ts';
import { countCoverage } from './count-coverage.ts';
import {
  type Counted,
  type Exploration,
  type ExploredSession,
  isAnswered,
  nameRequest,
  type Unexplored,
} from './exploration.ts';
import { findProblems } from './findings/find-problems.ts';
import { type Inventory, type ListedTool, readInventory } from './inventory.ts';
import { createKnowledge, type Knowledge } from './knowledge.ts';
import { createLab, type Lab } from './lab.ts';
import { linkTools } from './phases/chains.ts';
import { coverParameters } from './phases/coverage.ts';
import { provokeErrors } from './phases/errors.ts';
import { tryExamples } from './phases/examples.ts';
import type { PhaseContext } from './phases/phase.ts';
import { listMarked } from './stability/merge-values.ts';
import { replaySessions, type StableSession } from './stability/replay.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { firstVariant, type WorldSource } from './world/world.ts';
import { openVariant } from './world/worlds.ts';

export interface ExploreOptions {
  seed: number;
  /** The most requests of the phases; null for 400, or 8 for each tool if that is more. Replays do not count. */
  budget: number | null;
  /** After this time, the phases end and the exploration is marked as cut. */
  timeLimitMs: number;
  /** `read-only`: only tools that are declared so are called. */
  call: 'read-only' | 'all';
  /** The reason for `read-only`, for the list of what was not explored. */
  whyReadOnly: string;
  workspace: Workspace;
  clock: Clock;
  /** Gets what is known whenever another part of the work begins, and after each session. */
  onProgress: (progress: ExploreProgress) => void;
}

/** How far an exploration is. */
export interface ExploreProgress {
  /** The part of the work, such as `Calling each tool`. */
  phase: string;
  /** The tool, resource or prompt that was requested last; null at the beginning of a part. */
  subject: string | null;
  requests: number;
  /** The tools that have answered so far, and all tools. */
  tools: Counted;
}

const leastBudget = 400;
const requestsPerTool = 8;

/** The phases with their shares of the requests. What one does not use, the next may. */
const phases: ReadonlyArray<{ name: string; share: number; run: (context: PhaseContext) => Promise<void> }> = [
  { name: 'Calling each tool', share: 0.25, run: tryExamples },
  { name: 'Covering parameters', share: 0.3, run: coverParameters },
  { name: 'Linking calls', share: 0.25, run: linkTools },
  { name: 'Provoking errors', share: 0.2, run: provokeErrors },
];

/**
 * Explores a server in worlds of `source`: finds calls that work, chains of calls, and refusals; keeps the sessions that add something,
 * with what is stable in their answers; and finds problems that need no expected value.
 */
export async function exploreServer(source: WorldSource, options: ExploreOptions): Promise<Exploration> {
  const { clock, seed, workspace, onProgress } = options;
  await using worlds = openVariant(source, firstVariant, { isEager: true });
  const first = await worlds.take();
  const { handshake } = first;
  const inventory = await readInventory(first);
  const budget = options.budget ?? Math.max(leastBudget, requestsPerTool * inventory.tools.length);
  const answered = new Set<string>();
  let phase = '';
  const report = (subject: string | null) => {
    onProgress({ phase, subject, requests: lab.sent, tools: { reached: answered.size, of: inventory.tools.length } });
  };
  const begin = (what: string) => {
    phase = what;
    report(null);
  };
  const lab = createLab(inventory, worlds, {
    clock,
    endsAtMs: clock.monotonicMs() + options.timeLimitMs,
    onRun: ({ steps }) => {
      for (const { request, observation } of steps) {
        if (request.kind === 'tool' && isAnswered(observation)) answered.add(request.tool);
      }
      const last = steps.at(-1);
      if (last !== undefined) report(nameRequest(last.request));
    },
  });
  const knowledge = createKnowledge(inventory, workspace, lab.isHarmless);
  const { tools, left } = chooseTools(inventory, options);
  const context: PhaseContext = { lab, knowledge, tools, random: createRandom(seed) };
  let shares = 0;
  for (const { name, share, run } of phases) {
    shares += share;
    lab.allow(Math.max(0, Math.floor(shares * budget) - lab.sent));
    begin(name);
    await run(context);
  }
  begin('Replaying');
  const kept = chooseSessions(lab.runs, inventory);
  const { stable, flaky } = await replaySessions(kept, { source, workspace, isHarmless: lab.isHarmless });
  begin('Confirming findings');
  const findings = await findProblems(lab.runs, {
    inventory,
    source,
    isHarmless: lab.isHarmless,
    startNoise: first.startNoise,
  });
  const { name, version, protocolVersion } = handshake;
  return {
    version: 1,
    seed,
    server: { name, version, protocolVersion },
    sandbox: source.sandbox,
    isCutByTime: lab.isCutByTime,
    requests: { sent: lab.sent, budget },
    coverage: countCoverage(lab.runs, inventory, knowledge),
    sessions: stable.map(describeSession),
    harmless: inventory.tools.map((tool) => tool.name).filter((tool) => lab.isHarmless(tool)),
    flaky,
    findings,
    unexplored: [...left, ...listUnexplored(tools, lab, knowledge)],
  };
}

function chooseTools(
  { tools }: Inventory,
  { call, whyReadOnly }: Pick<ExploreOptions, 'call' | 'whyReadOnly'>,
): { tools: ListedTool[]; left: Unexplored[] } {
  const explain = ({ needsTask, isReadOnly }: ListedTool): string | null => {
    if (needsTask) return 'it runs as a task only, which the explorer does not offer';
    return call === 'all' || isReadOnly ? null : `it is not declared read-only, and ${whyReadOnly}`;
  };
  return {
    tools: tools.filter((tool) => explain(tool) === null),
    left: tools.flatMap((tool) => {
      const reason = explain(tool);
      return reason === null ? [] : [{ subject: tool.name, reason }];
    }),
  };
}

/** Lists the tools that never answered, with the reason. */
function listUnexplored(tools: readonly ListedTool[], lab: Lab, { working, refusals }: Knowledge): Unexplored[] {
  return tools.flatMap(({ name }) => {
    const stop = lab.explainStop(name);
    if (stop !== null) return [{ subject: name, reason: stop }];
    if (working.has(name)) return [];
    const steps = lab.runs
      .flatMap((run) => run.steps)
      .filter(({ request }) => request.kind === 'tool' && request.tool === name);
    const limit = steps.map(({ observation }) => explainRefusalByWorld(observation)).find((reason) => reason !== null);
    const refusal = refusals.get(name);
    const loss = steps
      .map(({ observation }) => lossReasons[observation.outcome.kind])
      .find((reason) => reason !== undefined);
    if (loss !== undefined) return [{ subject: name, reason: loss }];
    if (limit !== undefined && limit !== null) return [{ subject: name, reason: limit }];
    if (refusal !== undefined)
      return [{ subject: name, reason: `it refused every call, the last one with: ${shorten(refusal)}` }];
    return [{ subject: name, reason: lab.isCutByTime ? 'the time was over' : 'the requests were used up' }];
  });
}

const lossReasons: Readonly<Record<string, string>> = {
  ended: 'its calls ended the server',
  silent: 'its calls were not answered in time',
  malformed: 'its answers are no valid results',
};

const shorten = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 160);

function describeSession({ run, adds, needsFiles }: StableSession, index: number): ExploredSession {
  const volatile = run.steps.flatMap(({ observation: { outcome } }, step) =>
    listMarked(outcome.kind === 'result' ? outcome.result : outcome).map((pointer) => `/${step}${pointer}`),
  );
  return { id: index + 1, ...run, adds, volatile, needsFiles };
}
