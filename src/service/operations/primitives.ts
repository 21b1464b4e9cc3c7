import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { serverPath } from '../paths.ts';

const errors = [400, 401, 403, 404, 422, 429, 500, 502, 504];
const record = z.record(z.string(), z.unknown());
const items = z.array(record);
const cursorBody = z.object({ cursor: z.string().exactOptional() });
/** The MCP server defines the cursors. */
const page = z.object({ items, nextCursor: z.string().nullish() });

/** Primitives of an MCP server: tools, prompts and resources, as the server answers. */
export const primitiveOperations = nameOperations({
  listTools: defineOperation({
    summary: 'Lists the tools of an MCP server, a page at a time.',
    method: 'POST',
    path: `${serverPath}/tools`,
    query: none,
    body: cursorBody,
    answer: page,
    status: 200,
    errors,
    cursor: 'body',
    isRepeatable: true,
    isSlow: true,
  }),
  listPrompts: defineOperation({
    summary: 'Lists the prompts of an MCP server, a page at a time.',
    method: 'POST',
    path: `${serverPath}/prompts`,
    query: none,
    body: cursorBody,
    answer: page,
    status: 200,
    errors,
    cursor: 'body',
    isRepeatable: true,
    isSlow: true,
  }),
  listResources: defineOperation({
    summary: 'Lists the resources of an MCP server, a page at a time.',
    method: 'POST',
    path: `${serverPath}/resources`,
    query: none,
    body: cursorBody,
    answer: page,
    status: 200,
    errors,
    cursor: 'body',
    isRepeatable: true,
    isSlow: true,
  }),
  readResource: defineOperation({
    summary: 'Reads a resource of an MCP server.',
    method: 'POST',
    path: `${serverPath}/resources/read`,
    query: none,
    body: z.object({ uri: z.string().min(1) }),
    answer: z.looseObject({ contents: items }),
    status: 200,
    errors,
    isRepeatable: true,
    isSlow: true,
  }),
  callTool: defineOperation({
    summary: 'Calls a tool of an MCP server once. A result with `isError` is a success of the operation.',
    method: 'POST',
    path: `${serverPath}/tools/call`,
    query: none,
    body: z.object({ toolName: z.string().min(1), parameters: record.exactOptional() }),
    answer: z.looseObject({
      content: items,
      structuredContent: z.unknown().optional(),
      isError: z.boolean().nullish(),
    }),
    status: 200,
    errors,
    isSlow: true,
  }),
  getPrompt: defineOperation({
    summary: 'Renders a prompt of an MCP server.',
    method: 'POST',
    path: `${serverPath}/prompts/get`,
    query: none,
    body: z.object({ promptName: z.string().min(1), arguments: z.record(z.string(), z.string()).exactOptional() }),
    answer: z.looseObject({ description: z.string().nullish(), messages: items }),
    status: 200,
    errors,
    isRepeatable: true,
    isSlow: true,
  }),
  exportServer: defineOperation({
    summary: 'Takes a snapshot of everything that an MCP server lists.',
    method: 'POST',
    path: `${serverPath}/export`,
    query: none,
    body: z.looseObject({}),
    /** `exportedAt` is in ISO 8601. */
    answer: z.object({
      serverId: z.string(),
      exportedAt: z.string(),
      tools: items,
      resources: items,
      prompts: items,
    }),
    status: 200,
    errors,
    isRepeatable: true,
    isSlow: true,
  }),
});
