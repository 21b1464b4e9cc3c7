import { isRecord } from '../base/json.ts';
import { z } from 'zod';
import { widgetAssertionKinds, type WidgetAssertion } from './widget.ts';

/** How the arguments of a call are compared with the expected ones. */
export const argumentMatching = z.enum(['ignore', 'partial', 'exact']);
export type ArgumentMatching = z.infer<typeof argumentMatching>;

export type JsonObject = Record<string, unknown>;

/**
 * The values that checks consist of. The evals file and the wire share every shape below, and differ in these: the file refuses
 * what can never hold and says why; the wire takes what the API takes, and the engine judges it.
 */
export interface CheckValues {
  /** Whether a field that the check does not have is refused. */
  isClosed: boolean;
  toolName: z.ZodType<string>;
  /** Text that is searched for. */
  text: z.ZodType<string>;
  /** A regular expression of the platform. */
  pattern: z.ZodType<string>;
  /** A regular expression of RE2. */
  re2Pattern: z.ZodType<string>;
  /** A JSON Pointer. */
  pointer: z.ZodType<string>;
  jsonSchema: z.ZodType<JsonObject | boolean>;
  arguments: z.ZodType<JsonObject>;
  /** Any JSON value. */
  value: z.ZodType;
  /** A whole number from 1. */
  count: z.ZodType<number>;
  milliseconds: z.ZodType<number>;
}

/**
 * Every kind of check, by its `type`, which is its first field. This is the only description of a kind: the short form of the
 * file, the body of the wire and the type that the engine judges follow from it.
 */
export function createCheckSchemas(values: CheckValues) {
  const { text, pattern, re2Pattern, count } = values;
  const object = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> =>
    values.isClosed ? z.strictObject(shape) : z.object(shape);
  const toolName = values.toolName.meta({ description: 'Name of a tool.' });
  const ofTool = toolName.exactOptional().meta({ description: 'Judge the latest result of this tool instead.' });
  const matching = argumentMatching.meta({
    description: '`partial` compares only the keys given here; `exact` all of them; `ignore` none.',
  });

  /** The API's thirteen, named and shaped as on the wire (note the doubled `args.args`). */
  const api = {
    toolCalledWith: object({
      type: z.literal('toolCalledWith'),
      toolName,
      args: object({ args: values.arguments, argumentMatching: matching.exactOptional() }),
      minCount: count.exactOptional(),
    }),
    toolCalledAtLeastOnce: object({ type: z.literal('toolCalledAtLeastOnce'), toolName }),
    toolNeverCalled: object({ type: z.literal('toolNeverCalled'), toolName }),
    firstToolWas: object({ type: z.literal('firstToolWas'), toolName }),
    responseContains: object({
      type: z.literal('responseContains'),
      needle: text.meta({ description: "Text that the model's last message contains." }),
      caseSensitive: z.boolean().exactOptional(),
    }),
    responseMatches: object({
      type: z.literal('responseMatches'),
      pattern: pattern.meta({ description: "Regular expression that the model's last message matches." }),
    }),
    noToolErrors: object({ type: z.literal('noToolErrors') }),
    finalAssistantMessageNonEmpty: object({ type: z.literal('finalAssistantMessageNonEmpty') }),
    tokenBudgetUnder: object({ type: z.literal('tokenBudgetUnder'), tokens: count }),
    turnCountUnder: object({ type: z.literal('turnCountUnder'), turns: count }),
    widgetRendered: object({ type: z.literal('widgetRendered'), toolName: toolName.exactOptional() }),
    widgetRenderLatencyUnder: object({
      type: z.literal('widgetRenderLatencyUnder'),
      ms: values.milliseconds,
      toolName: toolName.exactOptional(),
    }),
    widgetNoConsoleErrors: object({ type: z.literal('widgetNoConsoleErrors'), toolName: toolName.exactOptional() }),
  };

  /**
   * Checks of what a tool answered, which the API lacks. Each judges the latest tool result, or the latest of `toolName`
   * where it is given.
   */
  const toolResult = {
    toolResultContains: object({
      type: z.literal('toolResultContains'),
      text: text.meta({ description: "Text that the tool's result contains." }),
      caseSensitive: z.boolean().exactOptional(),
      toolName: ofTool,
    }),
    toolResultMatches: object({
      type: z.literal('toolResultMatches'),
      pattern: re2Pattern.meta({ description: "RE2 regular expression that the tool's result matches." }),
      toolName: ofTool,
    }),
    toolResultEquals: object({
      type: z.literal('toolResultEquals'),
      value: values.value.meta({ description: 'What the result, or the part of it at `path`, equals.' }),
      path: values.pointer.exactOptional(),
      toolName: ofTool,
    }),
    toolResultSchema: object({
      type: z.literal('toolResultSchema'),
      schema: values.jsonSchema.meta({ description: 'JSON Schema 2020-12 that the result conforms to.' }),
      toolName: ofTool,
    }),
    toolResultIsError: object({
      type: z.literal('toolResultIsError'),
      isError: z.boolean().meta({ description: 'Whether the tool answers with an error.' }),
      toolName: ofTool,
    }),
    toolLatencyUnder: object({
      type: z.literal('toolLatencyUnder'),
      ms: values.milliseconds.meta({ description: 'Milliseconds.' }),
      toolName: ofTool,
    }),
    /** Of the latest call of the tool: the server does not list it, and answered the call with an error. */
    toolNotFound: object({
      type: z.literal('toolNotFound'),
      toolName: values.toolName.meta({
        description: 'A tool that the server does not list, and whose call it refuses.',
      }),
    }),
  };
  return { api, toolResult };
}

