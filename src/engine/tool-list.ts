import type { Session, Target } from '../mcp/session.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import type { WitnessedEnd } from '../model/process-end.ts';
import { findNearest } from '../suite/findings.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { clipReason, printValue } from '../checks/reasons.ts';

export type ToolLookup =
  | ({ kind: 'listed' } & ToolDeclaration)
  /** `tools/list` does not contain the tool. `reason` is a sentence that names the most similar tool. */
  | { kind: 'missing'; reason: string }
  | UnusableList;

/** Why there is no list of tools. */
export type UnusableList =
  /** A live server returned no usable list. */
  | { kind: 'refused'; reason: string }
  /** The server did not answer. */
  | { kind: 'unreachable'; message: string }
  /** The server did not answer, because its process ended. */
  | { kind: 'lost'; witnessed: WitnessedEnd };

/**
 * The lists that sessions of a run share, because each list costs a request. A session uses the shared list as long as it has the tools
 * that it calls. Lists are kept by offer, because a server may show more tools to clients that offer more.
 */
const sharedLists = new WeakMap<Target, Map<string, ToolList>>();
/** The list of each session, valid until the server reports a change. */
const sessionLists = new WeakMap<Session, { list: ToolList; changes: number }>();

/** Returns a list that needs no request. Uses the shared list of other sessions, unless the tools of this session have changed. */
function findKnownList({ session, target }: Connection, { ofSession = false } = {}): ToolList | undefined {
  const own = sessionLists.get(session);
  const { toolListChanges, offered } = session;
  if (own?.changes === toolListChanges) return own.list;
  return ofSession || toolListChanges > 0 ? undefined : findSharedList(target, offered);
}

/** The largest number of names in a message, if none is similar. */
const maxNames = 5;

/**
 * Finds out if the server lists a tool, on any page of `tools/list`. Before it reports a tool as missing, it requests the list again,
 * because tools can appear during a session and differ between sessions. With `ofSession`, it ignores lists of other sessions.
 *
 * @throws the signal's reason once it aborts.
 */
export async function lookUpTool(
  toolName: string,
  connection: Connection,
  { ofSession = false }: { ofSession?: boolean } = {},
): Promise<ToolLookup> {
  const found = findKnownList(connection, { ofSession })?.get(toolName);
  if (found !== undefined) return { kind: 'listed', ...found };
  const listing = await requestList(connection);
  if (listing.kind !== 'list') return listing;
  const { list } = listing;
  const listed = list?.get(toolName);
  return listed === undefined
    ? { kind: 'missing', reason: clipReason(describeMissing(toolName, list)) }
    : { kind: 'listed', ...listed };
}

/**
 * Lists the tools of the server, from all pages. Uses the list that this session, or an earlier session of the run, received.
 *
 * @throws the signal's reason once it aborts.
 */
export async function listTools(connection: Connection): Promise<{ kind: 'list'; list: ToolList } | UnusableList> {
  const known = findKnownList(connection);
  return known === undefined ? await requestList(connection) : { kind: 'list', list: known };
}

/** The tools of all servers of an iteration. Tool names are unique among the servers. */
export interface AllTools {
  kind: 'list';
  list: ToolList;
  /** Each server's list, by server name. */
  lists: ReadonlyMap<string, ToolList>;
  /** The connection of each tool's server, by tool name. */
  owners: ReadonlyMap<string, Connection>;
}

/**
 * Lists the tools of all servers of the iteration for a model, and maps each tool to its server.
 *
 * @throws the signal's reason once it aborts.
 */
export async function listAllTools({ all }: Connection): Promise<AllTools | UnusableList> {
  const owners = new Map<string, Connection>();
  const lists = new Map<string, ToolList>();
  for (const connection of all) {
    const listing = await listTools(connection);
    if (listing.kind !== 'list') return listing;
    lists.set(connection.target.serverName, listing.list);
    for (const name of listing.list?.keys() ?? []) {
      const other = owners.get(name);
      if (other !== undefined) return { kind: 'refused', reason: describeClash(name, [other, connection]) };
      owners.set(name, connection);
    }
  }
  const [only = null, ...others] = lists.values();
  const list = others.length === 0 ? only : new Map([...lists.values()].flatMap((each) => [...(each ?? [])]));
  return { kind: 'list', list, lists, owners };
}

function describeClash(toolName: string, connections: readonly Connection[]): string {
  const names = connections.map(({ target }) => printValue(target.serverName)).join(' and ');
  return `The servers ${names} both list a tool ${printValue(toolName)}, so that a call of it could mean either.`;
}

/**
 * Names two servers of a case that list a tool with the same name; null if there are none. The names must be unique, because assertions and
 * models name a tool without its server.
 */
export function findToolClash(
  title: string,
  servers: ReadonlyArray<{ name: string; tools: Iterable<string> }>,
): string | null {
  const owners = new Map<string, string>();
  for (const { name, tools } of servers) {
    for (const tool of tools) {
      const other = owners.get(tool);
      if (other !== undefined) {
        return `Case ${JSON.stringify(title)} uses the servers ${JSON.stringify(other)} and ${JSON.stringify(name)}, which both list a tool ${JSON.stringify(tool)}; rename it in one, or split the case so that each part uses one of them.`;
      }
      owners.set(tool, name);
    }
  }
  return null;
}

async function requestList(connection: Connection): Promise<{ kind: 'list'; list: ToolList } | UnusableList> {
  const { session, target, signal } = connection;
  const changes = session.toolListChanges;
  let list: ToolList;
  try {
    list = await session.listTools({ signal });
  } catch (error) {
    const fault = await explainFailedRequest(error, connection);
    if (fault.kind === 'lost' || fault.kind === 'unreachable') return fault;
    if (fault.kind === 'excessive') return { kind: 'refused', reason: fault.message };
    if (fault.kind === 'malformed') {
      const reason = `The server answered tools/list with a result that is not valid MCP: ${fault.message}.`;
      return { kind: 'refused', reason: clipReason(reason) };
    }
    const code = fault.code === null ? 'an unusable result' : `JSON-RPC error ${fault.code}`;
    const reason = clipReason(`The server answered tools/list with ${code}: ${printValue(fault.message)}.`);
    return { kind: 'refused', reason };
  }
  sessionLists.set(session, { list, changes });
  if (changes === 0) shareList(target, session.offered, list);
  return { kind: 'list', list };
}

/** Returns the first list that clients with this offer received; undefined if there is none yet. */
export function findSharedList(target: Target, offered: readonly string[]): ToolList | undefined {
  return sharedLists.get(target)?.get(offered.join());
}

/** Stores a list for the sessions of a run with the same offer, unless they already have one. */
export function shareList(target: Target, offered: readonly string[], list: ToolList): void {
  const lists = sharedLists.get(target) ?? new Map<string, ToolList>();
  sharedLists.set(target, lists);
  if (!lists.has(offered.join())) lists.set(offered.join(), list);
}

export function describeMissing(toolName: string, list: ToolList): string {
  const missing = `The server lists no tool ${printValue(toolName)}`;
  if (list === null) return `${missing}: it declares no tools capability.`;
  if (list.size === 0) return `${missing}: its list of tools is empty.`;
  const names = [...list.keys()];
  const nearest = findNearest(toolName, names);
  if (nearest !== undefined) return `${missing}; did you mean ${printValue(nearest)}?`;
  const others = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${missing}; it lists ${names
    .slice(0, maxNames)
    .map((name) => printValue(name))
    .join(', ')}${others}.`;
}
