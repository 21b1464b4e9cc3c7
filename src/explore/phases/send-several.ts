import { isAnswered } from '../answers.ts';
import { isJsonEqual, isRecord, type JsonObject, listRecords, listTexts } from '../../base/json.ts';
import { type ExploredRequest, nameRequest, readArguments, type ToolRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { Knowledge, WorkingCall } from '../knowledge.ts';
import { isOpenText, listProperties, type Parameter } from '../schema/parameters.ts';
import { readType, resolveSchema } from '../schema/resolve.ts';
import { readThing, readVerb, splitName } from '../vocabulary/names.ts';
import { findName, writeOther, writeOtherName } from '../vocabulary/other-words.ts';
import { readReference } from '../world/placeholders.ts';
import { listReads, rateOverlap } from './list-reads.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';

/** The most tools whose lists get several items, and the most readers after a call. */
const maxMakers = 6;
const maxReaders = 2;

/** The most members of an item that name no other thing, and get another text. */
const maxTexts = 2;

/** A parameter that is a list of objects, with the members of these. */
interface ListParameter {
  name: string;
  members: readonly Parameter[];
}

/** A call that makes several things at once, and the calls before it, which make what it, or one of these, names. */
interface Batch {
  maker: ListedTool;
  before: readonly ExploredRequest[];
  call: ToolRequest;
  list: ListParameter;
  items: readonly JsonObject[];
}

/**
 * Makes several things in one call, where a tool takes a list of objects: each differs from the first one in one member, and names what another
 * call made. Then some of them are removed in one call. One thing alone shows neither that all are handled, nor which members make two of them
 * the same.
 */
export async function sendSeveral(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  const working = tools.filter(({ name }) => knowledge.working.has(name) && lab.explainStop(name) === null);
  const makers = working.filter(({ name }) => readVerb(name) === 'create' && !lab.isHarmless(name));
  const removers = working.filter(({ name }) => readVerb(name) === 'remove');
  const alone = makers.flatMap((maker) => planBatch(maker, knowledge) ?? []);
  const independent = alone.filter((planned) => joinBatch(planned, alone) === planned);
  for (const planned of alone.slice(0, maxMakers)) {
    // What is called `to` may be an address, and names none of the things.
    for (const batch of new Set([joinBatch(planned, independent), planned])) {
      const named = alone.filter((other) => batch.before.includes(other.call));
      const end = await followBatch(batch, named, { removers, context });
      if (end === 'used up') return;
      if (end === 'answered') break;
    }
  }
}

/** Lets readers follow a call with several items, the removal of a thing that these name, and that of two of them. */
async function followBatch(
  batch: Batch,
  named: readonly Batch[],
  { removers, context }: { removers: readonly ListedTool[]; context: PhaseContext },
): Promise<'answered' | 'refused' | 'used up'> {
  const { maker, before, call } = batch;
  const { lab } = context;
  const readers = await listReads(maker, { arguments: call.arguments, setup: before }, context);
  if (readers === null) return 'used up';
  // One that needs no name shows all, and comes last.
  const countArguments = (read: ExploredRequest) => Object.keys(readArguments(read)).length;
  const reads = readers.slice(0, maxReaders).toSorted((a, b) => countArguments(b) - countArguments(a));
  const remove = (target: Batch, count: 1 | 2) =>
    removers.flatMap(
      (remover) => planRemoval(remover, { target, count, own: context.knowledge.working.get(remover.name) }) ?? [],
    );
  const ends = named.flatMap((other) => remove(other, 1)).flatMap((removal) => [removal, ...reads]);
  const session = [...before, call, ...reads];
  const made = await lab.run([...session, ...ends], { phase: 'chains', start: 'new' });
  if (made === null) return 'used up';
  if (!made.steps.slice(0, before.length + 1).every(({ observation }) => isAnswered(observation))) return 'refused';
  for (const removal of reads.length === 0 ? [] : remove(batch, 2)) {
    if ((await lab.run([...session, removal, ...reads], { phase: 'chains', start: 'new' })) === null) return 'used up';
  }
  return 'answered';
}

/** Finds the parameter of a tool that is a list of objects; null if it has none. */
function findList({ parameters, inputSchema }: ListedTool): ListParameter | null {
  for (const { name, schema } of parameters) {
    const items = isRecord(schema['items']) ? resolveSchema(schema['items'], inputSchema) : {};
    const members = listProperties(items, inputSchema);
    const { maxItems = Infinity } = schema;
    if (readType(schema) === 'array' && members.length > 0 && Number(maxItems) > 1 + members.length)
      return { name, members };
  }
  return null;
}

/** Plans a call with several items from the call that works; null if its tool takes none, or nothing differs. */
function planBatch(maker: ListedTool, knowledge: Knowledge): Batch | null {
  const made = knowledge.working.get(maker.name);
  const list = findList(maker);
  if (made === undefined || list === null) return null;
  // A call that worked with an empty list refused things that name others.
  const built = buildArguments(maker, knowledge, { isTaken: ({ name }) => name === list.name });
  const [item] = [made.arguments, built].flatMap((args) => listRecords(args[list.name]));
  if (item === undefined) return null;
  return fillBatch({ maker, list, before: made.setup, call: callTool(maker, made.arguments) }, item, null);
}

/** Gives a call items that differ from this one, and name the things of another call if one is given; null if nothing differs. */
function fillBatch(batch: Omit<Batch, 'items'>, item: JsonObject, named: Batch | null): Batch | null {
  const { maker, list, call } = batch;
  const items = vary(item, { list, named, root: maker.inputSchema });
  if (items.length < 2) return null;
  return { ...batch, items, call: callTool(maker, { ...call.arguments, [list.name]: items }) };
}

/** Makes items that differ from the first one in one member each. */
function vary(
  item: JsonObject,
  { list, named, root }: { list: ListParameter; named: Batch | null; root: JsonObject },
): JsonObject[] {
  const texts = list.members.filter((member) => typeof item[member.name] === 'string' && isOpenText(member, root));
  const references = named === null ? [] : texts.map(({ name }) => name).filter((name) => mayName(name, named));
  const names = named === null ? [] : listNames(named);
  const own = texts.map(({ name }) => name).filter((name) => !references.includes(name));
  const [first = '', second, third] = names;
  const ends = references.map((name, index) => [name, names[index] ?? first] as const);
  const plain = { ...item, ...Object.fromEntries(ends) };
  const base = mapLists(plain);
  // Things with fewer texts get more of them by a call that names them.
  const change = (name: string, value: unknown) => ({ ...(named === null ? plain : base), [name]: value });
  const unused = references.length > 1 ? third : second;
  const [left, right] = references;
  const main = findName(own.map((name) => ({ path: [name] })))?.path[0];
  return [
    base,
    ...(unused === undefined ? [] : references.map((name) => change(name, unused))),
    ...own.slice(0, maxTexts).map((name) => change(name, writeDistinct(item[name], 0))),
    // Three things have names of their own, where they name nothing else.
    ...(references.length > 0 || main === undefined ? [] : [change(main, writeDistinct(item[main], 1))]),
    ...(left === undefined || right === undefined ? [] : [{ ...base, [left]: base[right], [right]: base[left] }]),
  ];
}

/** Gives each list of one text a second one. */
const mapLists = (item: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const isOne = Array.isArray(value) && value.length === 1 && typeof value[0] === 'string';
      return [name, isOne ? [value[0], writeDistinct(value[0], 0)] : value];
    }),
  );

