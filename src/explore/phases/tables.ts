import { isAnswered } from '../answers.ts';
import { type ExploredRequest, readArguments } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import { findStatement, sampleTable } from '../vocabulary/statements.ts';
import { listReads } from './list-reads.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** The most pairs of tools that are tried to make a table. */
const maxTableSetups = 6;

/** A tool that takes statements. */
interface Taker {
  tool: ListedTool;
  send: (statement: string) => ExploredRequest;
}

/** Lists calls that make a table with a row, by each pair of tools that take statements. */
export function listTableSetups(context: PhaseContext): ExploredRequest[][] {
  return listPairs(listTakers(context)).map(([make, fill]) => [
    make.send(sampleTable.create),
    fill.send(sampleTable.fill),
  ]);
}

function listTakers({ lab, knowledge, tools }: PhaseContext): Taker[] {
  return tools.flatMap((tool) => {
    const call = knowledge.working.get(tool.name);
    const parameter = call === undefined ? null : findStatement(call.arguments);
    if (call === undefined || parameter === null || lab.explainStop(tool.name) !== null) return [];
    return [{ tool, send: (statement: string) => callTool(tool, { ...call.arguments, [parameter]: statement }) }];
  });
}

const listPairs = (takers: readonly Taker[]) =>
  takers.flatMap((make) => [make, ...takers.filter((other) => other !== make)].map((fill) => [make, fill] as const));

/**
 * Runs the statements that make a table between requests of readers, and reads what they made. Then rows are added, changed and removed, and
 * statements sent that a database refuses.
 */
export async function followStatements(context: PhaseContext): Promise<void> {
  const { lab } = context;
  const takers = listTakers(context);
  for (const [make, fill] of listPairs(takers).slice(0, maxTableSetups)) {
    const create = make.send(sampleTable.create);
    const setup = [create, fill.send(sampleTable.fill)];
    const made = await lab.run(setup, { phase: 'chains', start: 'new' });
    if (made === null) return;
    if (!made.steps.every(({ observation }) => isAnswered(observation))) continue;
    const reads = await listReads(make.tool, { arguments: readArguments(create), setup: [] }, context);
    if (reads === null) return;
    await lab.run([...reads, ...setup, ...reads], { phase: 'chains', start: 'new' });
    const read = await findReader(takers, setup, context);
    if (read !== undefined) await changeRows(setup, { fill, read }, context);
    return;
  }
}

/** Finds the tool that reads the rows by a statement. */
async function findReader(
  takers: readonly Taker[],
  setup: readonly ExploredRequest[],
  { lab }: PhaseContext,
): Promise<Taker | undefined> {
  for (const taker of takers) {
    const run = await lab.run([...setup, taker.send(sampleTable.read)], { phase: 'chains', start: 'new' });
    const last = run?.steps.at(-1);
    if (last !== undefined && isAnswered(last.observation)) return taker;
  }
  return undefined;
}

async function changeRows(
  setup: readonly ExploredRequest[],
  { fill, read }: { fill: Taker; read: Taker },
  { lab }: PhaseContext,
): Promise<void> {
  const { more, changes, empty, wrong, wrongColumn } = sampleTable;
  const run = async (...session: ExploredRequest[]) => await lab.run(session, { phase: 'chains', start: 'new' });
  const filled = await run(...setup, fill.send(more), read.send(sampleTable.read));
  const isFilled = filled?.steps.every(({ observation }) => isAnswered(observation)) === true;
  const rows = isFilled ? [...setup, fill.send(more)] : setup;
  for (const change of changes) await run(...rows, fill.send(change), read.send(sampleTable.read));
  await run(...setup, read.send(empty));
  // The row is there already.
  await run(...setup, fill.send(sampleTable.fill));
  await run(...setup, read.send(wrongColumn));
  for (const statement of wrong) await lab.run([read.send(statement)], { phase: 'chains' });
}
