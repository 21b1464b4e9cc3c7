import { isAnswered, isRefused } from '../answers.ts';
import type { ListedTool } from '../inventory.ts';
import { isOpenText, namesId, type Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { readRefusal } from '../stability/texts.ts';
import { namesTime, writeLength } from '../vocabulary/typical-values.ts';
import { findPathRole, readLimits } from '../vocabulary/vocabulary.ts';
import { explainRefusalByWorld } from '../world/refused-by-world.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** Beyond what a person would ask for. A server that makes so many things can still answer soon. */
const farNumber = 100_000;

/** Longer than a name or a title. */
const farLength = 2000;

/** The most limits that one refusal is searched for. */
const maxLimits = 4;

/** A way to cross a limit that the schema does not declare: `write` writes a number, or a text of that length. */
interface Probe {
  parameter: string;
  /** 1 if it crosses an upper limit. */
  step: 1 | -1;
  far: number;
  write: (size: number) => unknown;
}

/**
 * Sends values that are far too large or too small, where the schema allows them. Where a refusal names a limit, a call with that value and one
 * just beyond it show on which side the value lies.
 */
export async function findLimits({ lab, knowledge, tools }: PhaseContext): Promise<void> {
  const queues = tools.flatMap((tool) => {
    const call = knowledge.working.get(tool.name);
    return call === undefined || lab.isDrawn(tool.name) ? [] : [{ tool, call, probes: listProbes(tool) }];
  });
  for (let round = 0; queues.some(({ probes }) => round < probes.length); round += 1) {
    for (const { tool, call, probes } of queues) {
      const probe = probes[round];
      if (probe === undefined) continue;
      const send = async (...sizes: number[]) => {
        const calls = sizes.map((size) => callTool(tool, { ...call.arguments, [probe.parameter]: probe.write(size) }));
        const start = call.setup.length === 0 ? 'used' : 'new';
        const run = await lab.run([...call.setup, ...calls], { phase: 'errors', start });
        return run?.steps.slice(call.setup.length).map(({ observation }) => observation) ?? [];
      };
      const [refused] = await send(probe.far);
      if (refused === undefined || !isRefused(refused) || explainRefusalByWorld(refused) !== null) continue;
      for (const limit of listNamedLimits(readRefusal(refused.outcome), probe)) {
        const [within, beyond] = await send(limit, limit + probe.step);
        if (within !== undefined && beyond !== undefined && isAnswered(within) && isRefused(beyond)) break;
      }
    }
  }
}

/** Lists the probes of a tool: numbers and texts that a person writes, on each side that the schema leaves open. */
function listProbes(tool: ListedTool): Probe[] {
  return tool.parameters.flatMap((parameter): Probe[] => {
    const { name, schema } = parameter;
    const type = readType(schema);
    if (type === 'number' || type === 'integer') return listNumbers(parameter, type === 'integer');
    const isText = isOpenText(parameter, tool.inputSchema) && findPathRole({ name, tool }) === null;
    if (!isText || typeof schema['maxLength'] === 'number' || typeof schema['format'] === 'string') return [];
    return [{ parameter: name, step: 1, far: farLength, write: writeLength }];
  });
}

function listNumbers({ name, schema }: Parameter, isInteger: boolean): Probe[] {
  // A server may wait as long as it is asked to, and knows only ids that it has given.
  if (namesTime(name) || namesId(name) || Array.isArray(schema['enum'])) return [];
  const { allows } = readLimits(schema, isInteger);
  const write = (size: number) => size;
  const sides = [
    { far: farNumber, step: 1 },
    { far: -1, step: -1 },
  ] as const;
  return sides.filter(({ far }) => allows(far)).map((side) => ({ parameter: name, write, ...side }));
}

/** Lists what a refusal names that may be the limit, the outermost first; a lower one is often in words, such as "positive". */
function listNamedLimits(message: string, { far, step }: Probe): number[] {
  const named = [...message.matchAll(/(?<![\w.-])\d{1,3}(?:[,_]\d{3})+(?![\w.])|(?<![\w.-])\d+(?![\w])/g)].map(
    ([text]) => Number(text.replaceAll(/[,_]/g, '')),
  );
  const inside = named.filter((number) => (step === 1 ? number > 0 && number < far : number > far));
  const outermost = step === 1 ? inside.toSorted((a, b) => b - a) : [...inside.toSorted((a, b) => a - b), 1, 0];
  // A server may name the first value that it refuses: "less than 100".
  return [...new Set(outermost.flatMap((number) => [number, number - step]))].slice(0, maxLimits);
}
