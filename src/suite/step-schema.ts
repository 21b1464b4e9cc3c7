import { z } from 'zod';
import { actionSchema, parseAssertion, toolArguments, writtenAssertionSchema } from './assertion-schema.ts';
import { type Finding, quoteValue } from './findings.ts';
import { demand, id as idSchema, text } from './scalar-schemas.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import { createStepShapes, type Step } from '../model/step.ts';
import { serverUnderTest } from '../model/suite.ts';

const id = idSchema.exactOptional().meta({ description: 'Unique in the case; made when absent.' });

const shapes = createStepShapes(
  {
    prompt: text.meta({ description: 'What the user says to the model. Needs a model.' }),
    serverName: text,
    serverId: text.meta({ not: {}, description: 'Not accepted; write `serverName`.' }),
    toolName: text.meta({ description: 'Name of the tool that is called, without a model.' }),
    widgetToolName: text.meta({ description: 'Name of the tool that is called, without a model.' }),
    arguments: toolArguments,
    renderTimeoutMs: z.int().min(0).max(120_000),
    action: actionSchema,
  },
  writtenAssertionSchema,
);
const { toolName, renderTimeoutMs } = shapes.toolCall;
/** A file may leave out the server, which is the one under test, and arguments. */
const serverName = shapes.toolCall.serverName.exactOptional();
const toolArgs = shapes.toolCall.arguments.exactOptional();

/** A step as a file may write it: the API's shape by its `kind`, or the short form by its first key. */
export const writtenStepSchema = z
  .union([
    z.strictObject({ ...shapes.prompt, id }),
    z.strictObject({ ...shapes.toolCall, id, serverName, arguments: toolArgs }),
    z.strictObject({ ...shapes.interact, id }),
    z.strictObject({ ...shapes.assert, id }),
    z.strictObject({ prompt: shapes.prompt.prompt, id }),
    z.strictObject({
      toolCall: toolName,
      id,
      arguments: toolArgs,
      server: serverName.meta({ description: 'Name of the server, where a suite has several.' }),
      renderTimeoutMs,
    }),
    z.strictObject({ interact: shapes.interact.toolName, id, action: shapes.interact.action }),
    z.strictObject({ assert: shapes.assert.assertion, id }),
  ])
  .meta({ id: 'step', title: 'step', description: 'One step of a case; they run in order.' });

/** The API's limit. */
const maxSteps = 200;

export const stepsSchema = z
  .array(writtenStepSchema)
  .refine((steps) => steps.length > 0, demand('no-steps', 'A case has at least one step'))
  .refine((steps) => steps.length <= maxSteps, demand('too-many-steps', `A case has at most ${maxSteps} steps`))
  .meta({ minItems: 1, maxItems: maxSteps });

export type WrittenStep = z.output<typeof writtenStepSchema>;

/** Turns the steps of a case into the API's shape; those without an id get `step-<position>`, or the next free one. */
export function parseSteps(written: readonly WrittenStep[]): Step[] {
  const taken = new Set(written.map((step) => step.id));
  return written.map((step, index) => {
    if (step.id !== undefined) return toStep(step, step.id);
    let number = index + 1;
    while (taken.has(`step-${number}`)) number += 1;
    taken.add(`step-${number}`);
    return toStep(step, `step-${number}`);
  });
}

/** Finds the steps of a case that name a server by an id, which no service has given out before the gate connects the server. */
export function findServerIds(
  written: readonly WrittenStep[],
  document: SourceDocument,
  path: DocumentPath,
): Finding[] {
  return written.flatMap((step, index) => {
    if (!('serverId' in step) || step.serverId === undefined) return [];
    const message = `The id ${quoteValue(step.serverId)} of a server is unknown before the gate connects the server; remove \`serverId\`, and write the name of the server as \`serverName\` where there are several`;
    return [{ ...document.locateKey([...path, index, 'serverId']), code: 'server-id', message }];
  });
}

function toStep(written: WrittenStep, id: string): Step {
  if ('prompt' in written) return { id, kind: 'prompt', prompt: written.prompt };
  if ('assert' in written) return { id, kind: 'assert', assertion: parseAssertion(written.assert) };
  if ('interact' in written) return { id, kind: 'interact', toolName: written.interact, action: written.action };
  if ('toolCall' in written) {
    const { toolCall, server = serverUnderTest, arguments: args = {}, renderTimeoutMs } = written;
    const timeout = renderTimeoutMs === undefined ? {} : { renderTimeoutMs };
    return { id, kind: 'toolCall', serverName: server, toolName: toolCall, arguments: args, ...timeout };
  }
  if (written.kind === 'assert') return { id, kind: 'assert', assertion: parseAssertion(written.assertion) };
  if (written.kind === 'toolCall') return { serverName: serverUnderTest, arguments: {}, ...written, id };
  return { ...written, id };
}
