import { z } from 'zod';

/** RFC 6901 §3; the empty pointer is the whole document. */
export const jsonPointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** How the arguments of a call are compared with the expected ones. */
export const argumentMatching = z.enum(['ignore', 'partial', 'exact']);

/**
 * The values that checks consist of. The evals file and the wire share every shape below, and differ in these: the file refuses
 * what can never hold and says why; the wire takes what the API takes, and the engine judges it.
 */
export interface CheckValues {
  /** Whether a field that the check does not have is refused. */
  isClosed: boolean;
  toolName: z.ZodType<string>;
  /** Text that is searched for or compared. */
  text: z.ZodType<string>;
  /** Text that is searched for in results, which the API limits. */
  needle: z.ZodType<string>;
  /** A regular expression of the platform. */
  pattern: z.ZodType<string>;
  /** A regular expression of RE2. */
  re2Pattern: z.ZodType<string>;
  /** A JSON Pointer. */
  pointer: z.ZodType<string>;
  jsonSchema: z.ZodType<Record<string, unknown> | boolean>;
  arguments: z.ZodType<Record<string, unknown>>;
  /** Any JSON value. */
  value: z.ZodType;
  /** A whole number from 1. */
  count: z.ZodType<number>;
  milliseconds: z.ZodType<number>;
  /** `provider/name`. */
  model: z.ZodType<string>;
}

/** Of the text that `toolResultContains` searches for, in characters: the API's limit. */
export const maxNeedleLength = 1000;

/** Of the schema of `toolResultMatchesSchema`, in bytes as JSON: the API's limit. */
export const maxSchemaBytes = 16 * 1024;

/** Whether the API takes a JSON Schema of this size. */
export function isSmallSchema(schema: Record<string, unknown> | boolean): boolean {
  return Buffer.byteLength(JSON.stringify(schema)) <= maxSchemaBytes;
}

/** What every check may say of its weight. */
const policy = {
  role: z
    .enum(['gating', 'advisory'])
    .meta({
      id: 'role',
      description: '`advisory` reports the check, which then never changes a result. The default of a `judge`.',
    })
    .exactOptional(),
  severity: z.literal('warn').exactOptional().meta({ description: 'Only with `role: advisory`.' }),
};

/** The fields that are not about what a check asks for. */
export const policyFields: readonly string[] = Object.keys(policy);

/**
 * Every kind of check, by its `type`, which is its first field. This is the only description of a kind: the short form of the
 * file, the body of the wire and the type that the engine judges follow from it.
 */
