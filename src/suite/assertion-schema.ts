import { RE2JS } from 're2js';
import { z } from 'zod';
import { describeError } from '../base/errors.ts';
import type { Assertion, Check, WidgetAssertion } from '../model/assertion.ts';
import { demand, text } from './scalar-schemas.ts';
import { findSchemaProblems } from './schema-problems.ts';

const toolName = text.meta({ description: 'Name of a tool.' });
const ofTool = toolName.exactOptional().meta({ description: 'Judge the latest result of this tool instead.' });
const positive = z.int().min(1);

/** Hosted services refuse longer arguments. */
const maxArgumentsLength = 100_000;

export const toolArguments = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= maxArgumentsLength,
    demand('arguments-too-long', `Arguments may have at most ${maxArgumentsLength} characters as JSON`),
  )
  .meta({ description: 'Arguments of the call.' });

const argumentMatching = z
  .enum(['ignore', 'partial', 'exact'])
  .meta({ description: '`partial` compares only the keys given here; `exact` all of them; `ignore` none.' });

/** A repeated group whose body ends in a repetition: what the service refuses to run, so it is refused here. */
const nestedQuantifier = /[+*}]\??\)[+*{]/;

const responsePattern = text.superRefine((pattern, context) => {
  const reason = nestedQuantifier.test(pattern)
    ? 'a repeated group that ends in a repetition can take exponential time'
    : explainThrow(() => new RegExp(pattern));
  addPatternIssue(pattern, reason, context);
});

const re2Pattern = text.superRefine((pattern, context) => {
  addPatternIssue(
    pattern,
    explainThrow(() => RE2JS.compile(pattern)),
    context,
  );
});

function addPatternIssue(pattern: string, reason: string | undefined, context: z.RefinementCtx): void {
  if (reason === undefined) return;
  const message = `The pattern ${JSON.stringify(pattern)} is refused: ${reason}`;
  context.addIssue({ code: 'custom', message, params: { code: 'unsafe-pattern' } });
}

function explainThrow(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** RFC 6901 §3; the empty pointer is the whole document. */
const pointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

const pointer = z
  .string()
  .refine(
    (value) => pointerPattern.test(value),
    demand('bad-pointer', (value) => `${JSON.stringify(value)} is not a JSON Pointer; write \`/key/0\``),
  )
  .meta({
    pattern: pointerPattern.source,
    description: 'JSON Pointer into the structured content, or into text read as JSON.',
  });

const checkSchemas = [
  z.strictObject({
    type: z.literal('toolCalledWith'),
    toolName,
    args: z.strictObject({ args: toolArguments, argumentMatching: argumentMatching.exactOptional() }),
    minCount: positive.exactOptional(),
  }),
  z.strictObject({ type: z.literal('toolCalledAtLeastOnce'), toolName }),
  z.strictObject({ type: z.literal('toolNeverCalled'), toolName }),
  z.strictObject({ type: z.literal('firstToolWas'), toolName }),
  z.strictObject({
    type: z.literal('responseContains'),
    needle: text.meta({ description: "Text that the model's last message contains." }),
    caseSensitive: z.boolean().exactOptional(),
  }),
  z.strictObject({
    type: z.literal('responseMatches'),
    pattern: responsePattern.meta({ description: "Regular expression that the model's last message matches." }),
  }),
  z.strictObject({ type: z.literal('noToolErrors') }),
  z.strictObject({ type: z.literal('finalAssistantMessageNonEmpty') }),
  z.strictObject({ type: z.literal('tokenBudgetUnder'), tokens: positive }),
  z.strictObject({ type: z.literal('turnCountUnder'), turns: positive }),
  z.strictObject({ type: z.literal('widgetRendered'), toolName: toolName.exactOptional() }),
  z.strictObject({ type: z.literal('widgetRenderLatencyUnder'), ms: positive, toolName: toolName.exactOptional() }),
  z.strictObject({ type: z.literal('widgetNoConsoleErrors'), toolName: toolName.exactOptional() }),
  z.strictObject({
    type: z.literal('toolResultContains'),
    text: text.meta({ description: "Text that the tool's result contains." }),
    caseSensitive: z.boolean().exactOptional(),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolResultMatches'),
    pattern: re2Pattern.meta({ description: "RE2 regular expression that the tool's result matches." }),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolResultEquals'),
    value: z.unknown().meta({ description: 'What the result, or the part of it at `path`, equals.' }),
    path: pointer.exactOptional(),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolResultSchema'),
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .superRefine((schema, context) => {
        for (const { path, isKey, message } of findSchemaProblems(schema)) {
          context.addIssue({ code: 'custom', message, path: [...path], params: { code: 'bad-schema', isKey } });
        }
      })
      .meta({ description: 'JSON Schema 2020-12 that the result conforms to.' }),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolResultIsError'),
    isError: z.boolean().meta({ description: 'Whether the tool answers with an error.' }),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolLatencyUnder'),
    ms: positive.meta({ description: 'Milliseconds.' }),
    toolName: ofTool,
  }),
  z.strictObject({
    type: z.literal('toolNotFound'),
    toolName: text.meta({ description: 'A tool that the server does not list, and whose call it refuses.' }),
  }),
] as const;

/** At least one way to find the element; which, the engine's browser decides. */
export const locator = z
  .strictObject({
    role: z
      .strictObject({ role: text, name: z.string().exactOptional(), exact: z.boolean().exactOptional() })
      .exactOptional(),
    text: text.exactOptional(),
    css: text.exactOptional(),
    testId: text.exactOptional(),
    nth: z.int().min(0).exactOptional(),
  })
  .refine(
    (value) => (value.role ?? value.text ?? value.css ?? value.testId) !== undefined,
    demand('bad-locator', 'An element is found by at least one of `role`, `text`, `css` and `testId`'),
  )
  .meta({ anyOf: ['role', 'text', 'css', 'testId'].map((key) => ({ required: [key] })) });

const widgetSchemas = [
  z.strictObject({ kind: z.literal('textVisible'), toolName, text }),
  z.strictObject({ kind: z.literal('elementVisible'), toolName, target: locator }),
  z.strictObject({ kind: z.literal('elementHidden'), toolName, target: locator }),
  z.strictObject({ kind: z.literal('inputValue'), toolName, target: locator, equals: z.string() }),
  z.strictObject({ kind: z.literal('widgetToolCalled'), toolName, calledToolName: toolName }),
] as const;

/** The API's own shape, typed. */
const checkSchema: z.ZodType<Check> = z.discriminatedUnion('type', checkSchemas);
const widgetSchema: z.ZodType<WidgetAssertion> = z.discriminatedUnion('kind', widgetSchemas);

/** The field that the short form `{ <type>: <main field>, … }` stands for. Types without one are written as their name. */
const mainFieldOfCheck: Readonly<Record<string, string>> = {
  toolCalledAtLeastOnce: 'toolName',
  toolNeverCalled: 'toolName',
  firstToolWas: 'toolName',
  responseContains: 'needle',
  responseMatches: 'pattern',
  tokenBudgetUnder: 'tokens',
  turnCountUnder: 'turns',
  widgetRendered: 'toolName',
  widgetRenderLatencyUnder: 'ms',
  widgetNoConsoleErrors: 'toolName',
  toolResultContains: 'text',
  toolResultMatches: 'pattern',
  toolResultEquals: 'value',
  toolResultSchema: 'schema',
  toolResultIsError: 'isError',
  toolLatencyUnder: 'ms',
  toolNotFound: 'toolName',
};
const mainFieldOfWidget: Readonly<Record<string, string>> = {
  textVisible: 'text',
  elementVisible: 'target',
  elementHidden: 'target',
  inputValue: 'target',
  widgetToolCalled: 'calledToolName',
};

/** The one short form that is more than a renamed field: `arguments` stands for the doubled `args.args`. */
const toolCalledWithSchema = z.strictObject({
  toolCalledWith: toolName,
  arguments: toolArguments.exactOptional(),
  argumentMatching: argumentMatching.exactOptional(),
  minCount: positive.exactOptional(),
});

const bareNames = z.enum(['noToolErrors', 'finalAssistantMessageNonEmpty', 'widgetRendered', 'widgetNoConsoleErrors']);

/** A check as a file may write it: its bare name, the API's shape, or the short form. */
export const writtenCheckSchema = z
  .union([bareNames, ...checkSchemas, toolCalledWithSchema, ...checkSchemas.flatMap(deriveShortForm)])
  .meta({ id: 'check', title: 'check', description: 'What must hold at the end of an iteration.' });

/** What an `assert` step may write: a check, or an assertion on a rendered widget. */
export const writtenAssertionSchema = z
  .union([
    bareNames,
    ...checkSchemas,
    ...widgetSchemas,
    toolCalledWithSchema,
    ...[...checkSchemas, ...widgetSchemas].flatMap(deriveShortForm),
  ])
  .meta({ id: 'assertion', title: 'assertion', description: 'What must hold at this point of the case.' });

function deriveShortForm(schema: z.ZodObject): z.ZodObject[] {
  const { type, kind, ...fields } = schema.shape;
  const name = type instanceof z.ZodLiteral ? type.value : kind instanceof z.ZodLiteral ? kind.value : undefined;
  const main = mainFieldOfCheck[String(name)] ?? mainFieldOfWidget[String(name)] ?? '';
  const { [main]: mainSchema, ...others } = fields;
  if (mainSchema === undefined) return [];
  const required = mainSchema instanceof z.ZodExactOptional ? mainSchema.unwrap() : mainSchema;
  return [z.strictObject({ [String(name)]: required, ...others })];
}

/**
 * Turns a check that `writtenCheckSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseCheck(written: unknown): Check {
  return checkSchema.parse(expandShortForm(written, 'type', mainFieldOfCheck));
}

/**
 * Turns an assertion that `writtenAssertionSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseAssertion(written: unknown): Assertion {
  const widget = widgetSchema.safeParse(expandShortForm(written, 'kind', mainFieldOfWidget));
  return widget.success ? widget.data : parseCheck(written);
}

function expandShortForm(
  written: unknown,
  discriminator: 'type' | 'kind',
  mainFields: Readonly<Record<string, string>>,
) {
  if (typeof written === 'string') return { [discriminator]: written };
  const withArguments = toolCalledWithSchema.safeParse(written);
  if (withArguments.success) {
    const { toolCalledWith, arguments: args = {}, argumentMatching, minCount } = withArguments.data;
    return {
      type: 'toolCalledWith',
      toolName: toolCalledWith,
      args: { args, ...(argumentMatching !== undefined && { argumentMatching }) },
      ...(minCount !== undefined && { minCount }),
    };
  }
  if (typeof written !== 'object' || written === null || discriminator in written) return written;
  const entries = Object.entries(written).map(([key, value]) => {
    const main = Object.hasOwn(mainFields, key) ? mainFields[key] : undefined;
    return main === undefined
      ? [[key, value]]
      : [
          [discriminator, key],
          [main, value],
        ];
  });
  return Object.fromEntries(entries.flat());
}
