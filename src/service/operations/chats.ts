import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

const text = z.string().nullish();
const timestampMs = z.number().nullish();

/** A conversation with the agent. */
export const chatSessionSchema = z.object({
  id: z.string(),
  title: text,
  /** `active` or `archived`. */
  status: text,
  projectId: text,
  /** `private` or `project`. */
  visibility: text,
  lastActivityAt: timestampMs,
  createdAt: timestampMs,
  isPinned: z.boolean().nullish(),
  isUnread: z.boolean().nullish(),
});

const link = z.object({ path: z.string(), url: z.string() }).nullish();

const chatboxSchema = z.object({
  id: z.string(),
  projectId: text,
  name: z.string(),
  description: text,
  /** `project_members`, `invited_only` or `anyone_with_link`. */
  mode: text,
  hostStyle: text,
  hostId: text,
  hostName: text,
  serverCount: z.number(),
  serverNames: z.array(z.string()),
  /** The URL of the chatbox. Anyone who has it can enter. */
  link,
  createdAt: timestampMs,
  updatedAt: timestampMs,
});
export type Chatbox = z.infer<typeof chatboxSchema>;

const chatboxDetailSchema = chatboxSchema.extend({
  modelId: text,
  systemPrompt: text,
  temperature: z.number().nullish(),
  requireToolApproval: z.boolean(),
  servers: z.array(z.object({ id: z.string(), name: z.string(), url: text, useOAuth: z.boolean() })),
});
export type ChatboxDetail = z.infer<typeof chatboxDetailSchema>;

/** Conversations with the agent, and chats published from a project. */
export const chatOperations = nameOperations({
  listChatSessions: defineOperation({
    summary: "Lists the caller's chat sessions and those that its projects share, the latest activity first.",
    method: 'GET',
    path: '/chat-sessions',
    query: z.object({
      projectId: z.string().exactOptional(),
      /** Default: `active`. */
      status: z.enum(['active', 'archived']).exactOptional(),
      limit: z.int().min(1).max(200).exactOptional(),
      /** The `nextCursor` of the previous page. */
      before: z.string().exactOptional(),
    }),
    body: none,
    answer: z.object({ items: z.array(chatSessionSchema), nextCursor: text }),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  listChatboxes: defineOperation({
    summary: 'Lists the chatboxes that are published from a project.',
    method: 'GET',
    path: `${projectPath}/chatboxes`,
    query: none,
    body: none,
    answer: z.object({ items: z.array(chatboxSchema), nextCursor: text }),
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
  getChatbox: defineOperation({
    summary: 'Gets the settings of a chatbox.',
    method: 'GET',
    path: `${projectPath}/chatboxes/{chatboxId}`,
    query: none,
    body: none,
    answer: chatboxDetailSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
});
