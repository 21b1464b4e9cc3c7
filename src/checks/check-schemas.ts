import { z } from 'zod';
import { type CheckValues, createSharedParts, policy } from './check-parts.ts';
import { changingLists, logLevels } from '../model/notification.ts';
import { createReplySchemas } from './reply-schemas.ts';
import { createToolResultSchemas } from './tool-result-schemas.ts';

/** RFC 6901 §3; the empty pointer is the whole document. */
export const jsonPointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** How the arguments of a call are compared with the expected ones. */
export const argumentMatching = z.enum(['ignore', 'partial', 'exact']);

/** Of the text that `toolResultContains` searches for, in characters: the API's limit. */
export const maxNeedleLength = 1000;

/** Of the schema of `toolResultMatchesSchema`, in bytes as JSON: the API's limit. */
export const maxSchemaBytes = 16 * 1024;

/** Whether the API takes a JSON Schema of this size. */
export function isSmallSchema(schema: Record<string, unknown> | boolean): boolean {
  return Buffer.byteLength(JSON.stringify(schema)) <= maxSchemaBytes;
}

/**
 * Every kind of check, by its `type`, which is its first field. This is the only description of a kind: the short form of the
 * file, the body of the wire and the type that the engine judges follow from it.
 */
export function createCheckSchemas(values: CheckValues) {
  const { text, pattern, count, milliseconds } = values;
  const shared = createSharedParts(values);
  const { part, object, toolName, ofTool, caseSensitive } = shared;
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

  const toolResult = createToolResultSchemas({ ...shared, values });
  const reply = createReplySchemas(toolResult, { object, values });

  /** Checks of what a server reports unasked, which no trace of a service holds. */
  const reported = {
    progressReported: object({
      type: z.literal('progressReported'),
      minCount: count.exactOptional().meta({ description: 'How often at least; once unless given.' }),
      message: text.exactOptional().meta({ description: 'Text that the message of each of these reports contains.' }),
      toolName: ofTool,
    }),
    logged: object({
      type: z.literal('logged'),
      contains: text.exactOptional().meta({ description: 'Text that the log message contains.' }),
      level: z.enum(logLevels).exactOptional().meta({ description: 'The least severe level.' }),
      logger: text.exactOptional().meta({ description: 'Name of the logger.' }),
    }),
    listChanged: object({
      type: z.literal('listChanged'),
      of: z.enum(changingLists).meta({ description: 'The list that the server reported as changed.' }),
    }),
  };

  /** Checks of the apps that a server declares, which ask the server. */
  const app = {
    appResourceValid: object({ type: z.literal('appResourceValid'), toolName: ofTool }),
  };

  /** Checks of what the server asked its client. A hosted service keeps nothing of it. */
  const message = text.exactOptional().meta({ description: 'Text that the message of the request contains.' });
  const client = {
    elicitationRequested: object({
      type: z.literal('elicitationRequested'),
      message,
      schema: z.array(text).exactOptional().meta({ description: 'Names of fields that the form asks for.' }),
      mode: z.enum(['form', 'url']).exactOptional(),
      minCount: count.exactOptional(),
    }),
    samplingRequested: object({ type: z.literal('samplingRequested'), message, minCount: count.exactOptional() }),
  };

  /** Checks of what the provider of a model says. A hosted service does not know them. */
  const provider = { modelRefused: object({ type: z.literal('modelRefused') }) };

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
  return { api, observations, toolResult, reply, reported, app, client, provider, judged };
}

/** A check that holds where another does not. What it wraps differs between the file and the wire. */
export function createNotSchema<Assertion extends z.ZodType>(assertion: Assertion) {
  return z.strictObject({ type: z.literal('not'), assertion, ...policy });
}

/** The kinds of checks that put several together. */
export const combinationTypes = ['anyOf', 'allOf'] as const;

/** Several checks as one. */
export function createCombinationSchema<Assertions extends z.ZodType>(assertions: Assertions) {
  return z.strictObject({ type: z.literal(combinationTypes), assertions, ...policy });
}
