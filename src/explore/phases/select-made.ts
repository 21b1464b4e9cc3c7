import { isAnswered } from '../answers.ts';
import { isJsonEqual, type JsonObject, listTexts } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { WorkingCall } from '../knowledge.ts';
import type { Parameter } from '../schema/parameters.ts';
import { listBranches, readType } from '../schema/resolve.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { findName, otherContent, otherNames, takeCase } from '../vocabulary/other-words.ts';
import { findPathRole, namesOfSearches, readLimits } from '../vocabulary/vocabulary.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { listReads } from './list-reads.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** The most tools whose things are made, and the most calls of one reader that select some of them. */
const maxMakers = 4;
const maxSelections = 6;

const namesOfAmounts = /\b(?:limit|top|count|first|max|size|per page)\b/;
const namesOfStarts = /\b(?:offset|skip|start)\b/;

/**
 * Makes three things, and asks each reader for all of them and, by each of its parameters, for some of them: one thing alone shows neither what
 * a filter leaves out nor where a limit cuts.
 */
export async function selectMade(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  const makers = tools.filter(
    ({ name }) => readVerb(name) === 'create' && !lab.isHarmless(name) && lab.explainStop(name) === null,
  );
  for (const maker of makers.slice(0, maxMakers)) {
    const made = knowledge.working.get(maker.name);
    if (made === undefined || listThings(made.arguments) === null) continue;
    const reads = await listReads(maker, made, context);
    if (reads === null) return;
    for (const read of reads) {
      const reader = tools.find(({ name }) => read.kind === 'tool' && name === read.tool);
      if (read.kind !== 'tool' || reader === undefined) continue;
      const session = planSession(maker, made, { reader, arguments: read.arguments }, context);
      if (session === null) continue;
      const { makes, selections } = session;
      const prepared = await lab.run([...made.setup, ...makes, read], { phase: 'chains', start: 'new' });
      if (prepared === null) return;
      const shown = prepared.steps.at(-1)?.observation;
      const isShown = (name: string) => JSON.stringify(shown?.outcome).includes(name);
      if (!prepared.steps.every(({ observation }) => isAnswered(observation))) continue;
      if (!session.names.some(isShown)) continue;
      const whole = [...made.setup, ...makes, read, ...selections];
      if ((await lab.run(whole, { phase: 'chains', start: 'new' })) === null) return;
    }
  }
}

interface Read {
  reader: ListedTool;
  arguments: JsonObject;
}

/** Plans the calls that make three things, and those that select some of them; null if nothing selects. */
function planSession(
  maker: ListedTool,
  made: WorkingCall,
  read: Read,
  { knowledge }: PhaseContext,
): { makes: ExploredRequest[]; names: string[]; selections: ExploredRequest[] } | null {
  const things = listThings(made.arguments);
  if (things === null) return null;
  const shared = maker.parameters.flatMap((parameter) => {
    const isShared = read.reader.parameters.some(({ name }) => name === parameter.name);
    const values = isShared && !parameter.isRequired ? knowledge.listValues(maker, parameter).slice(0, 2) : [];
    const isPath = findPathRole({ name: parameter.name, tool: maker }) !== null;
    return values.length < 2 || isPath ? [] : [{ name: parameter.name, values }];
  });
  const filled = things.map(({ name, arguments: args }, index) => ({
    name,
    arguments: { ...args, ...Object.fromEntries(shared.map((each) => [each.name, each.values[index % 2]])) },
  }));
  const ofShared = shared.map(({ name, values }): JsonObject => ({ [name]: values[1] }));
  const ofReader = read.reader.parameters.flatMap((parameter): JsonObject[] =>
    shared.some(({ name }) => name === parameter.name)
      ? []
      : listSelecting(
          read,
          parameter,
          things.map(({ name }) => name),
        ).map((value) => ({
          ...(isStart(parameter) ? limit(read.reader) : {}),
          [parameter.name]: value,
        })),
  );
  const selections = [...ofShared, ...ofReader]
    .map((added) => ({ ...read.arguments, ...added }))
    .filter((args) => !isJsonEqual(args, read.arguments))
    .slice(0, maxSelections)
    .map((args) => callTool(read.reader, args));
  if (selections.length === 0) return null;
  return {
    makes: filled.map(({ arguments: args }) => callTool(maker, args)),
    names: filled.map(({ name }) => name),
    selections,
  };
}

/** Lists the arguments for three things of other names, of which the second one has other content; null if no text of them is a name. */
function listThings(args: JsonObject): Array<{ name: string; arguments: JsonObject }> | null {
  const first = findName([...listTexts(args)])?.text ?? '';
  const match = /^((?:.*\/)?)(\p{L}+)(\.\w+)?$/u.exec(first);
  if (match === null) return null;
  const [, folder = '', word = '', ending = ''] = match;
  const rename = (other: string) => `${folder}${takeCase(other, word)}${ending}`;
  return [first, ...otherNames.map(rename)].map((name, index) => ({
    name,
    arguments: mapTexts(args, (text) => {
      if (text === first) return name;
      return index === 1 ? (otherContent.get(text) ?? text) : text;
    }),
  }));
}

const wordsOf = ({ name }: Parameter) => splitName(name).join(' ');

const isStart = (parameter: Parameter) => namesOfStarts.test(wordsOf(parameter)) || wordsOf(parameter) === 'page';

/** Two of three things. */
const amount = 2;

/** A start shows what it skips only where the rest is limited, too. */
function limit(reader: ListedTool): JsonObject {
  const found = reader.parameters.find(
    (each) => listTypes(reader, each).has('number') && !isStart(each) && namesOfAmounts.test(wordsOf(each)),
  );
  return found === undefined ? {} : { [found.name]: amount };
}

/** Lists the types that a parameter may have; an integer is a number, too. */
const listTypes = ({ inputSchema }: ListedTool, { schema }: Parameter) =>
  new Set(listBranches(schema, inputSchema).map((branch) => readType(branch)?.replace('integer', 'number')));

/** Lists values of a parameter that select some of the things with these names. */
function listSelecting({ reader, arguments: args }: Read, parameter: Parameter, names: readonly string[]): unknown[] {
  const { schema } = parameter;
  const sent = args[parameter.name];
  if (sent === names[0]) return names.slice(1, 2);
  if (Array.isArray(sent) && sent.includes(names[0])) return [names.slice(1)];
  const isOther = (value: unknown) => !Object.hasOwn(schema, 'default') || !isJsonEqual(value, schema['default']);
  if (Array.isArray(schema['enum'])) return schema['enum'].filter(isOther).slice(0, 2);
  const types = listTypes(reader, parameter);
  if (types.has('boolean')) return [true, false].filter(isOther).slice(0, 1);
  const words = wordsOf(parameter);
  if (types.has('number')) {
    const wanted = words === 'page' || namesOfAmounts.test(words) ? [amount] : isStart(parameter) ? [1] : [];
    return wanted.filter(readLimits(schema, true).allows);
  }
  return types.has('string') && namesOfSearches.test(words) ? names.slice(1, 2) : [];
}
