import type { JsonObject } from '../../base/json.ts';
import type { Observation } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { isAnswered, listCompleted } from '../answers.ts';
import type { ListedPrompt, ListedTemplate, ListedTool } from '../inventory.ts';
import { readRefusal } from '../stability/texts.ts';
import { proposeChanges } from '../vocabulary/feedback.ts';
import type { PhaseContext } from './phase.ts';

type Texts = Readonly<Record<string, string>>;
type Completion = Extract<ExploredRequest, { kind: 'completion' }>;

/** The arguments of a prompt, or the variables of a template. `owner` is the name of what has them. */
interface Subject extends Pick<Completion, 'of' | 'name'> {
  owner: string;
  arguments: ReadonlyArray<{ name: string; description: string }>;
}

/** The most values with which one prompt or template is tried. */
const maxFillings = 3;

/** Gets a prompt with all its arguments, and with those alone that it requires. */
export async function getPrompt({ name, arguments: listed }: ListedPrompt, context: PhaseContext): Promise<void> {
  const { lab, knowledge } = context;
  const get = async (args: Texts) => {
    const run = await lab.run([{ kind: 'prompt', prompt: name, arguments: args }], { phase: 'examples' });
    if (run !== null) knowledge.learn(run);
    return run?.steps[0]?.observation;
  };
  const args = await fillArguments({ of: 'prompt', name, owner: name, arguments: listed }, get, context);
  const required = listed.filter((argument) => argument.isRequired && args[argument.name] !== undefined);
  if (required.length === Object.keys(args).length) return;
  await get(Object.fromEntries(required.map((argument) => [argument.name, args[argument.name] ?? ''])));
}

/** An expression that stands for one value, with an operator before it or a modifier after it. */
const expression = /\{([+#./;?&]?)(\w+)(?::\d+|\*)?\}/g;

/** Reads a resource of a template. */
export async function readTemplate(
  { uri, name: owner, description }: ListedTemplate,
  context: PhaseContext,
): Promise<void> {
  const variables = [...uri.matchAll(expression)].map(([, , name = '']) => ({ name, description }));
  const read = async (args: Texts) => {
    const filled = uri.replaceAll(expression, (_, operator: string, variable: string) => {
      const text = args[variable] ?? '';
      if (operator === '?' || operator === '&') return `${operator}${variable}=${encodeURIComponent(text)}`;
      return operator === '+' ? text : `${operator}${encodeURIComponent(text)}`;
    });
    // A list of variables in one expression stays as it is.
    if (filled.includes('{')) return undefined;
    const run = await context.lab.run([{ kind: 'resource', uri: filled }], { phase: 'examples' });
    return run?.steps[0]?.observation;
  };
  await fillArguments({ of: 'resourceTemplate', name: uri, owner, arguments: variables }, read, context);
}

/**
 * Sends a request with a text for each argument: the completed ones, or those that the explorer knows. A refused request is sent again
 * with what the refusal suggests, or with the next texts. Returns the arguments of the last request.
 */
async function fillArguments(
  subject: Subject,
  send: (args: Texts) => Promise<Pick<Observation, 'outcome'> | undefined>,
  context: PhaseContext,
): Promise<Texts> {
  const { arguments: listed } = subject;
  const listTexts = await completeArguments(subject, context);
  const parameters = listed.map((argument) => ({ isRequired: true, ...argument, schema: { type: 'string' } }));
  let args: Texts = Object.fromEntries(listed.map(({ name }) => [name, listTexts(name)[0] ?? 'alpha']));
  const tried = new Set<string>();
  for (let round = 1; ; round += 1) {
    tried.add(JSON.stringify(args));
    const observation = await send(args);
    if (observation === undefined || isAnswered(observation) || round === maxFillings) return args;
    const listOthers = ({ name }: { name: string }) => listTexts(name);
    const message = readRefusal(observation.outcome);
    const proposals = proposeChanges({ parameters }, args, { message, listOthers }).map(pickTexts);
    const next = proposals.find((proposal) => !tried.has(JSON.stringify(proposal)));
    if (next === undefined) return args;
    args = next;
  }
}

const pickTexts = (args: JsonObject): Texts =>
  Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );

/**
 * Completes the arguments of a prompt or a template: each from nothing, and from the start of one of its values, with the first values of the
 * arguments before it. Returns what lists the texts for an argument: the first completed one, or those that the explorer knows.
 */
async function completeArguments(
  { of, name, owner, arguments: listed }: Subject,
  { lab, knowledge }: Pick<PhaseContext, 'lab' | 'knowledge'>,
): Promise<(argument: string) => readonly string[]> {
  const chosen = new Map<string, string>();
  for (const { name: argument } of lab.inventory.completes ? listed : []) {
    const others = Object.fromEntries(chosen);
    const complete = async (value: string) => {
      const request: Completion = { kind: 'completion', of, name, argument, value, arguments: others };
      const run = await lab.run([request], { phase: 'examples' });
      const [step] = run?.steps ?? [];
      return step === undefined ? [] : listCompleted(step.observation.outcome);
    };
    const values = await complete('');
    const [first] = values;
    if (first === undefined) continue;
    chosen.set(argument, first);
    await complete(findStart(values));
  }
  return (argument) => {
    const completed = chosen.get(argument);
    if (completed !== undefined) return [completed];
    const description = listed.find((each) => each.name === argument)?.description ?? '';
    const parameter = { name: argument, isRequired: true, description, schema: { type: 'string' } };
    const values = knowledge.listValues({ ...noTool, name: owner }, parameter);
    // A URI is no part of another one.
    const isText = (value: unknown): value is string =>
      typeof value === 'string' && (of === 'prompt' || !/\{\{|:\/\//.test(value));
    return values.filter(isText);
  };
}

/** Finds the shortest start of the last value that another one does not have; its first letter if all have each. */
function findStart(values: readonly string[]): string {
  const letters = Array.from(values.at(-1) ?? '');
  const starts = letters.map((_, index) => letters.slice(0, index + 1).join(''));
  return starts.find((start) => values.some((value) => !value.startsWith(start))) ?? starts[0] ?? '';
}

const noTool: ListedTool = {
  name: '',
  description: '',
  inputSchema: {},
  outputSchema: null,
  hints: {},
  isReadOnly: false,
  needsTask: false,
  parameters: [],
};
