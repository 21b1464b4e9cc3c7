import { z } from 'zod';
import { shortenPath } from '../paths.ts';

/** An operation without its name, which is its key in the table of its area. */
interface OperationDefinition<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodType = z.ZodType,
  Cursor extends CursorPlace | undefined = CursorPlace | undefined,
> {
  /** A sentence in the third person: "Lists the servers of a project." */
  summary: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below the base URL, with ids in braces: `/projects/{projectId}/servers/{serverId}`. */
  path: Path;
  /** The query. Numbers and booleans are sent as text. */
  query: Query;
  /** The body; a closed object unless the API accepts unknown fields. With an empty schema, the body is absent or `{}`. */
  body: Body;
  /** The answer. Unknown fields, codes and statuses are accepted. */
  answer: Answer;
  status: 200 | 201 | 202;
  /** The statuses with which the API may refuse the operation. */
  errors: readonly number[];
  /**
   * The right that a caller needs: `public` needs no key; `member` is the default; `admin` needs that role in the project's organization.
   */
  right?: 'public' | 'member' | 'admin';
  /** True if the literal `default` stands for the first project of the key's organization. */
  hasDefaultProject?: boolean;
  /** The part of the request with the cursor of the next page. Absent if the operation returns no list, or the whole list at once. */
  cursor?: Cursor;
  /** True if calling it twice has the same effect as calling it once. GET and DELETE are always repeatable (RFC 9110 §9.2.2). */
  isRepeatable?: boolean;
  /** True if the service connects to MCP servers or models before it answers, which may take minutes. */
  isSlow?: boolean;
  /** Fields of the answer that hold secrets. The `api` command hides them without `--show-secrets`. */
  secrets?: readonly string[];
  /** True if the path also works without the project. */
  hasShortPath?: boolean;
  /** The resource that the embedded service needs for it in addition to its store. Default: none. */
  needs?: 'a model' | 'a container engine' | 'a browser';
}

/**
 * One operation of the eval API. The typed client, the `api` command, the routes of the embedded service and its OpenAPI document all use
 * this description.
 */
export interface Operation<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodType = z.ZodType,
  Cursor extends CursorPlace | undefined = CursorPlace | undefined,
> extends OperationDefinition<Path, Query, Body, Answer, Cursor> {
  /** The name in the API's inventory, such as `listTools`. */
  name: string;
}

/**
 * The location of the cursor. With `headers`, the request has it in the query, the answer has the cursor of the next page in its headers,
 * and each answer as a whole is a page.
 */
export type CursorPlace = 'query' | 'body' | 'headers';

/** The query or body of an operation without fields. */
export const none = z.strictObject({});

/** Returns the description unchanged, and keeps its literal types. */
export function defineOperation<
  const Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
  const Cursor extends CursorPlace | undefined = undefined,
>(
  operation: OperationDefinition<Path, Query, Body, Answer, Cursor>,
): OperationDefinition<Path, Query, Body, Answer, Cursor> {
  return operation;
}

/** The operations of a table of definitions. */
type NamedOperations<Definitions> = {
  readonly [Name in keyof Definitions]: Definitions[Name] extends OperationDefinition<
    infer Path,
    infer Query,
    infer Body,
    infer Answer,
    infer Cursor
  >
    ? Operation<Path, Query, Body, Answer, Cursor>
    : never;
};

/** Names each operation of an area after its key. */
export function nameOperations<Definitions extends Readonly<Record<string, OperationDefinition>>>(
  definitions: Definitions,
): NamedOperations<Definitions> {
  const named = Object.entries(definitions).map(([name, definition]) => [name, { name, ...definition }]);
  return Object.fromEntries(named);
}

/** Lists the path of an operation, and its short path if it has one. */
export function listPaths({ path, hasShortPath }: Pick<Operation, 'path' | 'hasShortPath'>): string[] {
  return [path, ...(hasShortPath === true ? [shortenPath(path)] : [])];
}

/** Lists the names in braces of a path, in order. */
export function listPathFields(path: string): string[] {
  return [...path.matchAll(/\{(?<name>\w+)\}/g)].flatMap(({ groups }) => groups?.['name'] ?? []);
}
