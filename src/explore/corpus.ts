import { isAnswered, isRefused } from './answers.ts';
import { isJsonEqual, isRecord, type JsonObject, listTexts, tryParseJson } from '../base/json.ts';
import { type ExploredRequest, nameRequest, type ObservedStep, type SessionRun } from './exploration.ts';
import type { Inventory } from './inventory.ts';
import { isGiven, listPlaces, listSwitches } from './schema/parameters.ts';
import { maskForms } from './stability/forms.ts';
import { printMasked, readOutcomeText, readRefusal } from './stability/texts.ts';
import { readVerb, splitName } from './vocabulary/names.ts';
import { largeNumber, lastCommit, optionText, specialText, unknownValues } from './vocabulary/typical-values.ts';
import { belowDirectory, namesOfSearches } from './vocabulary/vocabulary.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';

/** A session that is worth keeping, with the features that no session before it shows. */
export interface KeptSession {
  run: SessionRun;
  adds: readonly string[];
}

/** The most sessions for each tool, and at least. */
const sessionsPerTool = 4;
const leastSessions = 40;

/** The most different refusals of a tool that are kept. */
const maxRefusals = 4;

/**
 * Chooses sessions until no other one adds a tool, a parameter, a value of an enum, a refusal, the shape of a result, a second call, a state that a
 * reader sees, or a search for a text of the call before. Short sessions come first. The same runs give the same sessions.
 */
export function chooseSessions(runs: readonly SessionRun[], inventory: Inventory): KeptSession[] {
  const candidates = runs
    .filter(({ steps }) => steps.length > 0 && steps.every(({ observation }) => isSteady(observation.outcome.kind)))
    .filter(({ steps }) => steps.every(({ observation }) => explainRefusalByWorld(observation) === null))
    .toSorted((a, b) => a.steps.length - b.steps.length);
  const known = new Set<string>();
  const refusals = new Map<string, number>();
  const kept: KeptSession[] = [];
  for (const run of candidates) {
    const features = listFeatures(run, inventory);
    const adds = features.filter((feature) => !known.has(feature) && !isOneTooMany(feature, refusals));
    if (adds.length === 0) continue;
    for (const feature of adds) {
      known.add(feature);
      const tool = readRefusing(feature);
      if (tool !== null) refusals.set(tool, (refusals.get(tool) ?? 0) + 1);
    }
    kept.push({ run: trimSession(run, adds, inventory), adds });
  }
  return limitSessions(kept, Math.max(leastSessions, sessionsPerTool * inventory.tools.length));
}

/** Drops the sessions that show least, if there are too many; the others keep their order. */
function limitSessions(kept: readonly KeptSession[], most: number): KeptSession[] {
  const refusing = new Set<string>();
  const ranked = kept
    .map((session) => ({ session, rank: rank(session, refusing) }))
    .toSorted((a, b) => a.rank - b.rank);
  const chosen = new Set(ranked.slice(0, most).map(({ session }) => session));
  return kept.filter((session) => chosen.has(session));
}

/** Ranks a session. `refusing` has the tools of which an earlier session shows a refusal with words. */
function rank({ adds, run }: KeptSession, refusing: Set<string>): number {
  if (adds.some((feature) => /^(?:tool|resource|prompt|kept|again|search) |^state (?!.* joined by )/.test(feature)))
    return 0;
  if (adds.some(isTelling)) return 1;
  if (run.steps.some(({ isValid }) => isValid === false)) return 3;
  const said = adds.find((feature) => saysWhy.test(feature));
  const tool = said === undefined ? null : readRefusing(said);
  if (tool !== null && !refusing.has(tool)) {
    refusing.add(tool);
    return 1;
  }
  // Many calls have something in common.
  return tool !== null || adds.some((feature) => feature.startsWith('state ')) ? 2 : 3;
}

/** Matches a refusal with words of the server, which most frameworks put behind the name of the tool. */
const saysWhy = /^refusal \S+ (?:Error executing tool \S+: )?(?=.*\p{L}{3}.*\p{L}{3})(?!Error executing tool )/u;

/** Checks if a feature shows what a parameter changes: an amount of more than there is changes little. */
export const isTelling = (feature: string) => /^(?:parameter|value) /.test(feature) && !feature.endsWith(moreThanThere);

/** A lost process is a finding, and no expectation. */
const isSteady = (kind: string) => kind === 'result' || kind === 'error';

const readRefusing = (feature: string) => /^refusal (\S+)/.exec(feature)?.[1] ?? null;

function isOneTooMany(feature: string, refusals: ReadonlyMap<string, number>): boolean {
  const tool = readRefusing(feature);
  return tool !== null && (refusals.get(tool) ?? 0) >= maxRefusals;
}

