import { z } from 'zod';
import { namedUnion } from './named-union.ts';
import { findWrapProblem } from '../checks/assertion.ts';
import { createStepShapes, type Step, type StepByKind } from '../cases/step.ts';
import { serverUnderTest } from '../cases/step-server.ts';
import { parseAssertion, parseCheck, writtenAssertionSchema, writtenCheckSchema } from './assertion-schema.ts';
import { actionSchema, capture, toolArguments } from './assertion-values.ts';
import { type Finding } from './findings.ts';
import { quoteValue } from '../base/text.ts';
import { id } from './scalar-schemas.ts';
import { text, timeout, withIssueCode } from '../model/written-values.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

const stepId = id.meta({ id: 'step-id', description: 'Unique in the case; made when absent.' }).exactOptional();

const shapes = createStepShapes(
  {
    prompt: text.meta({ description: "The user's message to the model. Needs a model." }),
    serverName: text,
    serverId: text.meta({ not: {}, description: 'Not accepted; write `serverName`.' }),
    toolName: text.meta({ description: 'Name of the tool that is called, without a model.' }),
    widgetToolName: text.meta({ description: 'Name of the tool that is called, without a model.' }),
    arguments: toolArguments,
    renderTimeoutMs: z.int().min(0).max(120_000),
    action: actionSchema,
    capture,
  },
  writtenAssertionSchema,
);
const { toolName, renderTimeoutMs } = shapes.toolCall;
/** Optional in a file: the server defaults to the one under test, and arguments to none. */
const serverName = shapes.toolCall.serverName.exactOptional();
const toolArgs = shapes.toolCall.arguments.exactOptional();
const server = serverName.meta({ description: 'Name of the server, where the gate tests several.' });

/** The field of steps that have a result. */
const kept = { capture: capture.exactOptional() };

const fullForms = {
  prompt: z.strictObject({ ...shapes.prompt, id: stepId }),
  toolCall: z.strictObject({ ...shapes.toolCall, id: stepId, serverName, arguments: toolArgs }),
  interact: z.strictObject({ ...shapes.interact, id: stepId }),
  assert: z.strictObject({ ...shapes.assert, id: stepId }),
};

const shortForms = {
  prompt: z.strictObject({ prompt: shapes.prompt.prompt, id: stepId }),
  toolCall: z.strictObject({
    toolCall: toolName,
    id: stepId,
    arguments: toolArgs,
    server,
    renderTimeoutMs,
    capture: kept.capture,
  }),
  interact: z.strictObject({ interact: shapes.interact.toolName, id: stepId, action: shapes.interact.action }),
  assert: z.strictObject({ assert: shapes.assert.assertion, id: stepId }),
};

const bare = z.literal(true);
const uri = text.meta({ description: 'URI of a resource of the server.' });
const textArguments = z.record(z.string(), z.string()).meta({ description: 'Arguments by name; each is a text.' });

/** Steps that only the gate runs. They have only the short form. */
const ownForms = [
  z.strictObject({ readResource: uri, id: stepId, server, ...kept }),
  z.strictObject({
    getPrompt: text.meta({ description: 'Name of a prompt of the server.' }),
    id: stepId,
    server,
    arguments: textArguments.exactOptional(),
    ...kept,
  }),
  z
    .strictObject({
      complete: text.meta({ description: 'Name of the argument that is completed.' }),
      id: stepId,
      server,
      prompt: text.exactOptional().meta({ description: 'The prompt that has the argument.' }),
      resourceTemplate: text.exactOptional().meta({ description: 'The URI template that has the argument.' }),
      value: z
        .string()
        .exactOptional()
        .meta({ default: '', description: 'The text that the user has written so far.' }),
      arguments: textArguments.exactOptional(),
      ...kept,
    })
    .refine(
      ({ prompt, resourceTemplate }) => (prompt === undefined) !== (resourceTemplate === undefined),
      withIssueCode('bad-completion', 'A `complete` step has either a `prompt` or a `resourceTemplate`; write one'),
    ),
  z.strictObject({ listTools: bare, id: stepId, server, ...kept }),
  z.strictObject({ listResources: bare, id: stepId, server, ...kept }),
  z.strictObject({ listResourceTemplates: bare, id: stepId, server, ...kept }),
  z.strictObject({ listPrompts: bare, id: stepId, server, ...kept }),
  z.strictObject({ ping: bare, id: stepId, server }),
  z.strictObject({ subscribe: uri, id: stepId, server }),
  z.strictObject({
    waitForUpdate: uri.meta({ description: 'URI of a resource that an earlier step subscribes to.' }),
    id: stepId,
    server,
    within: timeout
      .exactOptional()
      .meta({ description: 'The longest time that the step waits for an update. Default: 10s.' }),
  }),
  z.strictObject({ wait: timeout.meta({ description: 'The time to wait.' }), id: stepId }),
  z.strictObject({
    command: z
      .array(z.string())
      .refine((words) => /\S/.test(words[0] ?? ''), withIssueCode('empty-command', 'A command has a program'))
      .meta({ minItems: 1, description: 'A program and its arguments, run without a shell.' }),
    id: stepId,
    exitCode: z.int().min(0).max(255).exactOptional().meta({ default: 0, description: 'The code that it ends with.' }),
    ...kept,
  }),
] as const;

