import { isAnswered } from '../answers.ts';
import { sharesText } from '../features/list-features.ts';
import { isJsonEqual, type JsonObject, listTexts } from '../../base/json.ts';
import type { ObservedStep } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { WorkingCall } from '../knowledge.ts';
import { isSameOutcome } from '../lab.ts';
import { isNeededId, listPlaces, listSwitches } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { missesTable } from '../vocabulary/statements.ts';
import { otherContent } from '../vocabulary/other-words.ts';
import { findPathRole, namesOfSearches } from '../vocabulary/vocabulary.ts';
import { changeMade } from './change-made.ts';
import { coverParameters } from './coverage.ts';
import { probeHarmless, sortTools } from './examples.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';
import { listReads, rateOverlap } from './list-reads.ts';
import { selectMade } from './select-made.ts';
import { sendSeveral } from './send-several.ts';
import { followStatements, listTableSetups } from './tables.ts';
import { tryCall } from './try-call.ts';

/** The most producers that are tried before a tool that does not work alone. */
const maxProducers = 4;

/** The most options with which a call is repeated between readers. */
const maxOptions = 3;

/** Finds calls that other calls need before them, and sends readers before and after each call that changes something. */
export async function linkTools(context: PhaseContext): Promise<void> {
  // A tool that works after the first round can be a producer in the second.
  const linked = [...(await findSetups(context)), ...(await findSetups(context, { changes: 3 }))];
  await coverParameters({ ...context, tools: linked });
  // A call that works on something now may prepare another one.
  if (await findTargets(context)) await coverParameters({ ...context, tools: await findSetups(context) });
  await followEffects(context);
  await followStatements(context);
  await joinMade(context);
  await selectMade(context);
  await sendSeveral(context);
  await changeMade(context);
  await replaceFiles(context);
  await searchMade(context);
}

/** Tries tools that were refused after calls of others, with the values that those made. Returns the tools that work then. */
export async function findSetups(context: PhaseContext, { changes = 1 } = {}): Promise<ListedTool[]> {
  const { lab, knowledge, tools } = context;
  const found: ListedTool[] = [];
  // What one makes, another one needs.
  const makersFirst = sortTools(tools).toSorted((a, b) => Number(isMaker(b)) - Number(isMaker(a)));
  let open = makersFirst
    .filter(({ name }) => !knowledge.working.has(name) && lab.explainStop(name) === null)
    .map((tool) => {
      const isForTable = missesTable(knowledge.refusals.get(tool.name) ?? '');
      return { tool, isForTable, setups: listSetups(tool, context, isForTable) };
    });
  // Takes turns over the tools, so that one that needs something else does not use up the requests of the others.
  while (open.length > 0) {
    const left: typeof open = [];
    for (const each of open) {
      const { tool, isForTable, setups } = each;
      const { value: setup } = setups.next();
      if (setup === undefined) continue;
      const prepared = await lab.run(setup, { phase: 'chains', start: 'new' });
      if (prepared === null) return found;
      left.push(each);
      if (isForTable && !prepared.steps.every(({ observation }) => isAnswered(observation))) continue;
      const args = buildArguments(tool, knowledge, { before: prepared.steps });
      const tried = await tryCall(tool, args, context, { phase: 'chains', setup, changes });
      if (tried === null) continue;
      left.pop();
      knowledge.noteWorking(tool.name, { arguments: tried.arguments, setup });
      found.push(tool);
      await probeHarmless(tool, context);
    }
    open = left;
  }
  return found;
}

/** Lists calls to try before a tool. What it refuses after one of them says what to try next. */
function* listSetups(
  tool: ListedTool,
  context: PhaseContext,
  isForTable: boolean,
): Generator<ExploredRequest[], undefined> {
  if (isForTable) yield* listTableSetups(context);
  const tried = new Set<ListedTool>();
  while (tried.size < maxProducers) {
    const producer = listProducers(tool, context).find((other) => !tried.has(other));
    if (producer === undefined) return undefined;
    tried.add(producer);
    const made = context.knowledge.working.get(producer.name);
    if (made !== undefined) yield [...made.setup, callTool(producer, made.arguments)];
  }
  return undefined;
}

/**
 * Finds something to change or remove for tools that accept any name or id, and so worked without it, and for those that add something
 * and refused another call: they worked with little, such as an empty list. True if it found one.
 */
