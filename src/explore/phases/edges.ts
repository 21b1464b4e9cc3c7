import { isAnswered } from '../answers.ts';
import { isJsonEqual, type JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Knowledge } from '../knowledge.ts';
import { listBranches, readType } from '../schema/resolve.ts';
import { splitName } from '../vocabulary/names.ts';
import { readLimits } from '../vocabulary/vocabulary.ts';
import { callTool, type PhaseContext } from './phase.ts';
import { findPlace } from './variants.ts';

/** Names of numbers that count lines, and of those that count bytes. */
const namesOfLines = /\b(?:head|tail|line|limit|count|top)\b/;
const namesOfBytes = /\b(?:byte|size)\b/;

/** A number of a tool, and what a file has of what it counts. */
interface Edge {
  name: string;
  size: number;
}

/**
 * Asks a reader of files for exactly as many lines as a file has, or by its size in bytes, and for one less or one more: where the answers differ,
 * the two calls show on which side the exact number lies.
 */
export async function findEdges({ lab, knowledge, tools }: PhaseContext): Promise<void> {
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    if (call === undefined || !lab.isHarmless(tool.name) || lab.isDrawn(tool.name)) continue;
    for (const { name, size } of listEdges(tool, call.arguments, knowledge)) {
      for (const next of [size - 1, size + 1]) {
        const calls = [size, next].map((value) => callTool(tool, { ...call.arguments, [name]: value }));
        const start = call.setup.length === 0 ? 'used' : 'new';
        const run = await lab.run([...call.setup, ...calls], { phase: 'errors', start });
        if (run === null) return;
        const [exact, other] = run.steps.slice(-2);
        if (exact === undefined || !isAnswered(exact.observation)) break;
        if (!isJsonEqual(exact.observation.outcome, other?.observation.outcome)) break;
      }
    }
  }
}

/** Lists the numbers of a tool that count what is in a file: the one that the call names, or for bytes the first one in its directory. */
function listEdges(tool: ListedTool, args: JsonObject, { files, texts }: Pick<Knowledge, 'files' | 'texts'>): Edge[] {
  const place = findPlace(tool, args)?.path.replace(/^\{\{workspace\}\}\/?/, '');
  if (place === undefined) return [];
  const isInside = (file: string) => place === '' || place === '.' || file.startsWith(`${place}/`);
  const own = texts.get(place);
  const held = own ?? texts.get(files.find((file) => isInside(file) && texts.has(file)) ?? '');
  return tool.parameters.flatMap(({ name, schema }): Edge[] => {
    const types = new Set(listBranches(schema, tool.inputSchema).map(readType));
    if (!types.has('number') && !types.has('integer')) return [];
    const words = splitName(name).join(' ');
    const sizes = [
      ...(own !== undefined && namesOfLines.test(words) ? [own.trimEnd().split('\n').length] : []),
      ...(held !== undefined && namesOfBytes.test(words) ? [Buffer.byteLength(held)] : []),
    ];
    const { allows } = readLimits(schema, true);
    return sizes.filter((size) => size > 4 && allows(size) && allows(size + 1)).map((size) => ({ name, size }));
  });
}