/** Writes another word, or other words; of an address, another name before its sign. */
function writeDistinct(value: unknown, index: 0 | 1): string {
  const text = String(value);
  const other = index === 0 ? writeOther(text) : writeOtherName(text, index);
  return other ?? text.replace(/(?=@|$)/, `${/\s/.test(text) ? ' ' : ''}${index + 2}`);
}

/** Names of the ends of something that joins two things. */
const namesOfEnds = /^(?:from|to|source|target|parent|child|start|end|subject|object|left|right)$/;

/** Checks if a member of an item may name what another call makes, by their names: `entityName` is the `name` of an entity. */
function mayName(member: string, { maker, items }: Batch): boolean {
  const words = splitName(member);
  const name = findNameOf(items[0] ?? {});
  return (
    namesOfEnds.test(words.join(' ')) ||
    words.join(' ') === [...readThing(maker.name), ...splitName(name ?? '')].join(' ')
  );
}

/** Lets the items of a call name what another one made; as planned where they name nothing of the kind, or need other calls before. */
function joinBatch(planned: Batch, others: readonly Batch[]): Batch {
  const [item = {}] = planned.items;
  const [joined] = others.flatMap((other) => {
    const hasNames = planned.list.members.some(({ name }) => mayName(name, other)) && other.maker !== planned.maker;
    const needed = planned.before.filter((request) => nameRequest(request) !== other.maker.name);
    const isPrepared = needed.length === 0 || isJsonEqual(needed, other.before);
    const before = [...other.before, other.call];
    return (hasNames && isPrepared ? fillBatch({ ...planned, before }, item, other) : null) ?? [];
  });
  return joined ?? planned;
}

