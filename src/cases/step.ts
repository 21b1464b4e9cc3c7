import { z } from 'zod';
import type { Assertion } from '../checks/assertion.ts';
import type { JsonObject } from '../base/json.ts';
import type { InteractAction } from '../model/widget.ts';
import type { Capture } from '../checks/captures.ts';

/** The schemas of the values of steps. The evals file and the wire differ only in these. */
export interface StepValues {
  /** The text of the user. */
  prompt: z.ZodType<string, string>;
  serverName: z.ZodType<string, string | undefined>;
  serverId: z.ZodType<string, string>;
  /** The tool that a `toolCall` step calls. */
  toolName: z.ZodType<string, string>;
  /** The tool whose widget an `interact` step acts on. */
  widgetToolName: z.ZodType<string, string>;
  arguments: z.ZodType<JsonObject, JsonObject>;
  renderTimeoutMs: z.ZodType<number, number>;
  action: z.ZodType<InteractAction>;
  /** Names the parts of the result that later steps use. */
  capture: z.ZodType<Record<string, Capture>, Record<string, Capture>>;
}

/** The fields of the API's steps, by `kind`, which is always the first field. Each step also has an `id`, unique within the case. */
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

const id = z.string().min(1);
const filled = z.string().min(1);
const texts = z.record(z.string(), z.string());
const milliseconds = z.int().min(1);
/** Absent if the step names no server. */
const server = { serverName: z.string().exactOptional() };

/** Steps that a hosted service does not know: everything that an iteration can do apart from the steps of the API. */
const createOwnSchemas = <Kept extends z.ZodRawShape>(kept: Kept) =>
  [
    z.strictObject({ id, kind: z.literal('readResource'), uri: filled, ...server, ...kept }),
    z.strictObject({ id, kind: z.literal('getPrompt'), name: filled, arguments: texts, ...server, ...kept }),
    z.strictObject({
      id,
      kind: z.literal('complete'),
      /** The name of the argument to complete; `value` is the text that the user has typed so far. */
      argument: filled,
      value: z.string(),
      /** The prompt or the resource template that has the argument. */
      of: z.union([z.strictObject({ prompt: filled }), z.strictObject({ resourceTemplate: filled })]),
      /** The other arguments and their values. */
      arguments: texts,
      ...server,
      ...kept,
    }),
    z.strictObject({ id, kind: z.literal('listTools'), ...server, ...kept }),
    z.strictObject({ id, kind: z.literal('listResources'), ...server, ...kept }),
    z.strictObject({ id, kind: z.literal('listResourceTemplates'), ...server, ...kept }),
    z.strictObject({ id, kind: z.literal('listPrompts'), ...server, ...kept }),
    z.strictObject({ id, kind: z.literal('ping'), ...server }),
    z.strictObject({ id, kind: z.literal('subscribe'), uri: filled, ...server }),
    z.strictObject({ id, kind: z.literal('waitForUpdate'), uri: filled, withinMs: milliseconds, ...server }),
    z.strictObject({ id, kind: z.literal('wait'), ms: milliseconds }),
    z.strictObject({
      id,
      kind: z.literal('command'),
      /** The program and its arguments; they do not pass through a shell. */
      command: z.array(z.string()).min(1),
      exitCode: z.int().min(0).max(255),
      ...kept,
    }),
  ] as const;

/** The schema of a step on the wire, which has no defaults. */
export function createStepSchema(values: StepValues, assertion: z.ZodType<Assertion>) {
  const shapes = createStepShapes(values, assertion);
  const toolCall = z.strictObject({ id, ...shapes.toolCall });
  const assert = z.strictObject({ id, ...shapes.assert });
  const kept = { capture: values.capture.exactOptional() };
  const ownSchemas = createOwnSchemas(kept);
  return z.discriminatedUnion('kind', [
    z.strictObject({ id, ...shapes.prompt }),
    toolCall,
    z.strictObject({ id, ...shapes.interact }),
    assert,
    ...ownSchemas,
    z.strictObject({
      id,
      kind: z.literal('repeat'),
      steps: z.array(z.discriminatedUnion('kind', [toolCall, assert, ...ownSchemas])).min(1),
      until: assertion,
      /** The largest number of rounds. */
      times: z.int().min(1),
      everyMs: milliseconds,
      ...kept,
    }),
  ]);
}

/** One step of a case, in the API's own shape. */
export type Step = z.infer<ReturnType<typeof createStepSchema>>;

/** Maps each kind of step to its type. */
export type StepByKind = { [Kind in Step['kind']]: Extract<Step, { kind: Kind }> };

const apiKinds: ReadonlySet<Step['kind']> = new Set(['prompt', 'toolCall', 'interact', 'assert']);

/** Checks if a hosted service does not know this kind of step. */
export function isOwnStep({ kind }: Step): boolean {
  return !apiKinds.has(kind);
}

/** The kinds of steps that make one request to the server that is not a tool call. */
export const requestKinds = [
  'readResource',
  'getPrompt',
  'complete',
  'listTools',
  'listResources',
  'listResourceTemplates',
  'listPrompts',
  'ping',
] as const satisfies ReadonlyArray<Step['kind']>;
export type RequestStep = StepByKind[(typeof requestKinds)[number]];

const requestKindNames: ReadonlySet<Step['kind']> = new Set(requestKinds);

export function isRequestStep(step: Step): step is RequestStep {
  return requestKindNames.has(step.kind);
}

/** Lists steps, with each `repeat` step replaced by the steps that it repeats. */
export function listInnerSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => (step.kind === 'repeat' ? step.steps : [step]));
}

/** The steps that send a request to a server, or wait for its update. */
export type ServerStep = StepByKind['toolCall' | 'subscribe' | 'waitForUpdate'] | RequestStep;

export function isServerStep(step: Step): step is ServerStep {
  const { kind } = step;
  return kind === 'toolCall' || kind === 'subscribe' || kind === 'waitForUpdate' || isRequestStep(step);
}

/** Applies `change` to the step if it talks to a server, or to the inner steps of a `repeat` step that do. */
export function mapServerSteps(step: Step, change: <Asking extends ServerStep>(asking: Asking) => Asking): Step {
  if (isServerStep(step)) return change(step);
  if (step.kind !== 'repeat') return step;
  return { ...step, steps: step.steps.map((inner) => (isServerStep(inner) ? change(inner) : inner)) };
}
