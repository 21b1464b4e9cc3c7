import { isAnswered, isRefused } from './answers.ts';
import { createRandom } from '../base/random.ts';
import { ConfigurationError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import type { KeptSession } from './corpus.ts';
import { countCoverage } from './count-coverage.ts';
import { type Counted, type Exploration, type SessionRun, type Unexplored } from './exploration.ts';
import { nameRequest } from '../model/explored-request.ts';
import { type Inventory, type ListedTool, readInventory } from './inventory.ts';
import { createKnowledge, type Knowledge } from './knowledge.ts';
import { createLab, type Lab } from './lab.ts';
import { repeatEarlier } from './phases/earlier.ts';
import { findSetups, linkTools } from './phases/chains.ts';
import { coverParameters } from './phases/coverage.ts';
import { provokeErrors } from './phases/errors.ts';
import { tryExamples } from './phases/examples.ts';
import type { PhaseContext } from './phases/phase.ts';
import { listParameters } from './schema/parameters.ts';
import { readRefusal } from './stability/texts.ts';
import { showOptions } from './phases/show-options.ts';
import { findEdges } from './phases/edges.ts';
import { findLimits } from './phases/limits.ts';
import { sendUnusualTexts } from './phases/unusual-texts.ts';
import { chooseSettled } from './phases/settle-run.ts';
import { type EarlierCorpus, findOtherServer } from './read-corpus.ts';
import type { TimeShares } from './time-shares.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';
import { readFileTexts } from './vocabulary/file-texts.ts';
import { hideRepositories, listCheckouts, type Workspace } from '../workspace/workspace.ts';
import type { KeptState } from './world/restorer.ts';
import { firstVariant, type WorldSource } from './world/world.ts';
import { openVariant } from './world/worlds.ts';

export interface ExploreOptions {
  seed: number;
  /** The most requests of the phases; null for 500, or 25 for each tool if that is more. Replays do not count. */
  budget: number | null;
  /** The time of the exploration. Work that does not fit is left out. */
  time: TimeShares;
  /** `read-only`: only tools that are declared so are called. */
  call: 'read-only' | 'all';
  /** The reason for `read-only`, for the list of unexplored tools. */
  whyReadOnly: string;
  /** The tools that are called in addition, although they are not declared read-only. */
  safeTools?: readonly string[];
  /** An earlier exploration of the server, whose requests are sent first; null for none. */
  earlier?: EarlierCorpus | null;
  workspace: Workspace;
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

const leastBudget = 500;
const requestsPerTool = 25;

/** The share of the time at which the phases end. Sessions are chosen in the rest. */
const phasesEnd = 7 / 8;

/** The phases with their shares of the requests and of the time. The next phase may use the rest of a share. */
const phases: ReadonlyArray<{ name: string; share: number; run: (context: PhaseContext) => Promise<void> }> = [
  { name: 'Calling each tool', share: 0.25, run: tryExamples },
  { name: 'Preparing calls', share: 0.25, run: async (context) => void (await findSetups(context)) },
  // With the rest of the share before it, unless most tools need calls before them.
  { name: 'Covering parameters', share: 0.05, run: coverParameters },
  { name: 'Linking calls', share: 0.19, run: linkTools },
  {
    name: 'Provoking errors',
    share: 0.26,
    run: async (context) => {
      await provokeErrors(context);
      await findEdges(context);
      await showOptions(context);
      await sendUnusualTexts(context);
      await findLimits(context);
    },
  },
];

/** What exploring a server has found, before anything is checked. */
export interface Explored extends Omit<Exploration, 'version' | 'sessions' | 'flaky' | 'findings'> {
  /** The sessions that add something, with the answers of one run. */
  sessions: readonly KeptSession[];
  /** Where the tools were seen to keep what they change. */
  kept: KeptState;
  /** The tools whose answers differ by chance alone. */
  drawn: ReadonlySet<string>;
  /** The runs of those that began in a new world. */
  alone: ReadonlySet<SessionRun>;
  /** Everything that ran. */
  runs: readonly SessionRun[];
  inventory: Inventory;
  /** The first line on stdout that is no message and came before the first request; null if there is none. */
  startNoise: string | null;
}

/**
 * Explores a server in worlds of `source`: finds calls that work, chains of calls, and refusals, and keeps the sessions that add something.
 * Nothing says yet which parts of their answers are stable.
 */
export async function exploreServer(source: WorldSource, options: ExploreOptions): Promise<Explored> {
  const { time, seed, workspace, onProgress } = options;
  const kept: KeptState = new Map();
  await using worlds = openVariant(source, firstVariant, { isEager: true, isSharing: true, kept });
  const first = await worlds.take();
  const { handshake } = first;
  const inventory = await readInventory(first);
  // The first start of a server can take longer than the first phases may.
  time.restart();
  const budget = options.budget ?? Math.max(leastBudget, requestsPerTool * inventory.tools.length);
  checkSafeTools(options.safeTools ?? [], inventory);
  const { earlier = null } = options;
  const other = earlier === null ? null : findOtherServer(earlier, handshake);
  if (other !== null) throw new ConfigurationError([{ input: 'corpus', code: 'other-server', message: other }]);
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
    time,
    onRun: ({ steps }) => {
      for (const { request, observation } of steps) {
        if (request.kind === 'tool' && isAnswered(observation)) answered.add(request.tool);
      }
      const last = steps.at(-1);
      if (last !== undefined) report(nameRequest(last.request));
    },
  });
  const { workspace: placed, added } = source.files ?? { workspace, added: [] };
  const named = hideRepositories(placed);
  const files = { ...named, texts: await readFileTexts(named), checkouts: listCheckouts(placed) };
  const knowledge = createKnowledge(inventory, files, lab.isHarmless);
  const { tools, left } = chooseTools(inventory, options);
  const context: PhaseContext = { lab, knowledge, tools, random: createRandom(seed) };
  if (earlier !== null) {
    begin('Repeating the corpus');
    time.begin(phasesEnd / 2);
    lab.allow(budget);
    await repeatEarlier(context, earlier);
  }
  let shares = 0;
  for (const { name, share, run } of phases) {
    shares += share;
    time.begin(shares * phasesEnd);
    lab.allow(Math.max(0, Math.floor(shares * budget) - lab.sent));
    begin(name);
    await run(context);
  }
  begin('Choosing sessions');
  time.begin(1);
  const { sent } = lab;
  // Repeated requests do not count.
  lab.allow(Infinity);
  const { kept: sessions, runs } = await chooseSettled(lab);
  const { name, version, protocolVersion } = handshake;
  const coverage = countCoverage(runs, inventory, knowledge);
  const names = inventory.tools.map((tool) => tool.name);
  return {
    seed,
    server: { name, version, protocolVersion },
    sandbox: source.sandbox,
    isCutByTime: time.isCut,
    requests: { sent, budget },
    ...(added.length > 0 && { addedFiles: added }),
    coverage,
    sessions,
    harmless: names.filter((tool) => lab.isHarmless(tool) || lab.isDrawn(tool)),
    unexplored: [...source.missing, ...left, ...listUnexplored(tools, lab, { knowledge, coverage, isCut: time.isCut })],
    kept,
    drawn: new Set(names.filter((tool) => lab.isDrawn(tool))),
    alone: new Set(sessions.map(({ run }) => run).filter((run) => lab.listBefore(run).length === 0)),
    runs: lab.runs,
    inventory,
    startNoise: first.startNoise,
  };
}