/** Finds the member that names an item. */
function findNameOf(item: JsonObject): string | undefined {
  const found = findName([...listTexts(item)].filter(({ path }) => path.length === 1));
  return found === undefined ? undefined : String(found.path[0]);
}

/** Lists the names of the things that a call makes, each once. */
function listNames({ items }: Batch): string[] {
  const name = findNameOf(items[0] ?? {});
  return name === undefined ? [] : [...new Set(items.map((item) => String(item[name])))];
}

/**
 * Plans a call that removes the first and the last of several things, or the first one alone, with the other arguments of the call that works;
 * null if the tool removes others.
 */
function planRemoval(
  remover: ListedTool,
  { target: batch, count, own }: { target: Batch; count: 1 | 2; own: WorkingCall | undefined },
): ToolRequest | null {
  const remove = (name: string, removed: readonly unknown[]) => {
    const { [name]: _, ...others } = own?.arguments ?? {};
    // The calls before it are those of the batch, of which other results are meant only where these are the same.
    const isPrepared = own?.setup.every((request, index) => {
      const made = [...batch.before, batch.call][index];
      return made !== undefined && nameRequest(request) === nameRequest(made);
    });
    const hasReference = [...listTexts(others)].some(({ text }) => readReference(text) !== null);
    return hasReference && isPrepared !== true ? null : callTool(remover, { ...others, [name]: removed });
  };
  const chosen = <Item>(all: readonly Item[]) => [...all.slice(0, 1), ...(count === 2 ? all.slice(-1) : [])];
  const list = findList(remover);
  const [first = {}] = batch.items;
  if (list !== null) {
    const isSame = list.members.every(({ name, isRequired }) => !isRequired || Object.hasOwn(first, name));
    const taken = list.members.filter(({ name }) => Object.hasOwn(first, name));
    if (!isSame || taken.length < 2) return null;
    const pick = (item: JsonObject) => Object.fromEntries(taken.map(({ name }) => [name, item[name]]));
    return remove(list.name, chosen(batch.items).map(pick));
  }
  const parameter = remover.parameters.find(({ schema }) => {
    const items = isRecord(schema['items']) ? resolveSchema(schema['items'], remover.inputSchema) : {};
    return isOpenText({ schema: items }, remover.inputSchema);
  });
  if (parameter === undefined || rateOverlap(remover, batch.maker) < 1) return null;
  return remove(parameter.name, chosen(listNames(batch)));
}
