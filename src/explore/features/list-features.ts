import { escapeExpression } from '../../base/text.ts';
import { isRecord, type JsonObject, isJsonEqual, listTexts, tryParseJson } from '../../base/json.ts';
import { isAnswered, isRefused, listCompleted } from '../answers.ts';
import { type ObservedStep, type SessionRun } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import type { Inventory } from '../inventory.ts';
import { findTwins, isGiven, listPlaces, listSwitches, writeInCapitals } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { maskForms } from '../stability/forms.ts';
import { printMasked, readOutcomeText, readRefusal } from '../stability/texts.ts';
import { mayCreate, readVerb, splitName } from '../vocabulary/names.ts';
import { describeStatement, findStatement } from '../vocabulary/statements.ts';
import { writeLength } from '../vocabulary/typical-values.ts';
import { namesOfSearches } from '../vocabulary/vocabulary.ts';
import { type Feature, nameFeature } from './feature.ts';
import { listGuards } from './guards.ts';
import { findTrait } from './traits.ts';

/** Lists the features of a session, each once. */
export function listFeatures({ steps }: SessionRun, inventory: Inventory): Feature[] {
  const states = [...findChangedReads(steps)].flatMap((index) => listStates(steps, index, inventory));
  const searches = steps.flatMap((_, index) => listSearches(steps, index));
  const kept = steps.flatMap((_, index) => listKept(steps, index, inventory));
  const again = steps.flatMap((_, index) => [...listAgain(steps, index), ...listNamesakes(steps, index)]);
  const several = steps.flatMap((_, index) => listSeveral(steps, index));
  const own = steps.flatMap((step) => listStepFeatures(step, inventory));
  const selected = steps.flatMap((_, index) => listSelected(steps, index));
  const parts = steps.flatMap((_, index) => listParts(steps, index));
  const effects = steps.flatMap((_, index) => listEffects(steps, index, inventory));
  const all = [
    ...own,
    ...listLimits(steps),
    ...states,
    ...kept,
    ...again,
    ...several,
    ...selected,
    ...parts,
    ...effects,
    ...searches,
  ];
  return [...new Map(all.map((feature) => [nameFeature(feature), feature])).values()];
}

/** Lists the features that one step shows without the others. */
export function listStepFeatures(step: ObservedStep | undefined, inventory: Inventory): Feature[] {
  if (step === undefined) return [];
  const { request, observation, isValid } = step;
  const subject = nameRequest(request);
  const { outcome } = observation;
  if (isRefused(observation)) {
    const message = readRefusal(outcome);
    return [{ kind: 'refusal', subject, words: maskValues(message, request) }, ...listGuards(request, message)];
  }
  if (outcome.kind !== 'result') return [];
  // A server may ask for roots at any time.
  const asked = (observation.asked ?? []).flatMap(({ ability }): Feature[] =>
    ability === 'roots' ? [] : [{ kind: 'asks', subject, ability }],
  );
  const shape = describeShape(outcome.result['structuredContent'] ?? readOutcomeText(outcome));
  const result: Feature = { kind: 'result', subject, shape };
  if (request.kind === 'completion') {
    const { argument, value } = request;
    return listCompleted(outcome).length === 0
      ? []
      : [{ kind: 'completion', subject, argument, isStarted: value !== '' }];
  }
  if (request.kind === 'prompt') return [{ kind: 'prompt', subject, given: Object.keys(request.arguments) }, result];
  if (request.kind === 'resource') return [{ kind: 'resource', subject }, result];
  const tool = inventory.tools.find(({ name }) => name === request.tool);
  // A call that breaks the schema shows nothing that a caller may rely on.
  if (tool === undefined || isValid === false) return [];
  const twins = findTwins(tool.parameters) ?? [];
  const parameters = Object.entries(request.arguments).flatMap(([name, value]): Feature[] => {
    const parameter = tool.parameters.find((each) => each.name === name);
    if (parameter !== undefined && !isGiven(parameter, request.arguments)) return [];
    const schema = parameter?.schema;
    const isTwin = twins.some((each) => each.name === name);
    const isInCapitals = schema !== undefined && value !== undefined && value === writeInCapitals(schema);
    const isListed = Array.isArray(schema?.['enum']) || typeof value === 'boolean' || isTwin || isInCapitals;
    const isDefault = schema !== undefined && Object.hasOwn(schema, 'default') && isJsonEqual(value, schema['default']);
    const trait = findTrait(value);
    const own = { tool: tool.name, name };
    return [
      { kind: 'parameter', ...own },
      // A call without it shows the default, too.
      ...(isListed && !isDefault ? [{ kind: 'value' as const, ...own, value }] : []),
      ...(trait === null ? [] : [{ kind: 'trait' as const, ...own, trait }]),
    ];
  });
  const statement = findStatement(request.arguments);
  const statements =
    statement === null
      ? []
      : [{ kind: 'statement' as const, tool: tool.name, ...describeStatement(String(request.arguments[statement])) }];
  return [{ kind: 'tool', subject }, ...parameters, ...statements, result, ...asked];
}