async function findTargets(context: PhaseContext): Promise<boolean> {
  const { lab, knowledge, tools } = context;
  let hasFound = false;
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    const verb = readVerb(tool.name);
    const isTarget =
      verb === 'remove' ||
      verb === 'update' ||
      (verb === 'create' && knowledge.refusals.has(tool.name)) ||
      (verb === 'unknown' && tool.parameters.some(isNeededId));
    if (call === undefined || call.setup.length > 0 || !isTarget) continue;
    if (lab.isHarmless(tool.name) || lab.explainStop(tool.name) !== null) continue;
    // What is there when the server starts has more to it than what one call makes: other things refer to it.
    const [first] = (await listReads(tool, call, context)) ?? [];
    if (first !== undefined) {
      const own = callTool(tool, call.arguments);
      if ((await lab.run([first, own, first], { phase: 'chains', start: 'new' })) === null) return hasFound;
    }
    for (const producer of listProducers(tool, context).slice(0, maxProducers)) {
      const made = knowledge.working.get(producer.name);
      if (made === undefined || !(isMaker(producer) || knowledge.makesIdFor(tool, producer.name))) continue;
      const setup = [...made.setup, callTool(producer, made.arguments)];
      const prepared = await lab.run(setup, { phase: 'chains', start: 'new' });
      if (prepared === null) return hasFound;
      const target = await findTarget(tool, { call, setup, before: prepared.steps }, context);
      if (target === null) return hasFound;
      if (target === undefined) continue;
      knowledge.noteTarget(tool.name, target);
      hasFound = true;
      break;
    }
  }
  return hasFound;
}

/**
 * Finds arguments with which a call has an effect after others: the first values, and those with the optional members of what they list.
 * Undefined if there are none, and null if the requests are used up.
 */
async function findTarget(
  tool: ListedTool,
  { call, setup, before }: { call: WorkingCall; setup: readonly ExploredRequest[]; before: readonly ObservedStep[] },
  context: PhaseContext,
): Promise<WorkingCall | null | undefined> {
  const { lab, knowledge } = context;
  const first = buildArguments(tool, knowledge, { before });
  const full = Object.entries(first).map(([name, value]) => {
    const parameter = tool.parameters.find((each) => each.name === name);
    const [, other] = Array.isArray(value) && parameter ? knowledge.listValues(tool, parameter, before) : [];
    return [name, other ?? value] as const;
  });
  for (const built of [first, Object.fromEntries(full)]) {
    const args = { ...call.arguments, ...built };
    const [read] = (await listReads(tool, { arguments: args, setup }, context)) ?? [];
    const own = callTool(tool, args);
    const session = read === undefined ? [...setup, own] : [...setup, read, own, read];
    const run = await lab.run(session, { phase: 'chains', start: 'new' });
    if (run === null) return null;
    const at = session.indexOf(own);
    const hasEffect = read !== undefined && !isSameOutcome(run.steps[at - 1], run.steps[at + 1]);
    const step = run.steps[at];
    const isAccepted = step !== undefined && isAnswered(step.observation);
    if (isAccepted && (hasEffect || step.observation.files.removed.length > 0)) return { arguments: args, setup };
  }
  return undefined;
}

const isMaker = ({ name }: ListedTool) => readVerb(name) === 'create';

/**
 * Lists tools that may make the needs of another one, the most likely ones first: those whose answers name an id that it takes, those that
 * its refusal names, those that create things of which it speaks, and those that create things of the same name.
 */
function listProducers(tool: ListedTool, { lab, knowledge, tools }: PhaseContext): ListedTool[] {
  const refusal = knowledge.refusals.get(tool.name) ?? '';
  const missing = new Set(splitName(refusal));
  const rate = (other: ListedTool) =>
    Number(knowledge.makesIdFor(tool, other.name)) * 5 +
    Number(refusal.includes(other.name)) * 4 +
    Number(
      isMaker(other) &&
        splitName(other.name)
          .slice(1)
          .some((word) => missing.has(word)),
    ) *
      2 +
    Number(isMaker(other)) +
    Number(isMaker(other) && other.parameters.some(({ name }) => missing.has(splitName(name).join(' ')))) +
    Number(tool.description.includes(other.name)) * 2 +
    rateOverlap(tool, other);
  return tools
    .filter((other) => other !== tool && knowledge.working.has(other.name))
    .filter(({ name }) => !lab.isHarmless(name) || knowledge.makesIdFor(tool, name))
    .filter((other) => readVerb(other.name) !== 'remove')
    .map((other) => ({ other, rate: rate(other) }))
    .toSorted((a, b) => b.rate - a.rate)
    .map(({ other }) => other);
}

