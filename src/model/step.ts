import { z } from 'zod';
import type { Assertion, JsonObject } from './assertion.ts';
import type { InteractAction } from './widget.ts';

/** The values that steps consist of; the evals file and the wire differ in these alone. */
export interface StepValues {
  /** What the user says. */
  prompt: z.ZodType<string>;
  serverName: z.ZodType<string>;
  serverId: z.ZodType<string>;
  /** The tool of a `toolCall`. */
  toolName: z.ZodType<string>;
  /** The tool whose widget is acted on. */
  widgetToolName: z.ZodType<string>;
  arguments: z.ZodType<JsonObject>;
  renderTimeoutMs: z.ZodType<number>;
  action: z.ZodType<InteractAction>;
  /** Names for later steps, and JSON Pointers into the result as the server sent it. */
  capture: z.ZodType<Record<string, string>>;
}

/** The fields of every kind of step, by its `kind`, which is its first field; each has an `id` too, unique within the case. */
export function createStepShapes<AssertionSchema extends z.ZodType>(values: StepValues, assertion: AssertionSchema) {
  const kept = { capture: values.capture.exactOptional() };
  return {
    prompt: { kind: z.literal('prompt'), prompt: values.prompt },
    toolCall: {
      kind: z.literal('toolCall'),
      serverName: values.serverName,
      serverId: values.serverId.exactOptional(),
      toolName: values.toolName,
      arguments: values.arguments,
      renderTimeoutMs: values.renderTimeoutMs.exactOptional(),
      ...kept,
    },
    interact: { kind: z.literal('interact'), toolName: values.widgetToolName, action: values.action },
    assert: { kind: z.literal('assert'), assertion },
  };
}

/** A step as the wire has it, in which nothing is left to a default. */
export function createStepSchema(values: StepValues, assertion: z.ZodType<Assertion>) {
  const shapes = createStepShapes(values, assertion);
  const id = z.string().min(1);
  return z.discriminatedUnion('kind', [
    z.strictObject({ id, ...shapes.prompt }),
    z.strictObject({ id, ...shapes.toolCall }),
    z.strictObject({ id, ...shapes.interact }),
    z.strictObject({ id, ...shapes.assert }),
  ]);
}

/** One step of a case, in the API's own shape. */
export type Step = z.infer<ReturnType<typeof createStepSchema>>;

/** Every kind of step by its name. */
export type StepByKind = { [Kind in Step['kind']]: Extract<Step, { kind: Kind }> };
