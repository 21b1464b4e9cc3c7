import type { JsonObject } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { isAnswered, listCompleted } from '../answers.ts';
import type { ListedPrompt, ListedTemplate, ListedTool } from '../inventory.ts';
import { readRefusal } from '../stability/texts.ts';
import { proposeChanges } from '../vocabulary/feedback.ts';
import type { PhaseContext } from './phase.ts';

type Completion = Extract<ExploredRequest, { kind: 'completion' }>;

/** The arguments of a prompt, or the variables of a template. `owner` is the name of what has them. */
interface Subject extends Pick<Completion, 'of' | 'name'> {
  owner: string;
  arguments: ReadonlyArray<{ name: string; description: string }>;
}

/** The most values with which one prompt or template is tried. */
const maxFillings = 3;

/** Gets a prompt with all its arguments, changed as a refusal suggests, and with those alone that it requires. */
export async function getPrompt({ name, arguments: listed }: ListedPrompt, context: PhaseContext): Promise<void> {
  const { lab, knowledge } = context;
  const listTexts = await completeArguments({ of: 'prompt', name, owner: name, arguments: listed }, context);
  const get = async (args: Record<string, string>) => {
    const run = await lab.run([{ kind: 'prompt', prompt: name, arguments: args }], { phase: 'examples' });
    if (run !== null) knowledge.learn(run);
    return run?.steps[0]?.observation;
  };
  const parameters = listed.map((argument) => ({ ...argument, schema: { type: 'string' } }));
  const tried = new Set<string>();
  let args = Object.fromEntries(listed.map((argument) => [argument.name, listTexts(argument.name)[0] ?? 'alpha']));
  for (let count = 0; count < maxFillings; count += 1) {
    tried.add(JSON.stringify(args));
    const observation = await get(args);
    if (observation === undefined || isAnswered(observation)) break;
    const listOthers = (parameter: { name: string }) => listTexts(parameter.name);
    const proposals = proposeChanges({ parameters }, args, { message: readRefusal(observation.outcome), listOthers });
    const next = proposals.map(pickTexts).find((proposal) => !tried.has(JSON.stringify(proposal)));
    if (next === undefined) break;
    args = next;
  }
  const required = listed.filter((argument) => argument.isRequired && args[argument.name] !== undefined);
  if (required.length === Object.keys(args).length) return;
  await get(Object.fromEntries(required.map((argument) => [argument.name, args[argument.name] ?? ''])));
}

const pickTexts = (args: JsonObject) =>
  Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );

/** An expression that stands for one value, with an operator before it or a modifier after it. */
const expression = /\{([+#./;?&]?)(\w+)(?::\d+|\*)?\}/g;

/** Reads a resource of a template, the next values if the server knows none with the first ones. */
export async function readTemplate(
  { uri, name: owner, description }: ListedTemplate,
  context: PhaseContext,
): Promise<void> {
  const variables = [...uri.matchAll(expression)].map(([, , name = '']) => ({ name, description }));
  const subject = { of: 'resourceTemplate', name: uri, owner, arguments: variables } as const;
  const listTexts = await completeArguments(subject, context);
  const tried = new Set<string>();
  for (let round = 0; round < maxFillings; round += 1) {
    const filled = uri.replaceAll(expression, (_, operator: string, variable: string) => {
      const texts = listTexts(variable);
      const text = texts[Math.min(round, texts.length - 1)] ?? 'alpha';
      if (operator === '?' || operator === '&') return `${operator}${variable}=${encodeURIComponent(text)}`;
      return operator === '+' ? text : `${operator}${encodeURIComponent(text)}`;
    });
    // A list of variables in one expression stays as it is.
    if (filled.includes('{') || tried.has(filled)) return;
    tried.add(filled);
    const run = await context.lab.run([{ kind: 'resource', uri: filled }], { phase: 'examples' });
    const [step] = run?.steps ?? [];
    if (step === undefined || isAnswered(step.observation)) return;
  }
}

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