/** Runs each call that may change something between the same requests of readers. An idempotent one runs twice, and so does one that makes something. */
async function followEffects(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    if (call === undefined || lab.explainStop(tool.name) !== null) continue;
    // A declared reader is followed, too, to check its declaration.
    if (lab.isHarmless(tool.name) && !tool.isReadOnly) continue;
    const own = callTool(tool, call.arguments);
    const reads = await listReads(tool, call, context);
    if (reads === null) return;
    const isRepeated = tool.hints['idempotentHint'] === true && !tool.isReadOnly;
    const session = [...call.setup, ...reads, own, ...reads, ...(isRepeated ? [own, ...reads] : [])];
    if (reads.length === 0 && !isRepeated) continue;
    const run = await lab.run(session, { phase: 'chains', start: 'new' });
    if (run === null) return;
    const at = call.setup.length;
    const read = reads.find(
      (_, index) => !isSameOutcome(run.steps[at + index], run.steps[at + reads.length + 1 + index]),
    );
    // A call that waits for the user is repeated by its own preparation.
    const isPrepared = call.setup.some((request) => isJsonEqual(request, own));
    if (isMaker(tool) && !lab.isHarmless(tool.name) && !isPrepared) {
      const twice = read === undefined ? [own, own] : [own, read, own, read];
      await lab.run([...call.setup, ...twice], { phase: 'chains', start: 'new' });
      const other = callTool(tool, changeContent(call.arguments));
      if (read !== undefined && !isJsonEqual(own, other)) {
        await lab.run([...call.setup, own, other, read], { phase: 'chains', start: 'new' });
      }
    }
    // What a call changes, an option may leave: that of a dry run does.
    for (const option of read === undefined ? [] : listSwitches(tool.parameters).slice(0, maxOptions)) {
      if (read === undefined || Object.hasOwn(call.arguments, option)) continue;
      const dry = callTool(tool, { ...call.arguments, [option]: true });
      await lab.run([...call.setup, read, dry, read], { phase: 'chains', start: 'new' });
    }
  }
}

/** Writes other words for all but the first text, which is the name of most things. */
function changeContent(args: JsonObject): JsonObject {
  const [name] = [...listTexts(args)].map(({ text }) => text);
  return mapTexts(args, (text) => (text === name ? text : (otherContent.get(text) ?? text)));
}

/** The most things that are joined to one that was made. */
const maxJoins = 4;

/**
 * Makes a thing that names one made before it, such as a relation, and then removes the one that it names, with the same requests of readers
 * after each: a server decides what happens to the other one, and what a search for one of them shows.
 */
async function joinMade(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  const makers = tools.filter(
    (tool) => isMaker(tool) && !lab.isHarmless(tool.name) && knowledge.working.has(tool.name),
  );
  const removers = tools.filter((tool) => readVerb(tool.name) === 'remove' && knowledge.working.has(tool.name));
  const places = listPlaces(tools);
  let joins = 0;
  for (const maker of makers) {
    for (const joiner of makers.filter((other) => other !== maker && lab.explainStop(other.name) === null)) {
      const made = knowledge.working.get(maker.name);
      if (made === undefined || joins === maxJoins) return;
      const setup = [...made.setup, callTool(maker, made.arguments)];
      const prepared = await lab.run(setup, { phase: 'chains', start: 'new' });
      if (prepared === null) return;
      const args = buildArguments(joiner, knowledge, { before: prepared.steps });
      const join = callTool(joiner, args);
      if (!setup.slice(-1).some((make) => sharesText(join, make, places))) continue;
      joins += 1;
      const reads = await listReads(maker, made, context);
      if (reads === null) return;
      const removals = removers.flatMap((remover): ExploredRequest[] => {
        const call = knowledge.working.get(remover.name);
        const isOfMade = call?.setup.some((request) => request.kind === 'tool' && request.tool === maker.name) === true;
        return isOfMade && call !== undefined ? [callTool(remover, call.arguments), ...reads] : [];
      });
      const session = [...setup, ...reads, join, ...reads, ...removals];
      if ((await lab.run(session, { phase: 'chains', start: 'new' })) === null) return;
    }
  }
}