type WrittenOwnStep = z.output<(typeof ownForms)[number]>;

/** Steps that a file may write as their name alone. */
const bareSteps = {
  listTools: { listTools: true },
  listResources: { listResources: true },
  listResourceTemplates: { listResourceTemplates: true },
  listPrompts: { listPrompts: true },
  ping: { ping: true },
} as const satisfies Record<string, WrittenOwnStep>;

const bareForm = z
  .enum(['listTools', 'listResources', 'listResourceTemplates', 'listPrompts', 'ping'])
  .transform((name): WrittenOwnStep => bareSteps[name]);

/** Assertions that can be judged repeatedly and without a model: no heuristic, judge or advisory assertion. */
const gatingSchema = writtenCheckSchema.superRefine((written, context) => {
  if (findWrapProblem('allOf', parseCheck(written)) === null) return;
  const message = 'Only an assertion that gates is allowed here, no heuristic and no judge';
  context.addIssue({ code: 'custom', message, params: { code: 'not-gating' } });
});
const gatingForm = z.strictObject({ assert: gatingSchema, id: stepId });

const maxRounds = 1000;
const defaultRounds = 10;
const defaultEveryMs = 1000;
const defaultWithinMs = 10_000;

const repeatableSchema = namedUnion([fullForms.toolCall, shortForms.toolCall, gatingForm, ...ownForms, bareForm])
  .superRefine((written, context) => {
    if (!('capture' in written)) return;
    const message =
      'A repeated step captures nothing; write `capture` next to `repeat`, for the result of its last step';
    context.addIssue({ code: 'custom', path: ['capture'], message, params: { code: 'repeated-capture', isKey: true } });
  })
  .meta({ id: 'repeated-step', title: 'step', description: 'A step that `repeat` may have.' });

const repeatForm = z.strictObject({
  repeat: z
    .array(repeatableSchema)
    .refine((steps) => steps.length > 0, withIssueCode('no-steps', 'A `repeat` has at least one step'))
    .meta({ minItems: 1, description: 'Steps that run again and again until an assertion holds.' }),
  id: stepId,
  until: gatingSchema,
  times: z.int().min(1).max(maxRounds).exactOptional().meta({ default: defaultRounds, description: 'Rounds at most.' }),
  every: timeout.exactOptional().meta({ description: 'The time between two rounds. Default: 1s.' }),
  ...kept,
});

/** A step in a file: the API's shape, recognized by its `kind`, or the short form, by its first key. */
const writtenStepSchema = namedUnion([
  ...Object.values(fullForms),
  ...ownForms,
  repeatForm,
  ...Object.values(shortForms),
  bareForm,
]).meta({ id: 'step', title: 'step', description: 'One step of a case; they run in order.' });

/** The limit of the API. */
const maxSteps = 200;

export const stepsSchema = z
  .array(writtenStepSchema)
  .refine((steps) => steps.length > 0, withIssueCode('no-steps', 'A case has at least one step; add one'))
  .refine((steps) => steps.length <= maxSteps, withIssueCode('too-many-steps', `A case has at most ${maxSteps} steps`))
  .meta({ minItems: 1, maxItems: maxSteps });

/** The steps of `setup` and `teardown`. None of them needs a model. */
export const fixtureStepsSchema = z
  .array(
    namedUnion([fullForms.toolCall, shortForms.toolCall, gatingForm, ...ownForms, repeatForm, bareForm]).meta({
      id: 'fixture-step',
      title: 'step',
      description: 'A step before or after those of a case.',
    }),
  )
  .refine((steps) => steps.length <= maxSteps, withIssueCode('too-many-steps', `At most ${maxSteps} steps`))
  .meta({ maxItems: maxSteps });

export type WrittenStep = z.output<typeof writtenStepSchema>;
type WrittenRepeatable = z.output<typeof repeatableSchema>;
type RepeatedStep = StepByKind['repeat']['steps'][number];

/** Turns the steps of a case into the API's shape. A step without an id gets `step-<position>`, or the next free number. */
export function parseSteps(written: readonly WrittenStep[], prefix = 'step'): Step[] {
  const taken = new Set(written.map((step) => step.id));
  return written.map((step, index) => {
    if (step.id !== undefined) return toStep(step, step.id);
    let number = index + 1;
    while (taken.has(`${prefix}-${number}`)) number += 1;
    taken.add(`${prefix}-${number}`);
    return toStep(step, `${prefix}-${number}`);
  });
}

