import { isAnswered } from '../answers.ts';
import { isJsonEqual, type JsonObject } from '../../base/json.ts';
import { checkSchema } from '../../engine/schema-check.ts';
import type { Finding, Observation, ObservedStep, SessionRun } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { Inventory, ListedTool } from '../inventory.ts';
import { describeSteps, judgeTrace } from '../lab.ts';
import type { TimeShares } from '../time-shares.ts';
import { printMasked } from '../stability/texts.ts';
import { firstVariant, type WorldSource } from '../world/world.ts';
import { openVariant, type Worlds } from '../world/worlds.ts';
import { type FindingContext, type FindingDefinition, type Problem, readTool } from './define-finding.ts';
import { protocol } from './kinds/protocol.ts';
import { findingDefinitions } from './registry.ts';
import { shrinkArguments } from './shrink-arguments.ts';

interface FindOptions {
  inventory: Inventory;
  source: WorldSource;
  isHarmless: (tool: string) => boolean;
}

/** The most findings of one kind and tool: one more adds little. */
const maxRepeats = 1;

/**
 * Finds problems in sessions, and confirms each with a short session in new worlds, twice. A problem that does not repeat is no finding.
 * `notConfirmed` lists those that the time was too short for.
 */
export async function findProblems(
  runs: readonly SessionRun[],
  options: FindOptions & { startNoise: string | null; time: Pick<TimeShares, 'isOver'> },
): Promise<{ findings: Finding[]; notConfirmed: Array<Pick<Finding, 'kind' | 'tool'>> }> {
  const context = createContext(runs, options);
  await using worlds = openVariant(options.source, firstVariant, { isEager: false });
  const findings: Finding[] = [...describeNoise(options.startNoise)];
  const notConfirmed: Array<Pick<Finding, 'kind' | 'tool'>> = [];
  for (const definition of findingDefinitions) {
    const counts = new Map<string, number>();
    const candidates = await listCandidates(definition, runs, context);
    for (const { problem, steps } of candidates) {
      const subject = `${problem.tool}`;
      const count = counts.get(subject) ?? 0;
      if (count >= maxRepeats) continue;
      if (options.time.isOver()) {
        counts.set(subject, count + 1);
        notConfirmed.push({ kind: definition.kind, tool: problem.tool });
        continue;
      }
      const confirmed = await confirm(
        { definition, problem, steps },
        { context, worlds, isHarmless: options.isHarmless },
      );
      if (confirmed === null) continue;
      counts.set(subject, count + 1);
      const { kind, severity } = definition;
      findings.push({ kind, severity, tool: problem.tool, ...confirmed });
    }
  }
  return { findings, notConfirmed };
}

/** Output at the start belongs to no tool, and to each session. */
function describeNoise(noise: string | null): Finding[] {
  if (noise === null) return [];
  const { kind, severity } = protocol;
  const message = `the server writes to stdout as it starts, where only messages belong: ${JSON.stringify(noise)}`;
  return [{ kind, severity, tool: null, message, session: [] }];
}

interface Candidate {
  problem: Problem;
  steps: readonly ObservedStep[];
}

/** Lists the problems of a kind, the shortest sessions first. */
async function listCandidates(
  definition: FindingDefinition,
  runs: readonly SessionRun[],
  context: FindingContext,
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const { steps } of runs.toSorted((a, b) => a.steps.length - b.steps.length)) {
    for (const problem of await definition.find(steps, context)) candidates.push({ problem, steps });
  }
  return candidates;
}

/** Repeats the problem in new worlds with as few requests and arguments as possible; null if it does not repeat. */
async function confirm(
  { definition, problem, steps }: Candidate & { definition: FindingDefinition },
  { context, worlds, isHarmless }: { context: FindingContext; worlds: Worlds; isHarmless: (tool: string) => boolean },
): Promise<{ session: ExploredRequest[]; message: string } | null> {
  const requests = steps.map(({ request }) => request);
  const judge = (step: { request: ExploredRequest; observation: Observation }) => judgeTrace(step, isHarmless);
  const { control } = problem;
  if (control !== undefined) {
    const { observations } = await worlds.run([control, control, control], { start: 'own', judge });
    if (new Set(observations.map(({ outcome }) => printMasked(outcome))).size > 1) return null;
  }
  const find = async (session: readonly ExploredRequest[]): Promise<Problem | null> => {
    const { observations } = await worlds.run(session, { start: 'own', judge });
    const repeated = await describeSteps(session, observations, context.findTool);
    const found = await definition.find(repeated, context);
    return found.find(({ tool }) => tool === problem.tool) ?? null;
  };
  const findTwice = async (session: readonly ExploredRequest[]) =>
    (await find(session)) === null ? null : await find(session);
  const own = requests[problem.step];
  const alone = own === undefined ? [] : [own];
  const upTo = requests.slice(0, problem.step + 1);
  for (const session of [alone, upTo, requests]) {
    if (session.length === 0) continue;
    const found = await findTwice(session);
    if (found === null) continue;
    const smaller = own === undefined ? session : await shrink(session, own, { context, find });
    const again = smaller === session ? null : await findTwice(smaller);
    return again === null
      ? { session: [...session], message: problem.message }
      : { session: [...smaller], message: again.message };
  }
  return null;
}

/** Makes the arguments of a call smaller, wherever the session has it. */
async function shrink(
  session: readonly ExploredRequest[],
  own: ExploredRequest,
  {
    context,
    find,
  }: { context: FindingContext; find: (session: readonly ExploredRequest[]) => Promise<Problem | null> },
): Promise<readonly ExploredRequest[]> {
  if (own.kind !== 'tool') return session;
  const replace = (args: JsonObject) =>
    session.map((request) => (isJsonEqual(request, own) ? { ...own, arguments: args } : request));
  const parameters = context.findTool(own.tool)?.parameters ?? [];
  const smallest = await shrinkArguments(
    own.arguments,
    parameters,
    async (smaller) => (await find(replace(smaller))) !== null,
  );
  return smallest === own.arguments ? session : replace(smallest);
}

function createContext(runs: readonly SessionRun[], { inventory, source, isHarmless }: FindOptions): FindingContext {
  const tools = new Map(inventory.tools.map((tool) => [tool.name, tool]));
  const worked = new Map<string, JsonObject[]>();
  for (const { request, observation } of runs.flatMap(({ steps }) => steps)) {
    const tool = readTool(request);
    if (tool === null || request.kind !== 'tool' || !isAnswered(observation)) continue;
    worked.set(tool, [...(worked.get(tool) ?? []), request.arguments]);
  }
  const { isGivenWorkspace } = source;
  return { inventory, findTool: (name) => tools.get(name), findMismatch, isHarmless, isGivenWorkspace, worked };
}

async function findMismatch({ outputSchema }: ListedTool, value: unknown): Promise<string | null> {
  if (outputSchema === null) return null;
  const check = await checkSchema(outputSchema, value);
  return check.kind === 'invalid' ? (check.mismatches[0] ?? 'it does not match') : null;
}