/** Lists the texts of what a call before has made that a search has as arguments, in the same letters or in others. */
function listSearches(steps: readonly ObservedStep[], index: number): Feature[] {
  const search = steps[index];
  if (search?.request.kind !== 'tool' || !isAnswered(search.observation)) return [];
  const { tool, arguments: wanted } = search.request;
  const made = steps.slice(0, index).findLast(({ request }) => request.kind !== 'tool' || request.tool !== tool);
  if (made?.request.kind !== 'tool' || !isAnswered(made.observation)) return [];
  const { tool: maker, arguments: given } = made.request;
  const texts = [...listTexts(given)];
  return Object.entries(wanted).flatMap(([name, value]): Feature[] => {
    // Two readers that are given the same path search for nothing.
    if (typeof value !== 'string' || !namesOfSearches.test(splitName(name).join(' '))) return [];
    const found = texts.find(({ text }) => text.toLowerCase() === value.toLowerCase());
    if (found === undefined) return [];
    const letters = found.text === value ? 'same' : value === value.toUpperCase() ? 'capital' : 'small';
    return [{ kind: 'search', tool, name, maker, path: found.path.join('/'), letters }];
  });
}

/**
 * Finds the tool that answers the same call differently when it comes again, because the first one has changed something, or a call that
 * makes something and comes again between the same requests of a reader.
 */
function listAgain(steps: readonly ObservedStep[], index: number): Feature[] {
  const [before, previous, second, after] = [steps[index - 2], steps[index - 1], steps[index], steps[index + 1]];
  if (second?.request.kind !== 'tool' || previous === undefined || !isAnswered(second.observation)) return [];
  const { tool } = second.request;
  const isEqual = (step: ObservedStep | undefined, other: ObservedStep) =>
    step !== undefined && isSameRequest(step.request, other.request) && isAnswered(step.observation);
  const isOther = isEqual(previous, second) && !isAlike(previous, second);
  const isRead = readVerb(tool) === 'create' && isEqual(before, second) && isEqual(after, previous);
  return isOther || isRead ? [{ kind: 'again', tool }] : [];
}

/** Finds a tool that makes a second thing with the name of the first, before a reader is asked. */
function listNamesakes(steps: readonly ObservedStep[], index: number): Feature[] {
  const [first, second, after] = [steps[index - 1], steps[index], steps[index + 1]];
  if (first?.request.kind !== 'tool' || second?.request.kind !== 'tool' || after === undefined) return [];
  const { tool } = second.request;
  const [name] = listTexts(first.request.arguments);
  const [other] = listTexts(second.request.arguments);
  const isNamesake =
    first.request.tool === tool &&
    name !== undefined &&
    name.text === other?.text &&
    !isSameRequest(first.request, second.request);
  return isNamesake &&
    areAnswered(first, second, after) &&
    readVerb(tool) === 'create' &&
    nameRequest(after.request) !== tool
    ? [{ kind: 'namesake', tool }]
    : [];
}

