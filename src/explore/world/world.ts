import { appendAll } from '../../base/lists.ts';
import { isRecord, isTooDeep, type JsonObject } from '../../base/json.ts';
import { readToolResult } from '../../mcp/tasks.ts';
import { classifyCallFault } from '../../mcp/faults.ts';
import type { Handshake } from '../../mcp/protocol.ts';
import { hasNoEffects, type Observation, type Outcome, type Unexplored, type AddedFiles } from '../exploration.ts';
import type { ExploredRequest, ToolRequest } from '../../model/explored-request.ts';
import type { Connection } from './connection.ts';
import type { CallReply, Reply } from './reply.ts';
import { hidePaths, showPaths } from '../../workspace/placeholders.ts';
import { fillReferences, toObject, type WorldPaths } from './placeholders.ts';
import { putBack, readStarted } from './put-back.ts';
import { writeRequest } from './write-request.ts';
import { compareSnapshots, type Snapshot, takeSnapshot } from './snapshot.ts';
import type { Ability } from '../../model/client-abilities.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** A server process in a new copy of the workspace. Disposing it ends the process and removes its directories. */
export interface World extends AsyncDisposable {
  readonly handshake: Handshake;
  readonly capabilities: JsonObject;
  /** The first line on stdout that is no message and came before the first request; null if there is none. */
  readonly startNoise: string | null;
  /** True if the process has ended, or no longer answers. */
  readonly isLost: boolean;
  /** Checks if the world had this file, or directory, when it was new. */
  hadFile(path: string): boolean;
  /** Begins a session: references count its steps from here, after those with these results. */
  beginSession(results?: readonly unknown[]): void;
  /** The results of the requests of the session so far, as the server gave them. */
  readonly results: readonly unknown[];
  /** Puts the files of the workspace back as they were when the world was new; false if that is not possible. */
  restoreFiles(): Promise<boolean>;
  send(request: ExploredRequest): Promise<Observation>;
  /** Requests a whole list, such as `tools/list`, page by page; null if the server does not answer with one. */
  list(method: ListMethod, key: string): Promise<JsonObject[] | null>;
}

/** The settings in which worlds differ. */
export interface WorldVariant {
  /** A part of the path, so that paths have another length. */
  folder: string;
  /** The time zone; null for that of this machine. */
  timeZone: string | null;
  /** The days by which the clock is ahead, where the server runs in Node.js; a fraction moves the time of day. */
  daysAhead: number;
  /** True for a workspace without the files of the user. */
  isForeign: boolean;
  /** True for a workspace on another file system, where the machine has one. */
  isElsewhere?: boolean;
  /** The abilities that the client offers the server; all unless given. */
  offers?: readonly Ability[];
}

export const firstVariant: WorldVariant = { folder: 'w', timeZone: null, daysAhead: 0, isForeign: false };

/** Opens new worlds. */
export interface WorldSource extends AsyncDisposable {
  readonly sandbox: 'none' | 'isolated' | 'confined';
  /** True if all worlds share one server and its state. */
  readonly isShared: boolean;
  /** True if the server is started with the path of the workspace, so that files outside of it are none of its business. */
  readonly isGivenWorkspace: boolean;
  /** The files of each world, and what was added to generated ones for this server, once a world was opened; absent where the server has its own. */
  readonly files?: { workspace: Workspace; added: readonly AddedFiles[] };
  /** The parts of an exploration that these worlds do not allow, with the reason. */
  readonly missing: readonly Unexplored[];
  /** @throws if the server does not start */
  open(variant: WorldVariant): Promise<World>;
}

/** The most pages of a list. A server can return a cursor forever. */
const maxPages = 50;

/** A server that lists nothing in this time lists nothing. */
const listTimeoutMs = 30_000;

