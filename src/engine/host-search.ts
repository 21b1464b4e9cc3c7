import type { LanguageModelV4ToolCall } from '@ai-sdk/provider';
import { isRecord, tryParseJson } from '../base/json.ts';
import { rankTools } from '../base/rank-tools.ts';
import { clipText } from '../base/text.ts';
import { printValue } from '../checks/reasons.ts';
import type { HostProfile } from '../hosts/profile.ts';
import type { ModelCall } from '../models/language-model.ts';

type Tools = ModelCall['tools'];

/** The deferred tools of a host, which a model has to search for. */
export interface DeferredTools {
  /** The name of the tool that searches. */
  searchName: string;
  /** The name of the tool that calls a tool that was found; null if a tool that was found is offered itself. */
  callName: string | null;
  tools: Tools;
  /** The most tools that a search finds. */
  most: number;
  /** The names of the tools that searches have found. Grows while the conversation goes on. */
  found: Set<string>;
}

/** Used if it is not known how many tools a host finds. */
const usualMost = 5;

/** Defers tools as the host does; null if it shows all tools at once. */
export function deferTools(
  { tools: { deferral, search } }: HostProfile,
  tools: Tools,
  found: Set<string>,
): DeferredTools | null {
  if (deferral?.value.kind !== 'search' || search === undefined) return null;
  const { name: searchName, callName, most } = search.value;
  return { searchName, callName, tools, most: most ?? usualMost, found };
}

/** Lists the tools that a model is offered instead of the deferred ones: the search, and what it has found so far. */
export function offerSearch({ searchName, callName, tools, found }: DeferredTools, characters: number): Tools {
  const list = tools.map(({ name, description = '' }) =>
    characters === 0 || description === '' ? `- ${name}` : `- ${name}: ${clipText(description, characters)}`,
  );
  const use =
    callName === null
      ? 'A tool that it finds can be called in the next answer.'
      : `Call a tool that it finds with ${callName}.`;
  const search: Tools[number] = {
    type: 'function',
    name: searchName,
    description: [
      `Finds tools by words in \`query\`, or by name with \`select:<name>,<name>\`. ${use} These tools can be found:`,
      ...list,
    ].join('\n'),
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  };
  if (callName === null) return [search, ...tools.filter(({ name }) => found.has(name))];
  const call: Tools[number] = {
    type: 'function',
    name: callName,
    description: `Calls a tool that ${searchName} finds.`,
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['name', 'arguments'],
    },
  };
  return [search, call];
}

/** Answers a search of the model with the declarations of the tools that it finds, best first. */
export function searchTools(deferred: DeferredTools, input: string): { text: string; isError: boolean } {
  const { searchName, tools, most, found } = deferred;
  const written = tryParseJson(input);
  const query = isRecord(written) && typeof written['query'] === 'string' ? written['query'].trim() : '';
  if (query === '') return { text: `The arguments of ${searchName} have no \`query\`.`, isError: true };
  const matches = (query.startsWith('select:') ? selectTools(tools, query) : rankTools(tools, query)).slice(0, most);
  for (const { name } of matches) found.add(name);
  if (matches.length === 0) return { text: `No tool matches ${printValue(query)}.`, isError: false };
  const lines = matches.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  return { text: lines.join('\n'), isError: false };
}

/** Explains why a model cannot call a deferred tool in this way; null if it can. */
export function explainDeferred(
  deferred: DeferredTools,
  { calledAs, isForwarded }: Pick<ResolvedCall, 'calledAs' | 'isForwarded'>,
): string | null {
  const { searchName, callName, tools, found } = deferred;
  if (calledAs === callName) return `The arguments of ${callName} have no \`name\`.`;
  if (!tools.some(({ name }) => name === calledAs)) return null;
  if (callName !== null) return isForwarded ? null : `Call ${calledAs} with ${callName}.`;
  return found.has(calledAs) ? null : `The tool ${calledAs} is not loaded; find it with ${searchName} first.`;
}

/** A call of a model, with the name by which the host shows the tool. */
export interface ResolvedCall {
  calledAs: string;
  input: string;
  /** True if the model called the tool through the one that the host has for that. */
  isForwarded: boolean;
}

/** Unwraps a call that the model makes through the tool that a host has for that. */
export function resolveCall(
  { toolName, input }: Pick<LanguageModelV4ToolCall, 'toolName' | 'input'>,
  deferred: DeferredTools | null,
): ResolvedCall {
  const whole = { calledAs: toolName, input, isForwarded: false };
  if (deferred === null || deferred.callName !== toolName) return whole;
  const written = tryParseJson(input);
  if (!isRecord(written) || typeof written['name'] !== 'string') return whole;
  const { name, arguments: args = {} } = written;
  return { calledAs: name, input: typeof args === 'string' ? args : JSON.stringify(args), isForwarded: true };
}

function selectTools(tools: Tools, query: string): Tools {
  const names = query.slice('select:'.length).split(',');
  return names.flatMap((each) => tools.find(({ name }) => name.toLowerCase() === each.trim().toLowerCase()) ?? []);
}