/** The lists of steps that a suite or a case has. */
type StepLists = Partial<Record<'setup' | 'steps' | 'teardown', readonly WrittenStep[]>>;

/** Finds steps of a suite or a case that name a server by id. No service has assigned that id before the gate connects the server. */
export function findServerIds(
  { setup = [], steps = [], teardown = [] }: StepLists,
  document: SourceDocument,
  path: DocumentPath,
): Finding[] {
  return Object.entries({ setup, steps, teardown }).flatMap(([key, list]) =>
    findServerIdsIn(list, document, [...path, key]),
  );
}

function findServerIdsIn(written: readonly WrittenStep[], document: SourceDocument, path: DocumentPath): Finding[] {
  return written.flatMap((step, index) => {
    if ('repeat' in step) return findServerIdsIn(step.repeat, document, [...path, index, 'repeat']);
    if (!('serverId' in step) || step.serverId === undefined) return [];
    const message = `The id ${quoteValue(step.serverId)} of a server is unknown before the gate connects the server; remove \`serverId\`, and write the name of the server as \`serverName\` where there are several`;
    return [{ ...document.locateKey([...path, index, 'serverId']), code: 'server-id', message }];
  });
}

function toStep(written: WrittenStep, id: string): Step {
  if ('prompt' in written && !('complete' in written)) return { id, kind: 'prompt', prompt: written.prompt };
  if ('interact' in written) return { id, kind: 'interact', toolName: written.interact, action: written.action };
  if ('repeat' in written) {
    const { repeat, until, times = defaultRounds, every: everyMs = defaultEveryMs, id: _id, ...others } = written;
    // Ids in a file have no dot, so this id is free.
    const steps = repeat.map((step, index) => toRepeatable(step, step.id ?? `${id}.${index + 1}`));
    return { ...others, id, kind: 'repeat', steps, until: parseCheck(until), times, everyMs };
  }
  if ('kind' in written) {
    if (written.kind === 'interact') return { ...written, id };
    if (written.kind === 'assert') return { id, kind: 'assert', assertion: parseAssertion(written.assertion) };
  }
  return toRepeatable(written, id);
}

function toRepeatable(written: WrittenRepeatable, id: string): RepeatedStep {
  if ('assert' in written) return { id, kind: 'assert', assertion: parseAssertion(written.assert) };
  if ('toolCall' in written) {
    const { toolCall: toolName, server: serverName = serverUnderTest, arguments: args = {}, ...others } = written;
    return { ...others, id, kind: 'toolCall', serverName, toolName, arguments: args };
  }
  if (!('kind' in written)) return toOwnStep(written, id);
  return { serverName: serverUnderTest, arguments: {}, ...written, id };
}

function toOwnStep({ id: _id, ...written }: WrittenOwnStep, id: string): RepeatedStep {
  if ('wait' in written) return { id, kind: 'wait', ms: written.wait };
  if ('command' in written) return { exitCode: 0, ...written, id, kind: 'command' };
  const { server: serverName, ...asked } = written;
  const named = { id, ...(serverName !== undefined && { serverName }) };
  if ('readResource' in asked) {
    const { readResource, ...others } = asked;
    return { ...others, ...named, kind: 'readResource', uri: readResource };
  }
  if ('getPrompt' in asked) {
    const { getPrompt: name, arguments: args = {}, ...others } = asked;
    return { ...others, ...named, kind: 'getPrompt', name, arguments: args };
  }
  if ('complete' in asked) {
    const { complete: argument, prompt, resourceTemplate = '', value = '', arguments: args = {}, ...others } = asked;
    const of = prompt === undefined ? { resourceTemplate } : { prompt };
    return { ...others, ...named, kind: 'complete', argument, value, of, arguments: args };
  }
  if ('subscribe' in asked) return { ...named, kind: 'subscribe', uri: asked.subscribe };
  if ('waitForUpdate' in asked) {
    return { ...named, kind: 'waitForUpdate', uri: asked.waitForUpdate, withinMs: asked.within ?? defaultWithinMs };
  }
  if ('ping' in asked) return { ...named, kind: 'ping' };
  const { capture } = asked;
  const others = { ...named, ...(capture !== undefined && { capture }) };
  if ('listTools' in asked) return { ...others, kind: 'listTools' };
  if ('listResources' in asked) return { ...others, kind: 'listResources' };
  if ('listPrompts' in asked) return { ...others, kind: 'listPrompts' };
  return { ...others, kind: 'listResourceTemplates' };
}
