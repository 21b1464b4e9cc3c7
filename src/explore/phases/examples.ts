import { isAnswered } from '../answers.ts';
import { hasNoEffects } from '../exploration.ts';
import type { ListedTool } from '../inventory.ts';
import { isSameOutcome } from '../lab.ts';
import { readVerb } from '../vocabulary/names.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';
import { settleRun } from './settle-run.ts';
import { tryCall } from './try-call.ts';

/** Tools that read come first, because their results are values for the others. */
const order = { read: 0, unknown: 1, create: 2, update: 3, remove: 4 };

/** Calls each tool with its required arguments, reads resources and gets prompts. */
export async function tryExamples(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  for (const uri of lab.inventory.resources) {
    await lab.run([{ kind: 'resource', uri }], { phase: 'examples' });
  }
  for (const prompt of lab.inventory.prompts) {
    const args = Object.fromEntries(
      prompt.arguments.map(({ name, description }) => [name, sampleText(name, description)]),
    );
    await lab.run([{ kind: 'prompt', prompt: prompt.name, arguments: args }], { phase: 'examples' });
    function sampleText(name: string, description: string): string {
      const tool: ListedTool = { ...noTool, name: prompt.name };
      const [value] = knowledge.listValues(tool, { name, isRequired: true, description, schema: { type: 'string' } });
      return typeof value === 'string' ? value : 'alpha';
    }
  }
  for (const tool of sortTools(tools)) {
    const tried = await tryCall(tool, buildArguments(tool, knowledge), context, { phase: 'examples' });
    if (tried === null) continue;
    const settled = await settleRun(tried.run, lab);
    if (settled === null) continue;
    const setup = settled.steps.slice(0, -1).map(({ request }) => request);
    knowledge.noteWorking(tool.name, { arguments: tried.arguments, setup });
    await probeHarmless(tool, context);
  }
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

/** Sorts tools: those that read first, and those that remove last. */
export function sortTools(tools: readonly ListedTool[]): ListedTool[] {
  const rank = (tool: ListedTool) => (tool.isReadOnly ? -1 : order[readVerb(tool.name)]);
  return tools.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Finds out if calls of a tool change anything, where neither its annotations nor its name says so: called twice, it gives the same answer,
 * changes no file, and readers see the same.
 */
export async function probeHarmless(tool: ListedTool, { lab, knowledge, tools }: PhaseContext): Promise<void> {
  const call = knowledge.working.get(tool.name);
  const verb = readVerb(tool.name);
  if (call === undefined || lab.isHarmless(tool.name) || (verb !== 'read' && verb !== 'unknown')) return;
  const readers = tools.filter(({ isReadOnly }) => isReadOnly).slice(0, 2);
  const reads = readers.flatMap((reader) => {
    const working = knowledge.working.get(reader.name);
    return working === undefined || working.setup.length > 0 ? [] : [callTool(reader, working.arguments)];
  });
  const own = callTool(tool, call.arguments);
  const session = [...call.setup, ...reads, own, own, ...reads];
  const run = await lab.run(session, { phase: 'examples', start: 'new' });
  if (run === null || run.steps.length < session.length) return;
  const steps = run.steps.slice(call.setup.length);
  const first = steps[reads.length];
  const second = steps[reads.length + 1];
  const isSame =
    isSameOutcome(first, second) &&
    reads.every((_, index) => isSameOutcome(steps[index], steps[index + reads.length + 2]));
  const isQuiet = steps.every(({ observation }) => hasNoEffects(observation.files) && isAnswered(observation));
  if (isSame && isQuiet) lab.markHarmless(tool.name);
}