/** Lists the parameters that have several items in a call that makes, changes or removes something, if readers follow. The last one counts. */
function listSeveral(steps: readonly ObservedStep[], index: number): Feature[] {
  const call = steps[index];
  if (call?.request.kind !== 'tool' || !isAnswered(call.observation)) return [];
  const { tool, arguments: args } = call.request;
  const later = steps.slice(index + 1);
  const isRead = ({ request, observation }: ObservedStep) =>
    isAnswered(observation) && readVerb(nameRequest(request)) === 'read';
  const end = later.findIndex((step) => !isRead(step));
  const after = (end === -1 ? later : later.slice(0, end)).at(-1);
  const verb = readVerb(tool);
  if (after === undefined || (verb !== 'create' && verb !== 'update' && verb !== 'remove')) return [];
  const before = steps.slice(0, index).findLast(({ request }) => isSameRequest(request, after.request));
  // A server may answer a call that found nothing to change or to remove.
  if (verb !== 'create' && (before === undefined || isAlike(before, after))) return [];
  return Object.entries(args).flatMap(([name, value]): Feature[] =>
    findTrait(value) === 'several items' && Array.isArray(value)
      ? [{ kind: 'several', tool, name, count: value.length, reader: nameRequest(after.request) }]
      : [],
  );
}

/** So many things show what a parameter selects, and what it leaves out. */
const leastThings = 3;

/**
 * Lists the arguments that a call has in addition to an earlier one of its tool, or has otherwise, after several calls that have made things: it
 * asks for some of them.
 */
function listSelected(steps: readonly ObservedStep[], index: number): Feature[] {
  const step = steps[index];
  if (step?.request.kind !== 'tool' || !isAnswered(step.observation)) return [];
  const { tool, arguments: args } = step.request;
  const before = steps.slice(0, index).filter(({ observation }) => isAnswered(observation));
  const all = before.findLast(({ request }) => nameRequest(request) === tool)?.request;
  const makes = before.flatMap(({ request }) =>
    request.kind === 'tool' && readVerb(request.tool) === 'create' ? [request] : [],
  );
  const maker = makes.at(-1)?.tool;
  const things = new Set(makes.filter((make) => make.tool === maker).map((make) => JSON.stringify(make.arguments)));
  if (all?.kind !== 'tool' || maker === undefined || maker === tool || things.size < leastThings) return [];
  const names = Object.keys(args).filter((name) => !isJsonEqual(args[name], all.arguments[name]));
  return names.map((name) => ({ kind: 'selected', tool, name, maker }));
}

/** Finds what a call gives under a name: an argument, or a text within one. */
export function findGiven(args: JsonObject, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : [...listTexts(args)].find(({ path }) => path.at(-1) === name)?.text;
}

/** Finds a call that gives one part another value than an earlier call gave it together with others, between the same requests of a reader. */
function listParts(steps: readonly ObservedStep[], index: number): Feature[] {
  const [before, own, after] = [steps[index - 1], steps[index], steps[index + 1]];
  if (own?.request.kind !== 'tool' || before === undefined || after === undefined) return [];
  const { tool, arguments: args } = own.request;
  const isRead = isSameRequest(before.request, after.request) && nameRequest(after.request) !== tool;
  if (!isRead || readVerb(tool) !== 'update' || !areAnswered(before, own, after)) return [];
  const made = steps.slice(0, index).findLast(({ request }) => mayCreate(nameRequest(request)))?.request;
  if (made?.kind !== 'tool') return [];
  const names = Object.keys(args).filter((name) => {
    const given = findGiven(made.arguments, name);
    return given !== undefined && !isJsonEqual(args[name], given);
  });
  const [name = ''] = names;
  const reader = nameRequest(after.request);
  return names.length === 1 ? [{ kind: 'part', tool, name, reader, isEmptied: args[name] === '' }] : [];
}

/** What a file has is more than this. */
const leastEdge = 3;

/**
 * Finds a number, or a length of a text, in the last call that is just beyond that of the call before: the last call is refused, or answered
 * otherwise.
 */
