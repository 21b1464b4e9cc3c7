import { isRefused } from '../answers.ts';
import { isJsonEqual } from '../../base/json.ts';
import { clipText, formatCount, joinWords } from '../../base/text.ts';
import { type ExploredSession, type ObservedStep } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import { type Feature, pickFeatures, states } from '../features/feature.ts';
import { describeTrait } from '../features/traits.ts';
import { readOutcomeText } from '../stability/texts.ts';
import { readVerb } from '../vocabulary/names.ts';
import { isHarmlessRequest, writesByStatement } from '../vocabulary/statements.ts';

export const longestTitle = 100;
const longestValue = 30;

/** Writes a title that says what the session shows: "read_graph finds what create_entities made". A call of a tool in `harmless` changes nothing. */
export function writeTitle(
  session: Pick<ExploredSession, 'steps' | 'adds'>,
  required: RequiredNames,
  harmless: ReadonlySet<string> = new Set(),
): string {
  const last = session.steps.at(-1);
  if (last === undefined) return 'Nothing';
  const title =
    describeSelected(session) ??
    describeParts(session) ??
    describeEffect(session) ??
    describeLimit(session) ??
    describeEdge(session) ??
    describeSearches(session) ??
    describeSeveral(session) ??
    describeState(session, (request) => mayChange(request, harmless)) ??
    describeStatement(session) ??
    describeKept(session) ??
    describeAgain(session) ??
    describeStep(last, session, required);
  return clipText(title, longestTitle);
}

/** Writes the title of a case with those of the calls that joined it, as far as they fit, without the name of their tool. */
export function joinTitles([title = '', ...joined]: readonly string[], tool: string): string {
  if (!title.startsWith(`${tool} `)) {
    return joined.length === 0
      ? title
      : clipText(`${title} and ${formatCount(joined.length, 'more request')}`, longestTitle);
  }
  const start = tool.length + 1;
  const said = title.startsWith('refuses ', start) ? /^refuses / : /^answers (?=with )/;
  const others = joined.map((each) => (each.startsWith(`${tool} `) ? each.slice(start).replace(said, '') : each));
  for (let count = others.length; count > 0; count -= 1) {
    const left = others.length - count;
    const more = left === 0 ? [] : [formatCount(left, 'more call')];
    const whole = joinWords([title, ...others.slice(0, count), ...more]);
    if (whole.length <= longestTitle) return whole;
  }
  return others.length === 0
    ? title
    : clipText(`${title} and ${formatCount(others.length, 'more call')}`, longestTitle);
}

