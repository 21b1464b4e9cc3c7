import { hash } from 'node:crypto';
import type { LanguageModelV4Content, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isRecord, tryParseJson } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import { dataKeywords, schemaMaps } from '../base/schema-keywords.ts';
import type { FunctionTool, ModelCall } from './language-model.ts';

/**
 * The names that all providers accept. OpenAI, Mistral and DeepSeek refuse names outside `^[a-zA-Z0-9_-]{1,64}$`, Anthropic allows 128 of
 * the same characters, and Gemini requires a letter or `_` first (their error messages, 2025 and 2026).
 */
const acceptedName = /^[A-Za-z_][\w-]{0,63}$/;
const longestName = 64;

/** OpenAI refuses all of these at the top of an input schema, and Anthropic refuses the first three. */
const refusedKeywords = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const;

/** The parameter that holds the arguments of a tool whose schema providers refuse. */
const wrapper = 'input';

/** A call of a model in the form that providers accept, with the function that reads its answer. */
export interface TranslatedCall {
  call: ModelCall;
  /** Restores the names of tools in an answer, and unwraps their arguments. */
  readContent: (content: readonly LanguageModelV4Content[]) => LanguageModelV4Content[];
  /** Sentences about the tools that a provider gets in another form. */
  changes: string[];
}

type OfferedTool = Pick<FunctionTool, 'name'> & Partial<Pick<FunctionTool, 'inputSchema'>>;

/**
 * Renames tools so that providers accept them, and wraps input schemas that they refuse, both in the offer and in the conversation. A
 * name depends on the names of the other tools, but not on their order.
 */
export function translateCall(call: ModelCall): TranslatedCall {
  const { tools, prompt, toolChoice } = call;
  const spelled = spellNames([tools.map(({ name }) => name), listNames(prompt)]);
  const spell = (name: string) => spelled.get(name) ?? name;
  const wrapped = new Set(tools.filter(({ inputSchema }) => findRefused(inputSchema) !== null).map(({ name }) => name));
  const original = new Map([...spelled].map(([name, spelling]) => [spelling, name]));
  return {
    call: {
      ...call,
      tools: tools.map((tool) => ({ ...tool, name: spell(tool.name), inputSchema: adaptSchema(tool.inputSchema) })),
      prompt: prompt.map((message) => translateMessage(message, { spell, wrapped })),
      ...(toolChoice?.type === 'tool' && { toolChoice: { ...toolChoice, toolName: spell(toolChoice.toolName) } }),
    },
    readContent: (content) =>
      content.map((part) => {
        if (part.type !== 'tool-call') return part;
        const toolName = original.get(part.toolName) ?? part.toolName;
        return { ...part, toolName, input: wrapped.has(toolName) ? unwrap(part.input) : part.input };
      }),
    changes: describeToolChanges(tools),
  };
}

/** The maximum number and length of the names in one message: a server decides how many there are, and how long they are. */
const maxListed = 5;
const longestListed = 100;

/** Describes the tools that providers get in another form, with the reason: one sentence for names and one for schemas. */
export function describeToolChanges(tools: readonly OfferedTool[]): string[] {
  const names = [...spellNames([tools.map(({ name }) => name)])]
    .filter(([name, spelling]) => name !== spelling)
    .map(([name, spelling]) => `${quote(name)} as ${quote(spelling)}`);
  const wrapped = tools.flatMap(({ name, inputSchema = {} }) => {
    const refused = findRefused(inputSchema);
    return refused === null ? [] : [`${quote(name)} (${refused})`];
  });
  return [
    ...(names.length === 0
      ? []
      : [`Models are offered tools under names that all providers take: ${listSome(names)}.`]),
    ...(wrapped.length === 0
      ? []
      : [
          `Models pass the arguments of tools in one parameter \`${wrapper}\`, because providers refuse the top of their input schemas: ${listSome(wrapped)}.`,
        ]),
  ];
}

function quote(name: string): string {
  return JSON.stringify(clipText(name, longestListed));
}

