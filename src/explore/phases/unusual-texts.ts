import { isRecord, type JsonObject, tryParseJson } from '../../base/json.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import type { ListedTool } from '../inventory.ts';
import { isFixed, isOpenList, isOpenText, type Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { splitName } from '../vocabulary/names.ts';
import { optionText, specialText } from '../vocabulary/typical-values.ts';
import { findPathRole } from '../vocabulary/vocabulary.ts';
import { listReads } from './list-reads.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** Names of texts that a person writes freely, and in which any character may be. */
const namesOfFreeTexts = /\b(?:contents?|text|body|description|notes?|message|observations?|comment|summary|title)$/;

/** Names of texts that must be in what a call changes. */
const namesOfHeldTexts = /\bold\b/;

/**
 * Calls each tool that works with special characters in its texts, without text, and with an option of a command, as far as requests are left.
 * A reader follows a call that may change something: it shows how the server keeps the text.
 */
export async function sendUnusualTexts(context: PhaseContext): Promise<void> {
  const { lab, knowledge, tools } = context;
  const queues = tools.flatMap((tool) => {
    const call = knowledge.working.get(tool.name);
    return call === undefined ? [] : [{ tool, call, texts: listUnusual(tool, call.arguments) }];
  });
  for (let round = 0; queues.some(({ texts }) => round < texts.length); round += 1) {
    for (const { tool, call, texts } of queues) {
      const added = texts[round];
      if (added === undefined) continue;
      // Something made of an empty text has nothing that a reader could show.
      const isRead = !lab.isHarmless(tool.name) && !isEmpty(added);
      const [read] = isRead ? ((await listReads(tool, call, context)) ?? []) : [];
      const session = [...call.setup, callTool(tool, { ...call.arguments, ...added })];
      const start = call.setup.length === 0 && read === undefined ? 'used' : 'new';
      await lab.run(read === undefined ? session : [...session, read], { phase: 'coverage', start });
    }
  }
}

const isEmpty = (added: JsonObject) => Object.values(added).includes('');

/** Makes arguments with special characters where a person writes freely, options elsewhere, and empty ones where the schema allows them. */
export function listUnusual(tool: ListedTool, working: JsonObject): JsonObject[] {
  const writers: ReadonlyArray<(parameter: Parameter) => unknown> = [
    (parameter) => writeSpecial(parameter, tool, working[parameter.name]),
    (parameter) => writeOption(parameter, tool),
    (parameter) => empty(parameter, tool),
  ];
  return writers.flatMap((write) =>
    tool.parameters.flatMap((parameter) => {
      const value = write(parameter);
      return value === undefined ? [] : [{ [parameter.name]: value }];
    }),
  );
}

/** Replaces the texts in an argument that a person writes freely, and those of a document in JSON; undefined if it has none. */
function writeSpecial({ name, schema }: Parameter, tool: ListedTool, sent: unknown): unknown {
  if (isFixed(schema) || findPathRole({ name, tool }) !== null) return undefined;
  const document = typeof sent === 'string' ? tryParseJson(sent) : undefined;
  if (isRecord(document)) return JSON.stringify(mapTexts(document, () => specialText));
  const isFree = (words: readonly string[]) => {
    const text = words.join(' ');
    return namesOfFreeTexts.test(text) && !namesOfHeldTexts.test(text);
  };
  let isReplaced = false;
  const replace = (value: unknown, words: readonly string[]): unknown => {
    if (typeof value === 'string' && isFree(words)) {
      isReplaced = true;
      return specialText;
    }
    if (Array.isArray(value)) return value.map((item) => replace(item, words));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, replace(member, [...words, ...splitName(key)])]),
    );
  };
  // An optional text that the call does not have yet.
  const value = sent ?? (readType(schema) === 'string' ? '' : undefined);
  const replaced = replace(value, splitName(name));
  return isReplaced ? replaced : undefined;
}

/** Empties a text that may be empty. */
function empty(parameter: Parameter, tool: ListedTool): string | undefined {
  const { name, schema } = parameter;
  const { minLength = 0 } = schema;
  if (!isOpenText(parameter, tool.inputSchema) || findPathRole({ name, tool }) !== null) return undefined;
  return minLength === 0 ? '' : undefined;
}

/** Writes an option where a program may pass a text on to another one: a careful server refuses it. */
function writeOption(parameter: Parameter, tool: ListedTool): string | string[] | undefined {
  const { name } = parameter;
  if (namesOfFreeTexts.test(splitName(name).join(' '))) return undefined;
  if (isOpenList(parameter, tool.inputSchema)) return [optionText];
  return isOpenText(parameter, tool.inputSchema) && findPathRole({ name, tool }) === null ? optionText : undefined;
}