/** Puts a connection and the directories of its process together. `dispose` removes the directories, and `files` were copied into the workspace. */
export async function createWorld(
  connection: Connection,
  paths: WorldPaths,
  { files: ofWorkspace, dispose }: { files: Workspace; dispose: () => Promise<void> },
): Promise<World> {
  const first: Snapshot = await takeSnapshot(paths.workspace);
  const started = await readStarted(paths.workspace, first, ofWorkspace);
  let snapshot = first;
  let results: unknown[] = [];
  let isLost = false;
  const startNoise = hidePaths(connection.takeNoise(), paths);
  const callTool = async ({ tool, arguments: args, asTask }: ToolRequest): Promise<CallReply> => {
    const params = { name: tool, arguments: args };
    return asTask === true ? await connection.callAsTask(params) : await connection.request('tools/call', params);
  };
  const sendOther = async (request: Exclude<ExploredRequest, ToolRequest>): Promise<Reply> => {
    const { method, params } = writeRequest(request);
    return await connection.request(method, params);
  };
  return {
    handshake: connection.handshake,
    capabilities: connection.capabilities,
    startNoise,
    get isLost() {
      return isLost || connection.hasEnded;
    },
    hadFile: (path) => first.has(path),
    beginSession: (earlier = []) => {
      results = [...earlier];
    },
    get results() {
      return results;
    },
    restoreFiles: async () => {
      await putBack(paths.workspace, { first, now: snapshot, files: ofWorkspace, started });
      snapshot = await takeSnapshot(paths.workspace, snapshot);
      return hasNoEffects(compareSnapshots(first, snapshot));
    },
    send: async (request) => {
      // What it asked before belongs to no request.
      connection.takeAsked();
      const filled = fillReferences(showPaths(request, paths), results);
      const reply = filled.kind === 'tool' ? await callTool(filled) : await sendOther(filled);
      results.push(reply.kind === 'response' ? reply.response.result : undefined);
      isLost ||= reply.kind !== 'response';
      const after = await takeSnapshot(paths.workspace, snapshot);
      const files = compareSnapshots(snapshot, after);
      snapshot = after;
      const { outcome, noise, asked } = hidePaths(
        { outcome: readOutcome(request.kind, reply), noise: connection.takeNoise(), asked: connection.takeAsked() },
        paths,
      );
      return { outcome, files, noise, ...(asked.length > 0 && { asked }) };
    },
    list: async (method, key) => {
      const items: JsonObject[] = [];
      let cursor: unknown;
      for (let page = 0; page < maxPages; page += 1) {
        const reply = await connection.request(method, typeof cursor === 'string' ? { cursor } : {}, listTimeoutMs);
        const result = reply.kind === 'response' ? reply.response.result : undefined;
        if (!isRecord(result) || !Array.isArray(result[key])) return page === 0 ? null : items;
        appendAll(items, hidePaths(result[key].filter(isRecord), paths));
        cursor = result['nextCursor'];
        if (typeof cursor !== 'string') return items;
      }
      return items;
    },
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await dispose();
    },
  };
}

/** The list that a result must have, by the kind of its request. Results of tools are checked as a whole. */
const requiredLists = {
  resource: ['contents'],
  prompt: ['messages'],
  completion: ['completion', 'values'],
} as const;

function readOutcome(kind: ExploredRequest['kind'], reply: CallReply): Outcome {
  if (reply.kind === 'malformed') return reply;
  if (reply.kind === 'ended') {
    const { code, signal, lastLines } = reply.exit;
    return { kind: 'ended', exitCode: code, signal, lastLines };
  }
  if (reply.kind === 'silent') return { kind: 'silent', isAlive: reply.isAlive };
  const { result, error } = reply.response;
  if (error !== null) return { kind: 'error', code: error.code, message: error.message };
  return readResult(kind, result);
}

/** Reads the result of a request; `malformed` if it is none. */
export function readResult(kind: ExploredRequest['kind'], result: unknown): Outcome {
  if (isTooDeep(result)) return { kind: 'malformed', message: 'it is nested too deeply' };
  if (kind !== 'tool') {
    const path = requiredLists[kind];
    const list = path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), result);
    return isRecord(result) && Array.isArray(list)
      ? { kind: 'result', isError: false, result }
      : { kind: 'malformed', message: `/${path.join('/')}: expected array` };
  }
  try {
    const { isError = false } = readToolResult(result, 'tools/call');
    return { kind: 'result', isError, result: dropMeta(toObject(result)) };
  } catch (error) {
    return { kind: 'malformed', message: classifyCallFault(error).message };
  }
}

/** Leaves out the metadata for the client's program, such as related tasks. */
function dropMeta(result: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(result).filter(([name]) => name !== '_meta'));
}
