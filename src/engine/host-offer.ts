import type { DecoyTool, ToolPolicy } from '../cases/case.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { fillUnknown } from '../hosts/fill-unknown.ts';
import { findHost } from '../hosts/find-host.ts';
import type { HostProfile } from '../hosts/profile.ts';
import { type HostView, type ServedSurface, showSurface } from '../hosts/show-surface.ts';
import type { ToolList } from '../mcp/tool-declarations.ts';
import { formatHost } from '../model/format-host.ts';
import type { HostIdentity } from '../model/host-identity.ts';
import type { Surface } from '../model/surface.ts';
import type { ModelCall } from '../models/language-model.ts';
import { findNearest } from '../suite/findings.ts';
import { deferTools, type DeferredTools, offerSearch } from './host-search.ts';
import type { Connection } from './process-loss.ts';

/** The host that stands between the model of a case and its servers. */
export interface CaseHost {
  /** Its name and version, for sentences. */
  title: string;
  /** Facts that are unknown of the host are those of the gate's own loop. */
  profile: HostProfile;
}

/** What a host makes of the tools of a case. */
export interface HostOffer {
  host: CaseHost;
  tools: ModelCall['tools'];
  /** The server's name of each tool, by the name that the model calls it by. */
  names: ReadonlyMap<string, string>;
  /** The tools that the model has to search for; null if the host shows all at once. */
  deferred: DeferredTools | null;
}

/** Opens the host of a case; null if there is no profile of it. */
export function openHost(identity: HostIdentity): CaseHost | null {
  const profile = findHost(identity.id);
  return profile === undefined ? null : { title: formatHost(identity), profile: fillUnknown(profile) };
}

/** A server and its instructions as the host shows them; null if the model never sees any. */
interface ShownInstructions {
  name: string;
  instructions: string | null;
}

/** Shows the instructions of the servers as the host does, and says if they are a part of the system prompt. */
export function showInstructions(
  { profile }: CaseHost,
  { all }: Pick<Connection, 'all'>,
): { servers: ShownInstructions[]; isInSystemPrompt: boolean } {
  const served = all.map(({ target, session }) =>
    serve(target, { tools: null, instructions: session.instructions ?? undefined }),
  );
  const view = showSurface(profile, served);
  const servers = served.map(({ name }, index) => ({ name, instructions: view.instructions[index] ?? null }));
  const place = profile.instructions?.value.shown;
  return { servers, isInSystemPrompt: place !== 'message' && place !== 'reminder' };
}

/**
 * Shows the tools of the servers as the host does, with the decoys as tools of its own. `problem` is a sentence: the host makes something
 * of the servers with which no model can work, which is a failure of the servers and not of the model.
 */
export function showOffer(
  host: CaseHost,
  { all }: Pick<Connection, 'all'>,
  {
    lists,
    toolPolicy: { deny = [] },
    decoys,
    found,
  }: {
    lists: ReadonlyMap<string, ToolList>;
    toolPolicy: ToolPolicy;
    decoys: readonly DecoyTool[];
    /** The deferred tools that the model has found in this conversation. */
    found: Set<string>;
  },
): HostOffer | { problem: string } {
  const { title, profile } = host;
  const served = all.map(({ target }) => serve(target, { tools: lists.get(target.serverName) ?? null }));
  const view = showSurface(profile, served);
  const names = new Map<string, string>();
  const ofServers: ModelCall['tools'] = [];
  const declared = served.flatMap(({ surface }) => surface.tools);
  for (const [index, { name: shownAs, description, inputSchema }] of view.tools.entries()) {
    const toolName = declared[index]?.name;
    if (toolName === undefined || shownAs === null || deny.includes(toolName)) continue;
    const name = joinNamespace(profile, shownAs);
    const other = names.get(name);
    if (other !== undefined) {
      const both = `${printValue(other)} and ${printValue(toolName)}`;
      return { problem: clipReason(`${title} has one name for the tools ${both}: ${printValue(name)}.`) };
    }
    names.set(name, toolName);
    const schema = inputSchema ?? { type: 'object' };
    ofServers.push({ type: 'function', name, ...(description !== null && { description }), inputSchema: schema });
  }
  const problem = findProblem(host, view);
  if (problem !== null) return { problem };
  const deferred = deferTools(profile, ofServers, found);
  const deferral = profile.tools.deferral?.value;
  const characters = deferral?.kind === 'search' ? deferral.characters : 0;
  const tools = deferred === null ? ofServers : offerSearch(deferred, characters);
  for (const { name, description, inputSchema = { type: 'object' } } of decoys) {
    if (deny.includes(name)) continue;
    if (names.has(name) || tools.some((tool) => tool.name === name)) {
      return { problem: clipReason(`${title} has a tool ${printValue(name)}, as a decoy is named.`) };
    }
    tools.push({ type: 'function', name, ...(description !== undefined && { description }), inputSchema });
  }
  return { host, tools, names, deferred };
}

/** Explains to a model that it called a tool that the host does not have. */
export function describeNotShown(name: string, { host: { title }, names }: HostOffer): string {
  const missing = `${title} shows no tool ${printValue(name)}`;
  const nearest = findNearest(name, [...names.keys()]);
  return nearest === undefined ? `${missing}.` : `${missing}; did you mean ${printValue(nearest)}?`;
}

/** Names the server as the configuration of a host does. */
function serve(
  { serverName, shownName = serverName }: Connection['target'],
  { tools, instructions }: { tools: ToolList; instructions?: string | undefined },
): ServedSurface {
  const surface: Surface = {
    capabilities: {},
    ...(instructions !== undefined && { instructions }),
    tools: [...(tools ?? [])].map(([name, { description, inputSchema, outputSchema, isForModels, isForApps }]) => ({
      name,
      ...(description !== null && { description }),
      inputSchema,
      ...(outputSchema !== null && { outputSchema }),
      ...(!isForModels && { _meta: { ui: { visibility: isForApps ? ['app'] : [] } } }),
    })),
    prompts: [],
    resources: [],
    resourceTemplates: [],
  };
  return { name: shownName, surface };
}

/** Joins the namespace of a tool with its name, because the formats of providers here have no namespaces. */
function joinNamespace({ names }: HostProfile, shownAs: string): string {
  return names.value.namespace === null ? shownAs : shownAs.replace('.', '__');
}

/** Finds out if the host drops a whole server, or does not accept its tools; null if the model can work with what it sees. */
function findProblem({ title, profile }: CaseHost, { changes, tools }: HostView): string | null {
  const dropsServer = profile.schemas.refused?.value?.drops === 'server';
  const isNoneLeft = tools.every(({ state }) => state === 'unlisted');
  const found = changes.find(({ kind, fact: { path } }) => {
    if (kind === 'dropped') return isNoneLeft || (dropsServer && path === 'schemas.refused');
    return kind === 'refused' && path !== 'arguments';
  });
  if (found === undefined) return null;
  const detail = found.detail === null ? '' : `: ${found.detail}`;
  return clipReason(`${title} ${found.message}${detail}.`);
}
