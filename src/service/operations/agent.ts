import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

/** Limits of the API. */
const maxMessages = 50;
const maxMessageLength = 8000;
const maxMessageBytes = 8192;
const maxHistoryBytes = 98_304;

const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z
    .string()
    .min(1)
    .max(maxMessageLength)
    .refine((text) => Buffer.byteLength(text) <= maxMessageBytes, `Expected at most ${maxMessageBytes} bytes`),
});

const conversationId = z.string().min(1).max(64).exactOptional();

/** An open object, as in the API: unknown fields are ignored. */
const turnSchema = z.object({
  messages: z
    .array(messageSchema)
    .min(1)
    .max(maxMessages)
    .refine((messages) => countBytes(messages) <= maxHistoryBytes, `Expected at most ${maxHistoryBytes} bytes in total`)
    .refine((messages) => messages.at(-1)?.role === 'user', 'Expected a message of the user at the end'),
  /** ASCII only, because it is sent on as a header. */
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\x20-\x7e]+$/, 'Expected printable ASCII')
    .exactOptional(),
  /** The conversation in which a person can approve actions. Without it, the model is offered nothing that needs approval. */
  conversationId,
  slackChannelId: conversationId,
});

function countBytes(messages: ReadonlyArray<z.infer<typeof messageSchema>>): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
}

const openObjects = z.array(z.looseObject({}));

/** Turns of a model that can use the operations of a project and the tools of its servers. */
export const agentOperations = nameOperations({
  runAgentTurn: defineOperation({
    summary: 'Answers a conversation with the help of the operations and the servers of a project.',
    method: 'POST',
    path: `${projectPath}/agent`,
    query: none,
    body: turnSchema,
    answer: z.object({
      reply: z.string(),
      toolCalls: openObjects,
      createdResources: openObjects,
      proposedActions: openObjects,
      usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
    }),
    status: 200,
    errors: [400, 401, 422, 429, 500, 504],
    isSlow: true,
    needs: 'a model',
  }),
  executeProposedAction: defineOperation({
    summary: 'Approves an action that a turn of the agent proposed, and executes it, once.',
    method: 'POST',
    path: `${projectPath}/proposed-actions/{actionId}/execute`,
    query: none,
    body: none,
    answer: z.object({
      actionId: z.string(),
      operation: z.string(),
      status: z.string(),
      kind: z.string(),
      result: z.unknown(),
    }),
    status: 200,
    errors: [400, 401, 403, 404, 409, 422, 429, 500, 502, 504],
    isSlow: true,
  }),
});