/** Drops requests of readers for a state that is known from another session, and the steps after the last one that adds something. */
function trimSession(run: SessionRun, adds: readonly string[], inventory: Inventory): SessionRun {
  const { steps } = run;
  if (steps.length < 3 || adds.some((feature) => feature.startsWith('kept '))) return run;
  const changed = findChangedReads(steps);
  const readOnly = new Set(inventory.tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
  const shown = new Set(
    [...changed]
      .filter((index) => describeState(steps, index, inventory).some((state) => adds.includes(state)))
      .flatMap((index) => findEqual(steps, index)),
  );
  const adding = new Set(
    steps.keys().filter((index) => listStepFeatures(steps[index], inventory).some((feature) => adds.includes(feature))),
  );
  const isUseless = ({ request }: ObservedStep, index: number) =>
    !shown.has(index) &&
    !adding.has(index) &&
    request.kind === 'tool' &&
    readOnly.has(request.tool) &&
    findEqual(steps, index).length > 1;
  const last = shown.size === 0 ? steps.length - 1 : Math.max(...shown, ...adding);
  const isKept = steps.map((step, index) => index <= last && !isUseless(step, index));
  return { ...run, steps: steps.filter((_, index) => isKept[index] === true) };
}

/** Lists the steps with the same request. */
function findEqual(steps: readonly ObservedStep[], index: number): number[] {
  const own = steps[index]?.request;
  return steps.flatMap(({ request }, other) => (own !== undefined && isSameRequest(request, own) ? [other] : []));
}

/** Finds the steps whose request was sent before or after with another outcome. */
function findChangedReads(steps: readonly ObservedStep[]): Set<number> {
  const changed = new Set<number>();
  for (const [index, step] of steps.entries()) {
    const later = steps.findIndex((other, at) => at > index && isSameRequest(other.request, step.request));
    if (later === -1) continue;
    const after = steps[later];
    if (after !== undefined && printMasked(step.observation.outcome) !== printMasked(after.observation.outcome)) {
      changed.add(index).add(later);
    }
  }
  return changed;
}

const isSameRequest = (left: ExploredRequest, right: ExploredRequest) => JSON.stringify(left) === JSON.stringify(right);

/** Lists the features of a session. */
function listFeatures({ steps }: SessionRun, inventory: Inventory): string[] {
  const states = [...findChangedReads(steps)].flatMap((index) => describeState(steps, index, inventory));
  const searches = steps.flatMap((_, index) => describeSearch(steps, index));
  const kept = steps.flatMap((_, index) => describeKept(steps, index, inventory));
  const again = steps.flatMap((_, index) => describeAgain(steps, index));
  const own = steps.flatMap((step) => listStepFeatures(step, inventory));
  return [...new Set([...own, ...states, ...kept, ...again, ...searches])];
}

function listStepFeatures(step: ObservedStep | undefined, inventory: Inventory): string[] {
  if (step === undefined) return [];
  const { request, observation, isValid } = step;
  const subject = nameRequest(request);
  const { outcome } = observation;
  if (isRefused(observation)) {
    const message = maskValues(readRefusal(outcome), request);
    return [`refusal ${subject} ${message}`, ...listGuarded(request, message)];
  }
  if (outcome.kind !== 'result') return [];
  // A server may ask for roots at any time.
  const asked = (observation.asked ?? []).flatMap(({ ability }) =>
    ability === 'roots' ? [] : [`asks ${subject} ${ability}`],
  );
  const shape = `result ${subject} ${describeShape(outcome.result['structuredContent'] ?? readOutcomeText(outcome))}`;
  if (request.kind !== 'tool') return [`${request.kind} ${subject}`, shape];
  const tool = inventory.tools.find(({ name }) => name === request.tool);
  // A call that breaks the schema shows nothing that a caller may rely on.
  if (tool === undefined || isValid === false) return [];
  const parameters = Object.entries(request.arguments).flatMap(([name, value]) => {
    const parameter = tool.parameters.find((each) => each.name === name);
    if (parameter !== undefined && !isGiven(parameter, request.arguments)) return [];
    const schema = parameter?.schema;
    const isListed = Array.isArray(schema?.['enum']) || typeof value === 'boolean';
    const isDefault = schema !== undefined && Object.hasOwn(schema, 'default') && isJsonEqual(value, schema['default']);
    const kinds = listKinds(value).map((kind) => `value ${subject} ${name} ${kind}`);
    // A call without it shows the default, too.
    const listed = isListed && !isDefault ? [`value ${subject} ${name} ${JSON.stringify(value)}`] : [];
    return [`parameter ${subject} ${name}`, ...listed, ...kinds];
  });
  return [`tool ${subject}`, ...parameters, shape, ...asked];
}

/** Names the parameters in which a server refuses an option because it is one. */
function listGuarded(request: ExploredRequest, message: string): string[] {
  if (request.kind !== 'tool' || !/\b(?:start|begin|option|flag|dash|hyphen|inject)/i.test(message)) return [];
  const named = Object.entries(request.arguments).filter(([, value]) => value === optionText);
  return named.map(([name]) => `value ${request.tool} ${name} ${refusedOption}`);
}

/** Ends the feature of a session in which an option is refused. */
export const refusedOption = 'of an option, which is refused';

const partlyMissing = 'of which one is missing';
const ofDirectory = 'of a directory';
const withSpecial = 'with special characters';

/** What a list can have that others of its parameter do not have, as in the features of sessions. */
export const kindsOfLists: readonly string[] = [partlyMissing, ofDirectory, withSpecial];

/** How the feature of a session ends whose call asks for more than there is. */
const moreThanThere = 'of more than there is';

/** Names what an argument has that others of its parameter do not have. */
function listKinds(value: unknown): string[] {
  const isMissing = (text: unknown) =>
    typeof text === 'string' && (text === unknownValues.text || text.split('/').at(-1) === unknownValues.path);
  if ([...listTexts(value)].some(({ text }) => text === specialText)) return [withSpecial];
  if (Array.isArray(value)) {
    const missing = value.filter(isMissing).length;
    if (missing > 0 && missing < value.length) return [partlyMissing];
    return value.length === 1 ? listKinds(value[0]).filter((kind) => kind === ofDirectory) : [];
  }
  if (value === largeNumber) return [moreThanThere];
  if (value === '') return ['that is empty'];
  if (typeof value === 'string' && value.endsWith(belowDirectory)) return [ofDirectory];
  if (typeof value === 'string' && value.startsWith(`${lastCommit}:`)) return ['of a file in a commit'];
  const isBelow = typeof value === 'string' && value.split('/').slice(0, -1).includes(unknownValues.directory);
  return isBelow ? ['below a directory that is missing'] : [];
}

/** Names the texts of the call before that a call has as arguments, in the same case or in the other one. */
function describeSearch(steps: readonly ObservedStep[], index: number): string[] {
  const [made, search] = [steps[index - 1], steps[index]];
  if (made?.request.kind !== 'tool' || search?.request.kind !== 'tool' || !isAnswered(search.observation)) return [];
  const { tool: maker, arguments: given } = made.request;
  const { tool, arguments: wanted } = search.request;
  if (maker === tool) return [];
  const texts = [...listTexts(given)];
  return Object.entries(wanted).flatMap(([name, value]) => {
    // Two readers that are given the same path search for nothing.
    if (typeof value !== 'string' || !namesOfSearches.test(splitName(name).join(' '))) return [];
    const found = texts.find(({ text }) => text.toLowerCase() === value.toLowerCase());
    if (found === undefined) return [];
    const ending = found.text === value ? '' : ' in the other case';
    return [`search ${tool} ${name} for ${maker} ${found.path.join('/')}${ending}`];
  });
}

/** Names a tool that answers the same call differently when it comes again, because the first one has changed something. */
function describeAgain(steps: readonly ObservedStep[], index: number): string[] {
  const [first, second] = [steps[index - 1], steps[index]];
  if (first?.request.kind !== 'tool' || second === undefined || !isSameRequest(first.request, second.request))
    return [];
  const isOther = printMasked(first.observation.outcome) !== printMasked(second.observation.outcome);
  const areAnswered = isAnswered(first.observation) && isAnswered(second.observation);
  return isOther && areAnswered ? [`again ${first.request.tool}`] : [];
}

/** Names the option with which a call leaves what a reader answers, such as that of a dry run. */
function describeKept(steps: readonly ObservedStep[], index: number, { tools }: Inventory): string[] {
  const [before, own, after] = [steps[index - 1], steps[index], steps[index + 1]];
  if (own?.request.kind !== 'tool' || before === undefined || after === undefined) return [];
  const { tool, arguments: args } = own.request;
  if (before.request.kind !== 'tool' || before.request.tool === tool || !isAnswered(own.observation)) return [];
  const isKept =
    isAnswered(after.observation) &&
    isSameRequest(before.request, after.request) &&
    printMasked(before.observation.outcome) === printMasked(after.observation.outcome);
  const options = listSwitches(tools.find(({ name }) => name === tool)?.parameters ?? []).filter(
    (name) => args[name] === true,
  );
  return isKept ? options.map((name) => `kept ${nameRequest(after.request)} after ${tool} ${name}`) : [];
}

/**
 * Names the call that changed a reader's answer: the last one that is not declared to change nothing. Where all are declared so, one of
 * them did between two equal requests.
 */
function describeState(steps: readonly ObservedStep[], index: number, { tools }: Inventory): string[] {
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
  const state = `state ${nameRequest(reader)} after ${nameRequest(last.request)}`;
  const places = listPlaces(tools);
  const joined = others.filter(
    ({ request }) => nameRequest(request) !== nameRequest(last.request) && sharesText(request, last.request, places),
  );
  const ofTools = new Set(joined.map(({ request }) => nameRequest(request)).filter((name) => !isReader(name)));
  return [
    state,
    ...(isReplacing(steps, { last, reader, places }) ? [`${state}${overContent}`] : []),
    ...[...ofTools].map((name) => `${state}${joinedBy}${name}`),
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

/** Comes before the name of a tool whose call names the same thing as the last one. */
export const joinedBy = ' joined by ';

/** Ends the name of a state that replaced what the reader had read. */
export const overContent = ' over what it read';

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
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<!\w)${escaped}(?!\w)`, 'g');
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
