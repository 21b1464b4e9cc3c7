import { isJsonEqual } from '../../base/json.ts';
import { isAnswered } from '../answers.ts';
import { hasNoEffects, type ObservedStep } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { Inventory, ListedTool } from '../inventory.ts';
import { isSameOutcome } from '../lab.ts';
import { isNeededId, namesId, type Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { findIdentifiers } from '../vocabulary/identifiers.ts';
import { readVerb } from '../vocabulary/names.ts';
import { getPrompt, readTemplate } from './text-arguments.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';
import { settleRun } from './settle-run.ts';
import { tryCall } from './try-call.ts';

/** Tools that read come first, because their results are values for the others. */
const order = { read: 0, unknown: 1, create: 2, update: 3, remove: 4 };

/** Calls each tool with its required arguments, reads resources and gets prompts. */
export async function tryExamples(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  for (const uri of lab.inventory.resources) {
    await lab.run([{ kind: 'resource', uri }], { phase: 'examples' });
  }
  for (const template of lab.inventory.templates) await readTemplate(template, context);
  for (const prompt of lab.inventory.prompts) await getPrompt(prompt, context);
  for (const options of rounds) {
    for (const tool of sortTools(tools)) {
      if (knowledge.working.has(tool.name)) continue;
      const tried = await tryCall(tool, buildArguments(tool, knowledge), context, { phase: 'examples', ...options });
      if (tried === null) continue;
      const settled = await settleRun(tried.run, lab);
      if (settled === null) continue;
      const setup = settled.steps.slice(0, -1).map(({ request }) => request);
      knowledge.noteWorking(tool.name, { arguments: tried.arguments, setup });
      await probeHarmless(tool, context);
    }
  }
}

/** Each tool gets its first calls before another one gets many. */
const rounds = [{ changes: 1 }, {}];

/** Sorts tools: those that read first, those that remove late, and those that run as tasks last, because they take long. */
export function sortTools(tools: readonly ListedTool[]): ListedTool[] {
  const rank = ({ name, needsTask, isReadOnly }: ListedTool) =>
    needsTask ? 5 : isReadOnly ? -1 : order[readVerb(name)];
  return tools.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Finds out if calls of a tool change anything, where neither its annotations nor its name says so: called twice, it gives the same answer
 * with the same ids, changes no file, and readers see the same.
 */
export async function probeHarmless(tool: ListedTool, { lab, knowledge, tools }: PhaseContext): Promise<void> {
  const call = knowledge.working.get(tool.name);
  const verb = readVerb(tool.name);
  // Two tasks may take long.
  if (tool.needsTask) return;
  if (call === undefined || lab.isHarmless(tool.name) || (verb !== 'read' && verb !== 'unknown')) return;
  // A call with an id that the server does not know shows nothing.
  if (verb === 'unknown' && tool.parameters.some(isNeededId) && call.setup.length === 0) return;
  const readers = tools.filter(({ isReadOnly }) => isReadOnly).slice(0, 2);
  const reads = readers.flatMap((reader) => {
    const working = knowledge.working.get(reader.name);
    return working === undefined || working.setup.length > 0 ? [] : [callTool(reader, working.arguments)];
  });
  const own = callTool(tool, call.arguments);
  const session = [...call.setup, ...reads, own, own, ...reads];
  const run = await lab.run(session, { phase: 'examples', start: 'new' });
  if (run === null || run.steps.length < session.length) return;
  const steps = run.steps.slice(call.setup.length);
  const answers = steps.slice(reads.length, reads.length + 2);
  const isReadAlike = reads.every((_, index) => isSameOutcome(steps[index], steps[index + reads.length + 2]));
  const isQuiet = steps.every(({ observation }) => hasNoEffects(observation.files) && isAnswered(observation));
  if (!isReadAlike || !isQuiet) return;
  if (!areAlike(answers)) {
    const hasIds = (step: ObservedStep) => listIds(step).length > 0 && takesIds(lab.inventory, tool);
    if (call.setup.length === 0 && (await areDrawn(own, answers, { lab, hasIds }))) lab.markDrawn(tool.name);
    return;
  }
  lab.markHarmless(tool.name);
  // Its answer in a new world holds in every other one. When it was first called, nothing showed that yet.
  if (call.setup.length === 0) knowledge.learn(run);
}

/** Checks if answers are the same, with the same ids: a call that gives another id each time makes something. */
function areAlike([first, ...others]: readonly ObservedStep[]): boolean {
  return others.every((other) => isSameOutcome(first, other) && isJsonEqual(listIds(first), listIds(other)));
}

/** Checks if an id that is no number is of any use to a caller: another tool takes one, or a template of resources does. */
function takesIds({ tools, templates }: Inventory, maker: ListedTool): boolean {
  const isNumber = ({ schema }: Parameter) => ['integer', 'number'].includes(readType(schema) ?? '');
  const ids = tools
    .filter((tool) => tool !== maker)
    .flatMap(({ parameters }) => parameters)
    .filter(({ name }) => namesId(name));
  const numbers = new Set(ids.filter(isNumber).map(({ name }) => name));
  const variables = templates.flatMap(({ uri }) => [...uri.matchAll(/\w+(?=[^{}]*\})/g)].map(([name]) => name));
  return !ids.every(isNumber) || variables.some((name) => namesId(name) && !numbers.has(name));
}

/**
 * Checks if answers differ by chance alone, like random numbers. What a server counts is the same again in each new world, and what it
 * makes has an id that a caller can use.
 */
async function areDrawn(
  request: ExploredRequest,
  answers: readonly ObservedStep[],
  { lab, hasIds }: { lab: PhaseContext['lab']; hasIds: (step: ObservedStep) => boolean },
): Promise<boolean> {
  const run = await lab.run([request, request, request], { phase: 'examples', start: 'own' });
  const others = run?.steps ?? [];
  const isPlain = (step: ObservedStep) =>
    isAnswered(step.observation) && hasNoEffects(step.observation.files) && !hasIds(step);
  return (
    others.length === 3 &&
    [...answers, ...others].every(isPlain) &&
    answers.some((answer, index) => !areAlike([answer, ...others.slice(index, index + 1)]))
  );
}

const listIds = (step: ObservedStep | undefined) =>
  findIdentifiers(JSON.stringify(step?.observation.outcome ?? null)).map(({ value }) => value);