function listLimits(steps: readonly ObservedStep[]): Feature[] {
  const [within, beyond] = steps.slice(-2);
  if (within?.request.kind !== 'tool' || beyond?.request.kind !== 'tool' || !isAnswered(within.observation)) return [];
  const isLimit = isRefused(beyond.observation);
  if (!isLimit && (!isAnswered(beyond.observation) || isAlike(within, beyond))) return [];
  const { tool, arguments: args } = beyond.request;
  const earlier = within.request;
  const [name = '', ...others] = Object.keys(args).filter((each) => !isJsonEqual(args[each], earlier.arguments[each]));
  const step = measure(args[name]) - measure(earlier.arguments[name]);
  if (earlier.tool !== tool || others.length > 0 || Math.abs(step) !== 1) return [];
  // Small numbers differ in what they ask for.
  if (!isLimit && measure(args[name]) <= leastEdge) return [];
  return [isLimit ? { kind: 'limit', tool, name, isUpper: step === 1 } : { kind: 'edge', tool, name }];
}

/** Measures a number, or the length of a text that was written for it. */
function measure(value: unknown): number {
  if (typeof value === 'string') return value === writeLength(value.length) ? value.length : NaN;
  return typeof value === 'number' ? value : NaN;
}

/** Finds an option that a call has in addition to the one before it, which was answered otherwise. */
function listEffects(steps: readonly ObservedStep[], index: number, { tools }: Inventory): Feature[] {
  const [before, own] = [steps[index - 1], steps[index]];
  if (own?.request.kind !== 'tool' || before?.request.kind !== 'tool' || !areAnswered(before, own)) return [];
  const { tool, arguments: args } = own.request;
  const earlier = before.request;
  const [name = '', ...others] = Object.keys(args).filter((each) => !isJsonEqual(args[each], earlier.arguments[each]));
  const schema = tools.find((each) => each.name === tool)?.parameters.find((each) => each.name === name)?.schema;
  const isOption = schema !== undefined && (readType(schema) === 'boolean' || Array.isArray(schema['enum']));
  const isAdded = earlier.tool === tool && others.length === 0 && !Object.hasOwn(earlier.arguments, name);
  const isOther = !isAlike(before, own);
  return isOption && isAdded && isOther ? [{ kind: 'effect', tool, name, value: args[name] }] : [];
}

const areAnswered = (...steps: readonly ObservedStep[]) => steps.every(({ observation }) => isAnswered(observation));

/** Lists the options with which a call leaves what a reader answers, such as that of a dry run. */
function listKept(steps: readonly ObservedStep[], index: number, { tools }: Inventory): Feature[] {
  const [before, own, after] = [steps[index - 1], steps[index], steps[index + 1]];
  if (own?.request.kind !== 'tool' || before === undefined || after === undefined) return [];
  const { tool, arguments: args } = own.request;
  if (before.request.kind !== 'tool' || before.request.tool === tool || !isAnswered(own.observation)) return [];
  const isKept =
    isAnswered(after.observation) && isSameRequest(before.request, after.request) && isAlike(before, after);
  const options = listSwitches(tools.find(({ name }) => name === tool)?.parameters ?? []).filter(
    (name) => args[name] === true,
  );
  const reader = nameRequest(after.request);
  return isKept ? options.map((option) => ({ kind: 'kept', reader, writer: tool, option })) : [];
}

/**
 * Finds the call that changed a reader's answer: the last one that is not declared to change nothing. Where all are declared so, one of
 * them did between two equal requests.
 */