const filledText = z.string().min(1);

const { api, toolResult } = createCheckSchemas({
  isClosed: false,
  toolName: filledText,
  text: filledText,
  pattern: filledText,
  re2Pattern: filledText,
  pointer: z.string(),
  jsonSchema: z.custom<JsonObject | boolean>(
    (value) => typeof value === 'boolean' || isRecord(value),
    'expected a JSON Schema: an object or a boolean',
  ),
  arguments: z.custom<JsonObject>(isRecord, 'expected an object'),
  value: z.unknown().refine((value) => value !== undefined, 'expected a value'),
  count: z.int().min(1),
  milliseconds: z.number().positive(),
});

/** Checks as the wire has them, which is how they are judged: any value that can be judged at all. */
export const checkSchemas = { ...api, ...toolResult };

/** Every check by its type. */
export type CheckByType = { [Type in keyof typeof checkSchemas]: z.infer<(typeof checkSchemas)[Type]> };

export type ApiType = keyof typeof api;
export type ToolResultType = keyof typeof toolResult;

/** Anything with a `type`. */
export type Check = CheckByType[keyof CheckByType];
export type ToolResultAssertion = CheckByType[ToolResultType];
export type Assertion = Check | WidgetAssertion;

const checkTypes: ReadonlySet<string> = new Set(Object.keys(checkSchemas));

export function isCheckType(type: unknown): type is Check['type'] {
  return typeof type === 'string' && checkTypes.has(type);
}

/** The names of all assertions: the types of checks and the kinds of assertions on a rendered widget. */
export const assertionNames: readonly string[] = [...checkTypes, ...widgetAssertionKinds];

/** What a `widget…` predicate or assertion needs and the embedded service lacks. */
export const noBrowserReason = 'No browser runs here, so nothing about a widget can be established.';

/** Whether an assertion is one of the gate's own, on what a tool answered, and not one of the API. */
export function isToolResultAssertion(assertion: Assertion): assertion is ToolResultAssertion {
  return 'type' in assertion && Object.hasOwn(toolResult, assertion.type);
}

/** Whether an assertion holds only if the call it judges has failed. */
export function expectsToolError(assertion: Assertion): boolean {
  if (!('type' in assertion)) return false;
  return assertion.type === 'toolNotFound' || (assertion.type === 'toolResultIsError' && assertion.isError);
}