/** @throws {ConfigurationError} for a name that no tool has */
function checkSafeTools(names: readonly string[], { tools }: Inventory): void {
  const unknown = names.filter((name) => !tools.some((tool) => tool.name === name));
  if (unknown.length === 0) return;
  const listed = clipText(tools.map(({ name }) => name).join(', '), 300);
  throw new ConfigurationError(
    unknown.map((name) => ({
      input: 'safe-tool',
      code: 'unknown-tool',
      message: `the server has no tool ${JSON.stringify(name)}; its tools are ${listed}`,
    })),
  );
}

function chooseTools(
  { tools, runsTasks }: Inventory,
  { call, whyReadOnly, safeTools = [] }: Pick<ExploreOptions, 'call' | 'whyReadOnly' | 'safeTools'>,
): { tools: ListedTool[]; left: Unexplored[] } {
  const explain = ({ name, needsTask, isReadOnly }: ListedTool): string | null => {
    if (needsTask && !runsTasks) return 'it runs as a task only, and the server does not declare that it runs tasks';
    return call === 'all' || isReadOnly || safeTools.includes(name)
      ? null
      : `it is not declared read-only, and ${whyReadOnly}`;
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
function listUnexplored(
  tools: readonly ListedTool[],
  lab: Lab,
  { knowledge, coverage, isCut }: { knowledge: Knowledge; coverage: Exploration['coverage']; isCut: boolean },
): Unexplored[] {
  const { working, refusals } = knowledge;
  const covered = new Set(coverage.byTool.filter((each) => each.isAnswered).map(({ tool }) => tool));
  const end = isCut ? 'the time was over' : 'the requests were used up';
  return tools.flatMap((tool) => {
    const { name } = tool;
    const stop = lab.explainStop(name);
    if (stop !== null) return [{ subject: name, reason: stop }];
    if (working.has(name) || covered.has(name)) return [];
    const steps = lab.runs
      .flatMap((run) => run.steps)
      .filter(({ request }) => request.kind === 'tool' && request.tool === name);
    const limit = steps.map(({ observation }) => explainRefusalByWorld(observation)).find((reason) => reason !== null);
    // What a wrong call gets says nothing about the others.
    const last = steps.findLast(({ observation, isValid }) => isRefused(observation) && isValid !== false);
    const refusal = refusals.get(name) ?? (last && readRefusal(last.observation.outcome));
    const loss = steps
      .map(({ observation }) => lossReasons[observation.outcome.kind])
      .find((reason) => reason !== undefined);
    if (steps.some(({ observation }) => isAnswered(observation)))
      return [{ subject: name, reason: `it answered after other calls, and ${end} before it answered in a new world` }];
    if (loss !== undefined) return [{ subject: name, reason: loss }];
    if (limit !== undefined && limit !== null) return [{ subject: name, reason: limit }];
    if (refusal !== undefined)
      return [{ subject: name, reason: `it refused every call, the last one with: ${shorten(refusal)}` }];
    const unknown = listParameters(tool.inputSchema).find(
      (parameter) => parameter.isRequired && knowledge.listValues(tool, parameter).length === 0,
    );
    if (unknown !== undefined) {
      return [{ subject: name, reason: `no value is known that the schema of \`${unknown.name}\` allows` }];
    }
    return [{ subject: name, reason: end }];
  });
}

const lossReasons: Readonly<Record<string, string>> = {
  ended: 'its calls ended the server',
  silent: 'its calls were not answered in time',
  malformed: 'its answers are no valid results',
};

const shorten = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 160);
