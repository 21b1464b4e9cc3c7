import { z } from 'zod';

/**
 * One operation of the eval API, described once. The typed client, the `api` command, the routes of the embedded service and its
 * OpenAPI document all build on this description.
 */
export interface Operation<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodType = z.ZodType,
  Cursor extends CursorPlace | undefined = CursorPlace | undefined,
> {
  /** As the API's inventory names it, such as `listTools`. */
  name: string;
  /** What the operation does, one sentence in the third person: "Lists the servers of a project." */
  summary: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base URL; ids are in braces: `/projects/{projectId}/servers/{serverId}`. */
  path: Path;
  /** Numbers and booleans travel as their text. */
  query: Query;
  /** What a caller may send; a closed object unless the API takes any. The empty one: the body is absent or `{}`. */
  body: Body;
  /** What the service answers, read tolerantly: unknown fields, codes and statuses pass. */
  answer: Answer;
  status: 200 | 201 | 202;
  /** The statuses of the refusals that the API lists for the operation. */
  errors: readonly number[];
  /** Who may call it: `public` needs no key; `member` is the default; `admin` needs that role in the project's organization. */
  right?: 'public' | 'member' | 'admin';
  /** Whether the literal `default` stands for the first project of the key's organization. */
  hasDefaultProject?: boolean;
  /** Where the cursor of the next page goes; absent where the whole list comes at once, or no list comes. */
  cursor?: Cursor;
  /** Whether calling it twice is the same as calling it once. True of GET and DELETE (RFC 9110 §9.2.2). */
  isRepeatable?: boolean;
  /** Whether the service connects to MCP servers or models before it answers, which takes up to minutes. */
  isSlow?: boolean;
  /** Fields of the answer that hold secrets: the `api` command hides them without `--show-secrets`. */
  secrets?: readonly string[];
  /** What the embedded service needs for it beyond its store; nothing unless given. */
  needs?: 'a model' | 'a container engine' | 'a browser';
}

/**
 * Where a request says which page it wants. `headers`: the request says it in the query, the answer names the next page in its
 * headers, and each answer as a whole is a page.
 */
export type CursorPlace = 'query' | 'body' | 'headers';

/** The query or the body of an operation that takes none. */
export const none = z.strictObject({});

/** Keeps the literal types of a description. */
export function describeOperation<
  const Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
  const Cursor extends CursorPlace | undefined = undefined,
>(operation: Operation<Path, Query, Body, Answer, Cursor>): Operation<Path, Query, Body, Answer, Cursor> {
  return operation;
}

/** The names in braces of a path, in their order. */
export function listPathFields(path: string): string[] {
  return [...path.matchAll(/\{(?<name>\w+)\}/g)].flatMap(({ groups }) => groups?.['name'] ?? []);
}
