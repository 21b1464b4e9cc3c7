import { hash } from 'node:crypto';
import type { LanguageModelV4Content, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isRecord, tryParseJson } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import type { ModelCall } from './language-model.ts';

/**
 * The names that all providers take. OpenAI, Mistral and DeepSeek refuse others than `^[a-zA-Z0-9_-]{1,64}$`, Anthropic allows 128 of the
 * same characters, and Gemini wants a letter or `_` first (their error messages, 2025 and 2026).
 */
const acceptedName = /^[A-Za-z_][\w-]{0,63}$/;
const longestName = 64;

/** At the top of an input schema, OpenAI refuses each of them, and Anthropic the first three. */
const refusedKeywords = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const;

/** The parameter that holds the arguments of a tool whose schema providers refuse. */
const wrapper = 'input';

/** A call of a model in the form that providers take, and how its answer is read. */
export interface TranslatedCall {
  call: ModelCall;
  /** Gives tools the names that they have here, and takes their arguments out of the wrapper. */
  readContent: (content: readonly LanguageModelV4Content[]) => LanguageModelV4Content[];
  /** What a provider is shown in another form, in sentences. */
  changes: string[];
}

type OfferedTool = Pick<LanguageModelV4FunctionTool, 'name'> & { inputSchema?: Readonly<Record<string, unknown>> };

/**
 * Names tools as providers take them, and wraps input schemas that they refuse, in the offer and in the conversation. A name depends on
 * the names of the other tools, but not on their order.
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

/** In one message, and of one name in it; a server decides how many there are, and how long they are. */
const maxListed = 5;
const longestListed = 100;

/** Says which of these tools providers are shown in another form, and why, in a sentence for names and one for schemas. */
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

/** The spelling of each name; names of an earlier group never change for those of a later one. */
function spellNames(groups: ReadonlyArray<readonly string[]>): ReadonlyMap<string, string> {
  const spelled = new Map<string, string>();
  const used = new Set<string>();
  for (const group of groups) {
    // In their own order, so that it does not matter in which order the tools are.
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

/** A server can have a tool of the very name that the hash leads to. */
function addHash(name: string, { readable, used }: { readable: string; used: ReadonlySet<string> }): string {
  const digest = hash('sha256', name);
  for (let length = 8; length < longestName - 1; length += 8) {
    const spelling = `${readable.slice(0, longestName - 1 - length)}_${digest.slice(0, length)}`;
    if (!used.has(spelling)) return spelling;
  }
  return `_${digest.slice(1)}`;
}

/** The names of calls and results in a conversation, which a provider checks as well. */
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

/** A model that did not use the wrapper wrote the arguments themselves. */
function unwrap(input: string): string {
  const written = tryParseJson(input);
  const inner = isRecord(written) && Object.keys(written).length === 1 ? written[wrapper] : undefined;
  return isRecord(inner) ? JSON.stringify(inner) : input;
}

/** What providers refuse at the top of a schema; null where they take it. Arguments are an object, also where nothing says so. */
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

/** Keywords whose members are schemas by name, and those whose values are no schemas. */
const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Leads the references within a schema to where their targets are once it is wrapped; definitions stay at the top. */
function moveReferences(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moveReferences(each));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (isMap) return [key, moveReferences(value)];
      if (key === '$ref' && typeof value === 'string') return [key, moveReference(value)];
      return [key, data.has(key) ? value : moveReferences(value, schemaMaps.has(key))];
    }),
  );
}

function moveReference(reference: string): string {
  const isMoved = reference === '#' || (reference.startsWith('#/') && !/^#\/(?:\$defs|definitions)\//.test(reference));
  return isMoved ? `#/properties/${wrapper}${reference.slice(1)}` : reference;
}
