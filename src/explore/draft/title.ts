import { clipText } from '../../base/text.ts';
import { type ExploredSession, isRefused, nameRequest, type ObservedStep } from '../exploration.ts';
import { readOutcomeText } from '../stability/texts.ts';
import { readVerb } from '../vocabulary/names.ts';

const longestTitle = 100;
const longestValue = 30;

/** Writes a title that says what the session shows: "read_graph finds what create_entities made". */
export function writeTitle(session: Pick<ExploredSession, 'steps' | 'adds'>, required: RequiredNames): string {
  const last = session.steps.at(-1);
  if (last === undefined) return 'Nothing';
  return clipText(describeState(session) ?? describeStep(last, session, required), longestTitle);
}

/** The required parameters of each tool. */
export type RequiredNames = ReadonlyMap<string, readonly string[]>;

function describeState({ adds }: Pick<ExploredSession, 'adds'>): string | null {
  const [, reader, writer] =
    adds.map((feature) => /^state (\S+) after (\S+)$/.exec(feature)).find((match) => match !== null) ?? [];
  if (reader === undefined || writer === undefined) return null;
  switch (readVerb(writer)) {
    case 'create':
      return `${reader} finds what ${writer} made`;
    case 'remove':
      return `${reader} no longer finds what ${writer} removed`;
    default:
      return `${reader} sees what ${writer} changed`;
  }
}

function describeStep(
  step: ObservedStep,
  { steps, adds }: Pick<ExploredSession, 'steps' | 'adds'>,
  required: RequiredNames,
): string {
  const { request, observation } = step;
  const subject = nameRequest(request);
  if (request.kind === 'resource') return isRefused(observation) ? `Refuses to read ${subject}` : `Reads ${subject}`;
  if (request.kind === 'prompt')
    return isRefused(observation) ? `Refuses the prompt ${subject}` : `Gets the prompt ${subject}`;
  const first = steps[0]?.request;
  const after = steps.length > 1 && first !== undefined ? ` after ${nameRequest(first)}` : '';
  if (isRefused(observation)) return `${subject} refuses ${describeMistake(step, required.get(subject) ?? [])}${after}`;
  const added = describeAdded(adds, request.arguments);
  return `${subject} answers${added === '' ? '' : ` with ${added}`}${after}`;
}

/** Names the parameters that the session adds, with their values where these are short. */
function describeAdded(adds: readonly string[], args: Readonly<Record<string, unknown>>): string {
  const names = adds.flatMap((feature) => /^(?:parameter|value) \S+ (\S+)/.exec(feature)?.[1] ?? []);
  return [...new Set(names)]
    .filter((name) => Object.hasOwn(args, name))
    .map((name) => `${name}${printValue(args[name])}`)
    .join(' and ');
}

function printValue(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > longestValue || text.includes(String.raw`\n`) || typeof value === 'object' ? '' : ` ${text}`;
}

/** Describes what is wrong with the arguments of a refused call. */
function describeMistake({ request, isValid, observation }: ObservedStep, required: readonly string[]): string {
  const args = request.kind === 'tool' ? request.arguments : {};
  const missing = required.filter((name) => !Object.hasOwn(args, name));
  if (missing.length > 0) return `a call without ${missing.join(' and ')}`;
  const entries = Object.entries(args);
  const message = readOutcomeText(observation.outcome);
  const found =
    entries.find(([, value]) => /no-such|not-a-|outside/.test(JSON.stringify(value))) ??
    entries.find(([name]) => new RegExp(String.raw`(?<!\w)${name.replaceAll(/\W/g, '.')}(?!\w)`).test(message)) ??
    entries.find(([, value]) => typeof value === 'string' && value.length > 1 && message.includes(value)) ??
    (entries.length === 1 ? entries[0] : undefined);
  if (found === undefined) return entries.length === 0 ? 'a call' : 'these arguments';
  const [name, value] = found;
  return isValid === false
    ? `${name}${printValue(value)}, which its schema does not allow`
    : `${name}${printValue(value)}`;
}