export function createCheckSchemas(values: CheckValues) {
  const { text, pattern, re2Pattern, count, milliseconds } = values;
  const part = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> =>
    values.isClosed ? z.strictObject(shape) : z.object(shape);
  const object = <Shape extends z.ZodRawShape>(shape: Shape) => part({ ...shape, ...policy });
  const toolName = values.toolName.meta({ description: 'Name of a tool.' });
  const ofTool = toolName.exactOptional().meta({ description: 'Judge this tool alone.' });
  const latest = z
    .boolean()
    .exactOptional()
    .meta({ description: 'Judge the latest result alone instead of every result so far.' });
  const caseSensitive = z.boolean().exactOptional();
  const path = values.pointer.exactOptional();
  const matching = argumentMatching.meta({
    description: '`partial` compares only the keys given here; `exact` all of them; `ignore` none.',
  });

  /** The API's, named and shaped as on the wire (note the doubled `args.args`). A hosted service judges them. */
  const api = {
    toolCalledWith: object({
      type: z.literal('toolCalledWith'),
      toolName,
      args: part({ args: values.arguments, argumentMatching: matching.exactOptional() }),
      minCount: count.exactOptional(),
    }),
    toolCalledAtLeastOnce: object({ type: z.literal('toolCalledAtLeastOnce'), toolName }),
    toolNeverCalled: object({ type: z.literal('toolNeverCalled'), toolName }),
    firstToolWas: object({ type: z.literal('firstToolWas'), toolName }),
    toolCalledBefore: object({
      type: z.literal('toolCalledBefore'),
      toolName,
      beforeToolName: toolName.meta({ description: 'The tool whose calls need an earlier call of `toolName`.' }),
    }),
    toolCallCountUnder: object({ type: z.literal('toolCallCountUnder'), count, toolName: ofTool }),
    onlyToolsCalled: object({
      type: z.literal('onlyToolsCalled'),
      toolNames: z.array(toolName).meta({ description: 'The tools that may be called; none for an empty list.' }),
    }),
    argumentsMatchToolSchema: object({ type: z.literal('argumentsMatchToolSchema'), toolName: ofTool }),
    noDestructiveToolCalled: object({ type: z.literal('noDestructiveToolCalled') }),
    noToolErrors: object({ type: z.literal('noToolErrors') }),
    toolResultSizeUnder: object({
      type: z.literal('toolResultSizeUnder'),
      maxBytes: count.meta({ description: 'Bytes of a result as JSON.' }),
      toolName: ofTool,
    }),
    responseContains: object({
      type: z.literal('responseContains'),
      needle: text.meta({ description: "Text that the model's last message contains." }),
      caseSensitive,
    }),
    responseMatches: object({
      type: z.literal('responseMatches'),
      pattern: pattern.meta({ description: "Regular expression that the model's last message matches." }),
    }),
    responseCloseTo: object({
      type: z.literal('responseCloseTo'),
      reference: text.meta({ description: "Text that the model's last message resembles." }),
      maxDistance: z.number().min(0).max(1).meta({
        description: 'Characters to change, as a share of the longer text: 0 for the same text, 1 for any.',
      }),
      caseSensitive,
      normalizeWhitespace: z.boolean().exactOptional(),
    }),
    finalAssistantMessageNonEmpty: object({ type: z.literal('finalAssistantMessageNonEmpty') }),
    tokenBudgetUnder: object({ type: z.literal('tokenBudgetUnder'), tokens: count }),
    turnCountUnder: object({ type: z.literal('turnCountUnder'), turns: count }),
    widgetRendered: object({ type: z.literal('widgetRendered'), toolName: ofTool }),
    widgetRenderLatencyUnder: object({
      type: z.literal('widgetRenderLatencyUnder'),
      ms: milliseconds,
      toolName: ofTool,
    }),
    widgetNoConsoleErrors: object({ type: z.literal('widgetNoConsoleErrors'), toolName: ofTool }),
  };

  /** The API's heuristics. They can be right about what they saw and wrong about what it means, so that they are advisory only. */
  const observations = {
    noEndingQuestion: object({ type: z.literal('noEndingQuestion') }),
    noRepeatedIdenticalCall: object({ type: z.literal('noRepeatedIdenticalCall'), toolName: ofTool }),
    noDeprecatedToolCalled: object({ type: z.literal('noDeprecatedToolCalled') }),
    toolErrorNamesInput: object({ type: z.literal('toolErrorNamesInput'), toolName: ofTool }),
    fullPageHasContinuation: object({ type: z.literal('fullPageHasContinuation'), toolName: ofTool }),
  };

  /**
   * Checks of what a tool answered. Some are the API's too, in its newest version; the job judges them from the trace of a hosted
   * run, since older versions of the service fail what they do not know.
   */
  const toolResult = {
    toolResultContains: object({
      type: z.literal('toolResultContains'),
      needle: values.needle.meta({ description: 'Text that a result, or the part of it at `path`, contains.' }),
      caseSensitive,
      path,
      toolName: ofTool,
      latest,
    }),
    toolResultMatches: object({
      type: z.literal('toolResultMatches'),
      pattern: re2Pattern.meta({
        description: 'RE2 regular expression that a result, or the part of it at `path`, matches.',
      }),
      path,
      toolName: ofTool,
      latest,
    }),
    toolResultMatchesSchema: object({
      type: z.literal('toolResultMatchesSchema'),
      schema: values.jsonSchema.meta({
        description: 'JSON Schema 2020-12 that every result, or the part of it at `path`, conforms to.',
      }),
      path,
      toolName: ofTool,
      latest,
    }),
    toolLatencyUnder: object({
      type: z.literal('toolLatencyUnder'),
      ms: milliseconds.meta({ description: 'Milliseconds that every call took less than.' }),
      toolName: ofTool,
      latest,
    }),
    toolResultEquals: object({
      type: z.literal('toolResultEquals'),
      value: values.value.meta({ description: 'What the latest result, or the part of it at `path`, equals.' }),
      path,
      tolerance: z.number().min(0).exactOptional().meta({
        description: 'By how much numbers may differ, at every depth.',
      }),
      unordered: z.boolean().exactOptional().meta({
        description: 'True compares lists in any order, at every depth.',
      }),
      toolName: ofTool,
    }),
    toolResultIsError: object({
      type: z.literal('toolResultIsError'),
      isError: z.boolean().meta({ description: 'Whether the latest result is an error.' }),
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

  /** Checks that a model judges. They are advisory unless they say that they gate, for which they need a calibration. */
  const judged = {
    judge: object({
      type: z.literal('judge'),
      rubric: text.meta({ description: 'What the judge looks for, in words.' }),
      model: values.model
        .exactOptional()
        .meta({ description: "The model that judges, as `provider/name`. Default: the suite's `judgeModel`." }),
      threshold: z.number().min(0).max(1).exactOptional().meta({
        description:
          'The score, 0 to 1, from which the judge passes. Default: the judge says itself whether it passes.',
      }),
    }),
  };
  return { api, observations, toolResult, judged };
}

/** A check that holds where another does not. What it wraps differs between the file and the wire. */
export function createNotSchema<Assertion extends z.ZodType>(assertion: Assertion) {
  return z.strictObject({ type: z.literal('not'), assertion, ...policy });
}
