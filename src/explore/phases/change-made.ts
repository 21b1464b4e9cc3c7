import { isAnswered } from '../answers.ts';
import { isJsonEqual, type JsonObject } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { findGiven } from '../features/list-features.ts';
import type { ListedTool } from '../inventory.ts';
import type { WorkingCall } from '../knowledge.ts';
import { isNeededId, isOpenText, type Parameter } from '../schema/parameters.ts';
import { mayCreate, readVerb } from '../vocabulary/names.ts';
import { writeOther } from '../vocabulary/other-words.ts';
import { findPathRole } from '../vocabulary/vocabulary.ts';
import { listReads } from './list-reads.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** The most parts of a thing that are changed. */
const maxParts = 4;

/**
 * Makes a thing with all its parts, and changes each part alone, with the same request of a reader after each call: a call that changes all parts
 * does not show that the others stay. The last call empties a text.
 */
export async function changeMade(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    if (call === undefined || readVerb(tool.name) !== 'update' || lab.explainStop(tool.name) !== null) continue;
    const planned = planChanges(tool, call, context);
    if (planned === null) continue;
    const { setup, changes } = planned;
    const [read] = (await listReads(tool, { ...call, setup }, context)) ?? [];
    if (read === undefined) continue;
    const prepared = await lab.run([...setup, read], { phase: 'chains', start: 'new' });
    if (prepared === null) return;
    if (!prepared.steps.every(({ observation }) => isAnswered(observation))) continue;
    const session = [...setup, read, ...changes.flatMap((args) => [callTool(tool, args), read])];
    if ((await lab.run(session, { phase: 'chains', start: 'new' })) === null) return;
  }
}

/** Plans the call that makes the whole thing, and the arguments of the changes; null if the two tools share no optional part. */
function planChanges(
  tool: ListedTool,
  { arguments: args, setup }: WorkingCall,
  { knowledge, tools }: PhaseContext,
): { setup: ExploredRequest[]; changes: JsonObject[] } | null {
  const make = setup.at(-1);
  const maker = tools.find(({ name }) => make?.kind === 'tool' && name === make.tool);
  if (make?.kind !== 'tool' || maker === undefined || !mayCreate(maker.name)) return null;
  const parts = tool.parameters
    .filter((parameter) => !isNeededId(parameter) && findPathRole({ name: parameter.name, tool }) === null)
    .map((parameter) => {
      const own = maker.parameters.find(({ name }) => name === parameter.name);
      const first = own === undefined ? undefined : knowledge.listValues(maker, own)[0];
      return { parameter, own, made: findGiven(make.arguments, parameter.name) ?? first };
    })
    .filter(({ made }) => made !== undefined && made !== null)
    .slice(0, maxParts);
  const names = new Set(parts.map(({ parameter }) => parameter.name));
  if (!parts.some(({ parameter }) => !parameter.isRequired)) return null;
  const needed = Object.fromEntries(
    parts.flatMap(({ parameter, made }) => (parameter.isRequired ? [[parameter.name, made]] : [])),
  );
  const whole = Object.fromEntries(parts.flatMap(({ own, made }) => (own === undefined ? [] : [[own.name, made]])));
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !names.has(name)));
  const change = (name: string, value: unknown) => ({ ...rest, ...needed, [name]: value });
  const changes = parts.flatMap(({ parameter, made }) => {
    const other = chooseOther(made, knowledge.listValues(tool, parameter), isOpenText(parameter, tool.inputSchema));
    return other === undefined ? [] : [change(parameter.name, other)];
  });
  const last = parts.findLast(({ parameter, made }) => typeof made === 'string' && mayBeEmpty(parameter, tool));
  if (last !== undefined) changes.push(change(last.parameter.name, ''));
  if (changes.length < 2) return null;
  return { setup: [...setup.slice(0, -1), callTool(maker, { ...make.arguments, ...whole })], changes };
}

/** Chooses a value that differs from what was made in more than the case of its letters. */
function chooseOther(made: unknown, values: readonly unknown[], isOpen: boolean): unknown {
  const other = isOpen && typeof made === 'string' ? writeOther(made) : null;
  if (other !== null) return other;
  const squash = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);
  return values.find((value) => value !== null && value !== '' && !isJsonEqual(squash(value), squash(made)));
}

/** Checks if a part is a text that may be empty. */
function mayBeEmpty(parameter: Parameter, { inputSchema }: ListedTool): boolean {
  const { minLength = 0 } = parameter.schema;
  return !parameter.isRequired && minLength === 0 && isOpenText(parameter, inputSchema);
}
