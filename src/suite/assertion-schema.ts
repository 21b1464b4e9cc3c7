import { RE2JS } from 're2js';
import { z } from 'zod';
import { describeError } from '../base/errors.ts';
import { createCheckSchemas, isCheckType, type Assertion, type Check } from '../model/assertion.ts';
import { createWidgetSchemas } from '../model/widget.ts';
import { withIssueCode, text } from './scalar-schemas.ts';
import { findSchemaProblems } from './schema-problems.ts';

const positive = z.int().min(1);

/** Hosted services refuse longer arguments. */
const maxArgumentsLength = 100_000;

export const toolArguments = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= maxArgumentsLength,
    withIssueCode('arguments-too-long', `Arguments may have at most ${maxArgumentsLength} characters as JSON`),
  )
  .meta({ description: 'Arguments of the call.' });

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
    withIssueCode('bad-pointer', (value) => `${JSON.stringify(value)} is not a JSON Pointer; write \`/key/0\``),
  )
  .meta({
    pattern: pointerPattern.source,
    description: 'JSON Pointer into the structured content, or into text read as JSON.',
  });

const jsonSchema = z.union([z.record(z.string(), z.unknown()), z.boolean()]).superRefine((schema, context) => {
  for (const { path, isKey, message } of findSchemaProblems(schema)) {
    context.addIssue({ code: 'custom', message, path: [...path], params: { code: 'bad-schema', isKey } });
  }
});

const { api, toolResult } = createCheckSchemas({
  isClosed: true,
  toolName: text,
  text,
  pattern: responsePattern,
  re2Pattern,
  pointer,
  jsonSchema,
  arguments: toolArguments,
  value: z.unknown(),
  count: positive,
  milliseconds: positive,
});
const checkSchemas = { ...api, ...toolResult };
const checks: readonly z.ZodObject[] = Object.values(checkSchemas);

const { assertions: widgetSchemas, actions } = createWidgetSchemas({
  toolName: text,
  text,
  index: z.int().min(0),
  wait: z.int().min(0).max(30_000),
  emptyLocator: withIssueCode(
    'bad-locator',
    'An element is found by at least one of `role`, `text`, `css` and `testId`',
  ),
});

/** What an `interact` step does. */
export const actionSchema = z
  .union(actions)
  .meta({ id: 'action', title: 'action', description: 'What is done to the rendered widget.' });

const widgetSchema = z.discriminatedUnion('kind', widgetSchemas);

/** The one short form that is more than a renamed field: `arguments` stands for the doubled `args.args`. */
const { toolName: calledTool, args, minCount } = checkSchemas.toolCalledWith.shape;
const toolCalledWithSchema = z.strictObject({
  toolCalledWith: calledTool,
  arguments: args.shape.args.exactOptional(),
  argumentMatching: args.shape.argumentMatching,
  minCount,
});

/** How a file writes one kind of assertion apart from the API's shape. */
interface WrittenKind {
  discriminator: 'type' | 'kind';
  name: string;
  /** The field that the short form `{ <name>: <main field>, … }` stands for: the first that is not `toolName`, or else that. */
  mainField: string | undefined;
  /** Null for a kind that is written as its name, and for `toolCalledWith`. */
  shortForm: z.ZodObject | null;
  /** Whether the name alone is enough, as every field may be left out. */
  isBare: boolean;
}

const kinds = new Map(
  [...checks, ...widgetSchemas].map((schema) => describeKind(schema)).map((kind) => [kind.name, kind]),
);

function describeKind(schema: z.ZodObject): WrittenKind {
  const { type, kind, ...fields } = schema.shape;
  const name = String(type instanceof z.ZodLiteral ? type.value : kind instanceof z.ZodLiteral && kind.value);
  const names = Object.keys(fields);
  const mainField = names.find((field) => field !== 'toolName') ?? names[0];
  const { [mainField ?? '']: main, ...others } = fields;
  const required = main instanceof z.ZodExactOptional ? main.unwrap() : main;
  const hasOwnForm = Object.hasOwn(toolCalledWithSchema.shape, name);
  return {
    discriminator: type === undefined ? 'kind' : 'type',
    name,
    mainField,
    shortForm: required === undefined || hasOwnForm ? null : z.strictObject({ [name]: required, ...others }),
    isBare: Object.values(fields).every((field) => field instanceof z.ZodExactOptional),
  };
}

const bareNames = z.enum([...kinds.values()].filter(({ isBare }) => isBare).map(({ name }) => name));

function listShortForms(discriminators: ReadonlyArray<'type' | 'kind'>): z.ZodObject[] {
  return [...kinds.values()].flatMap(({ discriminator, shortForm }) =>
    shortForm !== null && discriminators.includes(discriminator) ? [shortForm] : [],
  );
}

/** A check as a file may write it: its bare name, the API's shape, or the short form. */
export const writtenCheckSchema = z
  .union([bareNames, ...checks, toolCalledWithSchema, ...listShortForms(['type'])])
  .meta({ id: 'check', title: 'check', description: 'What must hold at the end of an iteration.' });

/** What an `assert` step may write: a check, or an assertion on a rendered widget. */
export const writtenAssertionSchema = z
  .union([bareNames, ...checks, ...widgetSchemas, toolCalledWithSchema, ...listShortForms(['type', 'kind'])])
  .meta({ id: 'assertion', title: 'assertion', description: 'What must hold at this point of the case.' });

/**
 * Turns a check that `writtenCheckSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseCheck(written: unknown): Check {
  const expanded = expandShortForm(written);
  const { type } = z.looseObject({ type: z.custom<Check['type']>(isCheckType) }).parse(expanded);
  return checkSchemas[type].parse(expanded);
}

/**
 * Turns an assertion that `writtenAssertionSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseAssertion(written: unknown): Assertion {
  const widget = widgetSchema.safeParse(expandShortForm(written));
  return widget.success ? widget.data : parseCheck(written);
}

function expandShortForm(written: unknown): unknown {
  if (typeof written === 'string') return { type: written };
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
  if (typeof written !== 'object' || written === null || 'type' in written || 'kind' in written) return written;
  const entries = Object.entries(written).map(([key, value]) => {
    const { discriminator, mainField } = kinds.get(key) ?? {};
    return discriminator === undefined || mainField === undefined
      ? [[key, value]]
      : [
          [discriminator, key],
          [mainField, value],
        ];
  });
  return Object.fromEntries(entries.flat());
}
