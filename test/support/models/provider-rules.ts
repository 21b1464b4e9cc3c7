import { z } from 'zod';
import { buildAnthropicError } from './anthropic-wire.ts';
import { buildCompatibleError } from './compatible-wire.ts';
import type { ProviderRequest, ScriptedReply } from './scripted-provider.ts';

/** The providers whose rules for tools are known from their error messages. */
export type RulingProvider = 'anthropic' | 'openai' | 'google';

const schema = z.record(z.string(), z.unknown());
const block = z.looseObject({ type: z.string().optional(), name: z.string().optional() });
const anthropicBody = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), input_schema: schema })).default([]),
  messages: z.array(z.looseObject({ content: z.union([z.string(), z.array(block)]) })),
});
const named = z.looseObject({ name: z.string() });
const compatibleBody = z.looseObject({
  tools: z.array(z.looseObject({ function: named.extend({ parameters: schema }) })).default([]),
  messages: z.array(z.looseObject({ tool_calls: z.array(z.looseObject({ function: named })).default([]) })),
});

/** Refuses a request whose tools violate the provider's rules, in that provider's words; null if it accepts them all. */
export function refuseTools({ body }: ProviderRequest, provider: RulingProvider): ScriptedReply | null {
  const problem = provider === 'anthropic' ? findAnthropicProblem(body) : findCompatibleProblem(body, provider);
  if (problem === null) return null;
  const isAnthropic = provider === 'anthropic';
  const error = isAnthropic
    ? buildAnthropicError('invalid_request_error', problem)
    : buildCompatibleError(null, problem);
  return { status: 400, body: error };
}

function findAnthropicProblem(body: unknown): string | null {
  const { tools, messages } = anthropicBody.parse(body);
  const refuseName = (where: string, name: string) =>
    /^[a-zA-Z0-9_-]{1,128}$/.test(name) ? [] : [`${where}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`];
  const problems = [
    ...tools.flatMap(({ name }, index) => refuseName(`tools.${index}.custom.name`, name)),
    ...tools.flatMap(({ input_schema: { type, anyOf, oneOf, allOf } }, index) => {
      if (type !== 'object') return [`tools.${index}.custom.input_schema.type: Input should be 'object'`];
      const isJoined = [anyOf, oneOf, allOf].some((keyword) => keyword !== undefined);
      const what = 'input_schema does not support oneOf, allOf, or anyOf at the top level';
      return isJoined ? [`tools.${index}.custom.input_schema: ${what}`] : [];
    }),
    ...messages.flatMap(({ content }, index) =>
      typeof content === 'string'
        ? []
        : content.flatMap(({ type, name = '' }, part) =>
            type === 'tool_use' ? refuseName(`messages.${index}.content.${part}.tool_use.name`, name) : [],
          ),
    ),
  ];
  return problems[0] ?? null;
}

function findCompatibleProblem(body: unknown, provider: 'openai' | 'google'): string | null {
  const { tools, messages } = compatibleBody.parse(body);
  const names = [
    ...tools.map((tool, index) => ({ where: `tools[${index}].function.name`, name: tool.function.name })),
    ...messages.flatMap(({ tool_calls: calls }, index) =>
      calls.map((call, place) => ({
        where: `messages[${index}].tool_calls[${place}].function.name`,
        name: call.function.name,
      })),
    ),
  ];
  const rule = provider === 'google' ? /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/ : /^[a-zA-Z0-9_-]{1,64}$/;
  const refused = names.find(({ name }) => !rule.test(name));
  if (refused !== undefined) {
    const { where, name } = refused;
    if (provider === 'google') {
      return `* GenerateContentRequest.${where}: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64.`;
    }
    return name.length > 64
      ? `Invalid '${where}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`
      : `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  }
  const keywords = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];
  const broken = tools.find(
    ({ function: { parameters } }) =>
      parameters['type'] !== 'object' || keywords.some((keyword) => parameters[keyword] !== undefined),
  );
  return broken === undefined
    ? null
    : `Invalid schema for function '${broken.function.name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
}