function describeSelected({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const selected = pickFeatures(adds, 'selected');
  const [first] = selected;
  if (first === undefined) return null;
  const names = [...new Set(selected.filter(({ tool }) => tool === first.tool).map(({ name }) => name))];
  return `${first.tool} selects by ${joinWords(names)} what ${first.maker} made`;
}

function describeParts({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const parts = pickFeatures(adds, 'part');
  const [first] = parts;
  if (first === undefined) return null;
  const changed = parts.filter(({ isEmptied }) => !isEmptied).map(({ name }) => name);
  const emptied = parts.filter(({ isEmptied }) => isEmptied).map(({ name }) => `an empty ${name}`);
  return `${first.reader} sees each change by ${first.tool}: ${joinWords([...changed, ...emptied])}`;
}

function describeEffect({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const [effect] = pickFeatures(adds, 'effect');
  return effect === undefined
    ? null
    : `${effect.tool} answers otherwise with ${effect.name}${printValue(effect.value)}`;
}

/** Says which value is the last one that is answered. */
function describeLimit({ steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string | null {
  const [limit] = pickFeatures(adds, 'limit');
  const within = steps.at(-2)?.request;
  if (limit === undefined || within?.kind !== 'tool') return null;
  const value = within.arguments[limit.name];
  const size = typeof value === 'string' ? `${value.length} characters` : String(value);
  return `${limit.tool} refuses ${limit.name} ${limit.isUpper ? 'above' : 'below'} ${size}`;
}

/** Says between which two numbers the answers differ. */
function describeEdge({ steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string | null {
  const [edge] = pickFeatures(adds, 'edge');
  const [first, last] = steps.slice(-2).map(({ request }) => request);
  if (edge === undefined || first?.kind !== 'tool' || last?.kind !== 'tool') return null;
  const [value, next] = [first, last].map((request) => String(request.arguments[edge.name]));
  return `${edge.tool} answers with ${edge.name} ${value}, and otherwise with ${next}`;
}

function describeSearches({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const searches = pickFeatures(adds, 'search');
  const [first] = searches;
  if (first === undefined) return null;
  const { tool, maker } = first;
  return searches.every(({ letters }) => letters === 'small')
    ? `${tool} searches in small letters for the capitals of ${maker}`
    : `${tool} searches for the texts of ${maker}`;
}

/** Describes a change by a statement that a reader shows. */
function describeStatement({ steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string | null {
  const last = steps.at(-1)?.request;
  const change = pickFeatures(adds, 'statement').find(({ writes }) => writes);
  if (change === undefined || last === undefined || isWriter(last)) return null;
  return `${nameRequest(last)} sees ${change.does} by ${change.tool}`;
}

/** Describes a call with a list of several items that a reader shows, and a later call of another tool. */
function describeSeveral({ steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string | null {
  const last = steps.at(-1)?.request;
  const several = pickFeatures(adds, 'several').at(-1);
  if (several === undefined || last === undefined || isWriter(last)) return null;
  const place = steps.findLastIndex(({ request }) => nameRequest(request) === several.tool);
  const later = steps
    .slice(place)
    .findLast(({ request }) => nameRequest(request) !== several.tool && isWriter(request));
  const after = later === undefined ? '' : ` after ${nameRequest(later.request)}`;
  return `${nameRequest(last)} sees several ${several.name} by ${several.tool}${after}`;
}

function describeKept({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const [kept] = pickFeatures(adds, 'kept');
  return kept === undefined ? null : `${kept.reader} sees no change by ${kept.writer} with ${kept.option}`;
}

function describeAgain({ steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string | null {
  const [again] = pickFeatures(adds, 'again', 'namesake');
  const last = steps.at(-1)?.request;
  if (again === undefined || last === undefined || nameRequest(last) === again.tool) return null;
  const calls =
    again.kind === 'again' ? `the same call of ${again.tool} twice` : `two calls of ${again.tool} with one name`;
  return `${nameRequest(last)} answers after ${calls}`;
}

/** The required parameters of each tool. */
export type RequiredNames = ReadonlyMap<string, readonly string[]>;

function describeState(
  { steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>,
  isChange: (request: ExploredRequest) => boolean,
): string | null {
  if (pickFeatures(adds, ...states).length === 0) return null;
  const seen = steps.flatMap((step, index) => {
    const writer = steps.slice(0, index).findLast(({ request }) => isChange(request));
    return writer !== undefined && !isChange(step.request) && hasOtherOutcome(steps, index)
      ? [{ reader: nameRequest(step.request), writer: nameRequest(writer.request) }]
      : [];
  });
  const isShown = (kind: 'state' | 'replaced', { reader, writer }: { reader: string; writer: string }) =>
    pickFeatures(adds, kind).some((feature) => feature.reader === reader && feature.writer === writer);
  // The last one is what the session is about: those before it prepare it.
  const found = seen.findLast((each) => isShown('state', each) || isShown('replaced', each)) ?? seen[0];
  if (found === undefined) return null;
  const { reader, writer } = found;
  if (pickFeatures(adds, 'joined').length > 0) {
    const writers = new Set(steps.flatMap(({ request }) => (isChange(request) ? [nameRequest(request)] : [])));
    return `${reader} sees what ${joinWords([...writers])} left`;
  }
  if (!isShown('state', found) && isShown('replaced', found)) return `${reader} sees what ${writer} replaced`;
  switch (readVerb(writer)) {
    case 'create':
      return `${reader} finds what ${writer} made`;
    case 'remove':
      return `${reader} no longer finds what ${writer} removed`;
    default:
      return `${reader} sees what ${writer} changed`;
  }
}

/** Checks if the same request has another outcome in the session. */
function hasOtherOutcome(steps: readonly ObservedStep[], index: number): boolean {
  const own = steps[index];
  return (
    own !== undefined &&
    steps.some(
      ({ request, observation }) =>
        isJsonEqual(request, own.request) && !isJsonEqual(observation.outcome, own.observation.outcome),
    )
  );
}

/** Checks if a request may change something: it is a writer by its name, and no call of a tool that was seen or is declared to change nothing. */
export function mayChange(request: ExploredRequest, harmless: ReadonlySet<string>): boolean {
  return isWriter(request) && !isHarmlessRequest(request, (tool) => harmless.has(tool));
}

/** Checks if a request may change something, by the name of its tool or by its statement. */
export function isWriter(request: ExploredRequest): boolean {
  return request.kind === 'tool' && (readVerb(request.tool) !== 'read' || writesByStatement(request.arguments));
}

function describeStep(
  step: ObservedStep,
  { steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>,
  required: RequiredNames,
): string {
  const { request, observation } = step;
  const subject = nameRequest(request);
  if (request.kind === 'resource') return isRefused(observation) ? `Refuses to read ${subject}` : `Reads ${subject}`;
  if (request.kind === 'prompt') {
    const given = Object.keys(request.arguments);
    const start = isRefused(observation) ? 'Refuses' : 'Gets';
    return `${start} the prompt ${subject}${given.length === 0 ? '' : ` with ${joinWords(given)}`}`;
  }
  if (request.kind === 'completion') {
    const start = request.value === '' ? '' : ` from ${printValue(request.value).trim()}`;
    return `${isRefused(observation) ? 'Refuses to complete' : 'Completes'} ${request.argument} of ${subject}${start}`;
  }
  if (pickFeatures(adds, 'again').some(({ tool }) => tool === subject)) return `${subject} answers the same call again`;
  const first = steps[0]?.request;
  const after = steps.length > 1 && first !== undefined ? ` after ${describePrepared(first, { steps, adds })}` : '';
  if (isRefused(observation)) return `${subject} refuses ${describeMistake(step, required.get(subject) ?? [])}${after}`;
  const added = describeAdded(adds, request.arguments);
  return `${subject} answers${added === '' ? '' : ` with ${added}`}${after}`;
}

/** Names the call before the last one that the session is about, with the arguments that it adds; the first one if it is about the last one. */
function describePrepared(first: ExploredRequest, { steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>): string {
  const added = new Set(pickFeatures(adds, 'parameter', 'value', 'trait').map(({ tool }) => tool));
  const shown = steps.findLast(({ request }) => request.kind === 'tool' && added.has(request.tool))?.request;
  if (shown?.kind !== 'tool' || shown === steps.at(-1)?.request) return nameRequest(first);
  return `${shown.tool} with ${describeAdded(adds, shown.arguments)}`;
}

/** Names the parameters that the session adds, or else all of them, with their values where these are short. */
function describeAdded(adds: readonly Feature[], args: Readonly<Record<string, unknown>>): string {
  const added = pickFeatures(adds, 'parameter', 'value', 'trait').map(({ name }) => name);
  const names = added.length === 0 ? Object.keys(args) : [...new Set(added)];
  const describe = (name: string) => {
    const found = pickFeatures(adds, 'trait').find((feature) => feature.name === name);
    const value = printValue(args[name]);
    // The value says how many lines it has.
    const isSaid = found === undefined || (found.trait === 'several lines' && value !== '');
    const words = isSaid ? null : describeTrait(found.trait).words;
    return `${name}${value}${words === null ? '' : ` ${words}`}`;
  };
  return joinWords(names.filter((name) => Object.hasOwn(args, name)).map(describe));
}

function printValue(value: unknown): string {
  if (typeof value === 'string' && value.trim().includes('\n')) return ` of ${value.trim().split('\n').length} lines`;
  const text = JSON.stringify(value) ?? '';
  const isShown = text.length <= longestValue && !text.includes(String.raw`\n`) && typeof value !== 'object';
  return isShown ? ` ${text.replaceAll('{{workspace}}/', '')}` : '';
}

/** Describes what is wrong with the arguments of a refused call. */
function describeMistake({ request, observation }: ObservedStep, required: readonly string[]): string {
  const args = request.kind === 'tool' ? request.arguments : {};
  const missing = required.filter((name) => !Object.hasOwn(args, name));
  if (missing.length > 0) return `a call without ${joinWords(missing)}`;
  const entries = Object.entries(args);
  if (entries.some(([, value]) => /\.\.\//.test(JSON.stringify(value)))) return 'a path outside the workspace';
  const message = readOutcomeText(observation.outcome);
  const missed = entries.find(([, value]) => /no-such|not-a-/.test(JSON.stringify(value)));
  const quoted = entries.filter(
    ([, value]) => typeof value === 'string' && value.length > 2 && message.includes(value),
  );
  const [only] = quoted;
  // The name of another parameter may be a word of the message.
  if (only !== undefined && quoted.length === 1 && missed === undefined) return `${only[0]}${printValue(only[1])}`;
  const isNamed = ([name]: [string, unknown]) =>
    new RegExp(String.raw`(?<!\w)${name.replaceAll(/\W/g, '.')}(?!\w)`).test(message);
  const named = entries.filter(isNamed);
  if (named.length > 1) return joinWords(named.map(([name, value]) => `${name}${printValue(value)}`));
  const found =
    missed ??
    named[0] ??
    entries.find(([, value]) => typeof value === 'string' && value.length > 1 && message.includes(value)) ??
    (entries.length === 1 ? entries[0] : undefined);
  if (found === undefined) {
    return entries.length === 0 ? 'a call' : joinWords(entries.map(([name, value]) => `${name}${printValue(value)}`));
  }
  const [name, value] = found;
  return `${name}${printValue(value)}`;
}