/** The most readers of a file that is replaced. */
const maxFileReaders = 2;

/** Lets each call that makes a file make one that exists, between the same requests of what reads it. */
async function replaceFiles({ lab, knowledge, tools }: PhaseContext): Promise<void> {
  const readers = tools
    .filter(({ name }) => lab.isHarmless(name) && lab.explainStop(name) === null)
    .flatMap((reader) => {
      const call = knowledge.working.get(reader.name);
      const parameter = findFileParameter(reader, call, { isMade: false });
      return call === undefined || parameter === null ? [] : [{ reader, call, parameter }];
    })
    .slice(0, maxFileReaders);
  if (readers.length === 0) return;
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    const made = findFileParameter(tool, call, { isMade: true });
    if (call === undefined || made === null || lab.isHarmless(tool.name)) continue;
    const path = chooseReplaced(call.arguments, made, knowledge.files);
    if (path === null) continue;
    const reads = readers.map((each) => callTool(each.reader, { ...each.call.arguments, [each.parameter]: path }));
    const own = callTool(tool, { ...call.arguments, [made]: path });
    const run = await lab.run([...call.setup, ...reads, own, ...reads], { phase: 'chains', start: 'new' });
    if (run === null) return;
  }
}

/** Finds the parameter of a call that names one file; null if there is none. */
function findFileParameter(
  tool: ListedTool,
  call: WorkingCall | undefined,
  { isMade }: { isMade: boolean },
): string | null {
  const found = tool.parameters.find(({ name }) => {
    const role = findPathRole({ name, tool });
    return role !== null && !role.isDirectory && role.isMade === isMade && typeof call?.arguments[name] === 'string';
  });
  return found?.name ?? null;
}

/** Chooses a file that the call does not name yet, and writes its path in the form that works. */
function chooseReplaced(args: JsonObject, made: string, files: readonly string[]): string | null {
  const start = String(args[made]).startsWith('{{workspace}}/') ? '{{workspace}}/' : '';
  const named = new Set([...listTexts(args)].map(({ text }) => text));
  const found = files.find((file) => !named.has(`${start}${file}`));
  return found === undefined ? null : `${start}${found}`;
}

/** The most texts of one call that are searched for. */
const maxSearches = 4;

/** Searches for each text that a creating call was given, in its own letters and in others, and for what it was given in others. */
async function searchMade({ lab, knowledge, tools }: PhaseContext): Promise<void> {
  const searches = tools
    .filter(({ name }) => lab.isHarmless(name) && lab.explainStop(name) === null)
    .flatMap((reader) => {
      const call = knowledge.working.get(reader.name);
      const parameter = reader.parameters.find(
        ({ name, schema }) => readType(schema) === 'string' && namesOfSearches.test(splitName(name).join(' ')),
      );
      return call === undefined || parameter === undefined ? [] : [{ reader, call, parameter: parameter.name }];
    });
  if (searches.length === 0) return;
  for (const tool of tools) {
    const made = knowledge.working.get(tool.name);
    if (made === undefined || readVerb(tool.name) !== 'create' || lab.isHarmless(tool.name)) continue;
    const texts = [...new Set([...listTexts(made.arguments)].map(({ text }) => text))].slice(0, maxSearches);
    for (const { reader, call, parameter } of searches) {
      const search = (text: string) => callTool(reader, { ...call.arguments, [parameter]: text });
      const swapped = mapTexts(made.arguments, (text) => (texts.includes(text) ? swapCase(text) : text));
      const sessions = [
        [callTool(tool, made.arguments), ...[...texts, ...texts.map(swapCase)].map(search)],
        [callTool(tool, swapped), ...texts.map(search)],
      ];
      for (const session of sessions) {
        if ((await lab.run([...made.setup, ...session], { phase: 'chains', start: 'new' })) === null) return;
      }
    }
  }
}

/** Writes a text in capitals, or in small letters if it has capitals only. */
function swapCase(text: string): string {
  const capitals = text.toUpperCase();
  return text === capitals ? text.toLowerCase() : capitals;
}
