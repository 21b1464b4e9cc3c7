import { z } from 'zod';
import { locator, parseAssertion, toolArguments, writtenAssertionSchema } from './assertion-schema.ts';
import { type Finding, quoteValue } from './findings.ts';
import { demand, id, text } from './scalar-schemas.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import type { Step } from '../model/case.ts';
import { serverUnderTest } from '../model/suite.ts';

const stepId = id.exactOptional().meta({ description: 'Unique in the case; made when absent.' });

const actionSchema = z
  .union([
    z.strictObject({
      kind: z.literal('click'),
      target: locator,
      clickType: z.enum(['left', 'double', 'right']).exactOptional(),
    }),
    z.strictObject({ kind: z.literal('type'), target: locator, text: z.string().max(5000) }),
    z.strictObject({ kind: z.literal('key'), key: text }),
    z.strictObject({
      kind: z.literal('scroll'),
      direction: z.enum(['up', 'down']),
      amount: z.number().exactOptional(),
    }),
    z.strictObject({ kind: z.literal('wait'), ms: z.int().min(0).max(30_000) }),
  ])
  .meta({ id: 'action', title: 'action', description: 'What is done to the rendered widget.' });

const promptText = text.meta({ description: 'What the user says to the model. Needs a model.' });
const toolName = text.meta({ description: 'Name of the tool that is called, without a model.' });
const renderTimeoutMs = z.int().min(0).max(120_000).exactOptional();

/** A step as a file may write it: the API's shape by its `kind`, or the short form by its first key. */
export const writtenStepSchema = z
  .union([
    z.strictObject({ kind: z.literal('prompt'), id: stepId, prompt: promptText }),
    z.strictObject({
      kind: z.literal('toolCall'),
      id: stepId,
      serverName: text.exactOptional(),
      serverId: text.exactOptional().meta({ not: {}, description: 'Not accepted; write `serverName`.' }),
      toolName,
      arguments: toolArguments.exactOptional(),
      renderTimeoutMs,
    }),
    z.strictObject({ kind: z.literal('interact'), id: stepId, toolName, action: actionSchema }),
    z.strictObject({ kind: z.literal('assert'), id: stepId, assertion: writtenAssertionSchema }),
    z.strictObject({ prompt: promptText, id: stepId }),
    z.strictObject({
      toolCall: toolName,
      id: stepId,
      arguments: toolArguments.exactOptional(),
      server: text.exactOptional().meta({ description: 'Name of the server, where a suite has several.' }),
      renderTimeoutMs,
    }),
    z.strictObject({ interact: toolName, id: stepId, action: actionSchema }),
    z.strictObject({ assert: writtenAssertionSchema, id: stepId }),
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