export function listStates(steps: readonly ObservedStep[], index: number, { tools }: Inventory): Feature[] {
  const reader = steps[index]?.request;
  if (reader === undefined) return [];
  const before = steps.slice(0, index);
  const others = before.filter(
    ({ request, observation }) => isAnswered(observation) && request.kind === 'tool' && !isSameRequest(request, reader),
  );
  const readOnly = new Set(tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
  const isReader = (name: string) => readOnly.has(name) || readVerb(name) === 'read';
  const isRepeated = before.some(({ request }) => isSameRequest(request, reader));
  const last =
    others.findLast(({ request }) => !isReader(nameRequest(request))) ?? (isRepeated ? others.at(-1) : undefined);
  if (last === undefined) return [];
  const state = { reader: nameRequest(reader), writer: nameRequest(last.request) };
  const places = listPlaces(tools);
  const joined = others.filter(
    ({ request }) => nameRequest(request) !== nameRequest(last.request) && sharesText(request, last.request, places),
  );
  const ofTools = new Set(joined.map(({ request }) => nameRequest(request)).filter((name) => !isReader(name)));
  return [
    { kind: 'state', ...state },
    ...(isReplacing(steps, { last, reader, places }) ? [{ kind: 'replaced' as const, ...state }] : []),
    ...[...ofTools].map((other) => ({ kind: 'joined' as const, ...state, other })),
  ];
}

/** Checks if two calls have a text in common, which names one thing in both. Arguments with the names in `places` name no thing. */
export function sharesText(left: ExploredRequest, right: ExploredRequest, places: ReadonlySet<string>): boolean {
  if (left.kind !== 'tool' || right.kind !== 'tool') return false;
  const list = (args: JsonObject) =>
    Object.entries(args).flatMap(([name, value]) =>
      places.has(name) ? [] : [...listTexts(value)].flatMap(({ text }) => (text === '' ? [] : [text])),
    );
  const texts = new Set(list(right.arguments));
  return list(left.arguments).some((text) => texts.has(text));
}

/** Checks if a call names what the reader had read before it. */
function isReplacing(
  steps: readonly ObservedStep[],
  { last, reader, places }: { last: ObservedStep; reader: ExploredRequest; places: ReadonlySet<string> },
): boolean {
  const call = last.request;
  if (call.kind !== 'tool' || reader.kind !== 'tool' || readVerb(call.tool) === 'remove') return false;
  // What is moved away is not read again.
  const isRead = steps.every(({ request, observation }) => !isSameRequest(request, reader) || isAnswered(observation));
  return isRead && sharesText(call, reader, places);
}

/** Checks if two answers differ in volatile forms only. */
const isAlike = (left: ObservedStep, right: ObservedStep) =>
  printMasked(left.observation.outcome) === printMasked(right.observation.outcome);

/** Finds the steps whose request was sent before or after with another outcome. */
export function findChangedReads(steps: readonly ObservedStep[]): Set<number> {
  const changed = new Set<number>();
  for (const [index, step] of steps.entries()) {
    const later = steps.findIndex((other, at) => at > index && isSameRequest(other.request, step.request));
    if (later === -1) continue;
    const after = steps[later];
    if (after !== undefined && !isAlike(step, after)) {
      changed.add(index).add(later);
    }
  }
  return changed;
}

export const isSameRequest = (left: ExploredRequest, right: ExploredRequest) =>
  JSON.stringify(left) === JSON.stringify(right);

/** Leaves arguments, quotes and numbers out of a message. */
function maskValues(message: string, request: ExploredRequest): string {
  const texts = [...listTexts(request.kind === 'tool' ? request.arguments : {})].map(({ text }) => text);
  const longestFirst = texts.filter((text) => text.trim() !== '').toSorted((a, b) => b.length - a.length);
  const masked = longestFirst.reduce((text, value) => text.replaceAll(asWord(value), '…'), maskForms(message));
  return masked
    .replaceAll(/\{\{workspace\}\}[^\s"'`]*/g, '…')
    .replaceAll(/(["'`])[^"'`]*\1/g, '…')
    .replaceAll(/\d+/g, '#')
    .slice(0, 300);
}

/** Matches a text that is no part of a longer word. */
function asWord(text: string): RegExp {
  return new RegExp(String.raw`(?<!\w)${escapeExpression(text)}(?!\w)`, 'g');
}

/** Describes the members of a value and their types, but no values. */
function describeShape(value: unknown, depth = 0): string {
  const parsed = typeof value === 'string' ? tryParseJson(value) : value;
  if (typeof parsed !== 'object' || parsed === null) {
    if (typeof value !== 'string') return typeof value;
    if (depth > 0) return 'text';
    return value === '' ? 'no text' : value.includes('\n') ? 'lines' : 'text';
  }
  if (depth > 3) return '…';
  if (Array.isArray(parsed)) return parsed.length === 0 ? '[]' : `[${describeShape(parsed[0], depth + 1)}]`;
  if (!isRecord(parsed)) return 'object';
  const members = Object.keys(parsed)
    .toSorted()
    .slice(0, 20)
    .map((name) => `${name}:${describeShape(parsed[name], depth + 1)}`);
  return `{${members.join()}}`;
}