function listSome(items: readonly string[]): string {
  const rest = items.length - maxListed;
  return `${items.slice(0, maxListed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Finds an accepted spelling for each name. Names of an earlier group never change because of names of a later group. */
function spellNames(groups: ReadonlyArray<readonly string[]>): ReadonlyMap<string, string> {
  const spelled = new Map<string, string>();
  const used = new Set<string>();
  for (const group of groups) {
    // The names are sorted, so that the order of the tools does not matter.
    const names = [...new Set(group)].filter((name) => !spelled.has(name)).toSorted();
    for (const name of names.filter(isAccepted)) {
      spelled.set(name, name);
      used.add(name);
    }
    const others = Map.groupBy(
      names.filter((name) => !isAccepted(name)),
      replaceRefused,
    );
    for (const [readable, same] of others) {
      for (const name of same) {
        const isFree = same.length === 1 && readable.length <= longestName && !used.has(readable);
        const spelling = isFree ? readable : addHash(name, { readable, used });
        spelled.set(name, spelling);
        used.add(spelling);
      }
    }
  }
  return spelled;
}

function isAccepted(name: string): boolean {
  return acceptedName.test(name);
}

function replaceRefused(name: string): string {
  const replaced = name.replaceAll(/[^\w-]/g, '_');
  return /^[A-Za-z_]/.test(replaced) ? replaced : `_${replaced}`;
}

/** Adds a part of the hash. The part grows if a server has a tool with exactly the resulting name. */
function addHash(name: string, { readable, used }: { readable: string; used: ReadonlySet<string> }): string {
  const digest = hash('sha256', name);
  for (let length = 8; length < longestName - 1; length += 8) {
    const spelling = `${readable.slice(0, longestName - 1 - length)}_${digest.slice(0, length)}`;
    if (!used.has(spelling)) return spelling;
  }
  return `_${digest.slice(1)}`;
}

/** Lists the names of calls and results in a conversation, because providers check them as well. */
function listNames(prompt: LanguageModelV4Prompt): string[] {
  return prompt.flatMap((message) =>
    message.role === 'assistant' || message.role === 'tool'
      ? message.content.flatMap((part) => ('toolName' in part ? [part.toolName] : []))
      : [],
  );
}

interface Translation {
  spell: (name: string) => string;
  wrapped: ReadonlySet<string>;
}

function translateMessage(
  message: LanguageModelV4Prompt[number],
  { spell, wrapped }: Translation,
): LanguageModelV4Prompt[number] {
  if (message.role === 'tool') {
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, toolName: spell(part.toolName) } : part,
    );
    return { ...message, content };
  }
  if (message.role !== 'assistant') return message;
  const content = message.content.map((part) => {
    if (part.type === 'tool-result') return { ...part, toolName: spell(part.toolName) };
    if (part.type !== 'tool-call') return part;
    const input = wrapped.has(part.toolName) ? { [wrapper]: part.input } : part.input;
    return { ...part, toolName: spell(part.toolName), input };
  });
  return { ...message, content };
}

/** Unwraps the arguments. A model that ignored the wrapper wrote the arguments directly. */
function unwrap(input: string): string {
  const written = tryParseJson(input);
  const inner = isRecord(written) && Object.keys(written).length === 1 ? written[wrapper] : undefined;
  return isRecord(inner) ? JSON.stringify(inner) : input;
}

/** Finds the reason why providers refuse the top of a schema; null if they accept it. A schema without `type` means an object. */
function findRefused(schema: Readonly<Record<string, unknown>>): string | null {
  const { type = 'object' } = schema;
  if (type !== 'object') return 'no `type: object`';
  const keyword = refusedKeywords.find((each) => schema[each] !== undefined);
  return keyword === undefined ? null : `\`${keyword}\``;
}

function adaptSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (findRefused(schema) === null) return schema['type'] === undefined ? { ...schema, type: 'object' } : schema;
  const { $schema, $id, $defs, definitions, ...inner } = schema;
  return {
    ...($schema !== undefined && { $schema }),
    ...($id !== undefined && { $id }),
    type: 'object',
    properties: { [wrapper]: moveReferences(inner) },
    required: [wrapper],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moveReferences($defs, true) }),
    ...(definitions !== undefined && { definitions: moveReferences(definitions, true) }),
  };
}

/** Adapts the references within a schema to the positions of their targets in the wrapper. Definitions stay at the top. */
function moveReferences(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moveReferences(each));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (isMap) return [key, moveReferences(value)];
      if (key === '$ref' && typeof value === 'string') return [key, moveReference(value)];
      return [key, dataKeywords.has(key) ? value : moveReferences(value, schemaMaps.has(key))];
    }),
  );
}

function moveReference(reference: string): string {
  const isMoved = reference === '#' || (reference.startsWith('#/') && !/^#\/(?:\$defs|definitions)\//.test(reference));
  return isMoved ? `#/properties/${wrapper}${reference.slice(1)}` : reference;
}
