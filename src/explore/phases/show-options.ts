import { isAnswered } from '../answers.ts';
import type { JsonObject } from '../../base/json.ts';
import type { SessionRun } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import { isSameOutcome } from '../lab.ts';
import { isOpenText } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { enrichText } from '../vocabulary/typical-values.ts';
import { findPathRole } from '../vocabulary/vocabulary.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** The most values of one option that are shown. */
const maxValues = 4;

/**
 * Calls tools that change nothing with each option that made no difference so far, and without it, with texts that have more in them: capitals,
 * several lines, members that are out of order. A word of small letters does not show what ignoring the case does.
 */
export async function showOptions(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  for (const tool of tools) {
    const call = knowledge.working.get(tool.name);
    if (call === undefined || !lab.isHarmless(tool.name) || lab.isDrawn(tool.name)) continue;
    if (lab.explainStop(tool.name) !== null) continue;
    const rich = enrich(tool, call.arguments);
    if (rich === null) continue;
    const send = async (...all: JsonObject[]): Promise<SessionRun | null> => {
      const session: ExploredRequest[] = [...call.setup, ...all.map((args) => callTool(tool, args))];
      return await lab.run(session, { phase: 'coverage', start: call.setup.length === 0 ? 'used' : 'new' });
    };
    for (const option of listOptions(tool, call.arguments)) {
      const [plain, own] = [await send(call.arguments), await send({ ...call.arguments, ...option })];
      if (plain === null || own === null) return;
      const last = own.steps.at(-1);
      // What is shown already needs no other text, and what is refused may not go with the rest.
      if (last === undefined || !isAnswered(last.observation) || !isSameOutcome(plain.steps.at(-1), last)) continue;
      if ((await send(rich, { ...rich, ...option })) === null) return;
    }
  }
}

/** Lists the switches and the values of enums that a call does not have, and that are no defaults. */
function listOptions({ parameters }: ListedTool, working: JsonObject): JsonObject[] {
  return parameters.flatMap(({ name, schema, isRequired }): JsonObject[] => {
    if (isRequired || Object.hasOwn(working, name)) return [];
    const all: readonly unknown[] = Array.isArray(schema['enum'])
      ? schema['enum'].slice(0, maxValues)
      : readType(schema) === 'boolean'
        ? [true, false]
        : [];
    const fallback = Object.hasOwn(schema, 'default') ? schema['default'] : false;
    return all.filter((value) => value !== fallback && value !== null).map((value) => ({ [name]: value }));
  });
}

/** Gives each text that may be any a richer one; null if there is none. */
function enrich(tool: ListedTool, working: JsonObject): JsonObject | null {
  const texts = tool.parameters.flatMap((parameter): Array<[string, string]> => {
    const { name } = parameter;
    const sent = working[name];
    if (typeof sent !== 'string' || !isOpenText(parameter, tool.inputSchema)) return [];
    const rich = findPathRole({ name, tool }) === null ? enrichText(name, sent) : null;
    return rich === null ? [] : [[name, rich]];
  });
  return texts.length === 0 ? null : { ...working, ...Object.fromEntries(texts) };
}
