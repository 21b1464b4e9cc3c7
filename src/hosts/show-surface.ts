import { isRecord, type JsonObject } from '../base/json.ts';
import { formatCount, listSome } from '../base/text.ts';
import type { HostChange, ToolState } from '../model/hosts-report.ts';
import type { Surface, SurfaceTool } from '../model/surface.ts';
import { createChange } from './fact.ts';
import type { HostProfile } from './profile.ts';
import { showName } from './show-name.ts';
import { hasTrueProperty, showSchema } from './show-schema.ts';

/** A server as the configuration of a host names it. */
export interface ServedSurface {
  name: string;
  surface: Surface;
}

/** A tool as a host shows it to a model. The name, the description and the schema are null if the model does not get it. */
export interface ShownTool {
  /** The name of the tool, `server/tool` if there are several servers. */
  label: string;
  state: ToolState;
  name: string | null;
  /** Null if the server gives none. */
  description: string | null;
  inputSchema: JsonObject | null;
}

/** What a host makes of the surfaces of servers. */
export interface HostView {
  tools: ShownTool[];
  /** The instructions of each server as the model is shown them; null if it is not known. */
  instructions: Array<string | null>;
  changes: HostChange[];
}

interface Served {
  server: ServedSurface;
  tool: SurfaceTool;
  label: string;
}

/** Shows servers as a host does. Pure: the same servers and profile always have the same view. */
export function showSurface(profile: HostProfile, servers: readonly ServedSurface[]): HostView {
  const served = servers.flatMap((server) =>
    server.surface.tools.map((tool) => ({
      server,
      tool,
      label: servers.length > 1 ? `${server.name}/${tool.name}` : tool.name,
    })),
  );
  const shown = served.map((each) => showTool(profile, each));
  const instructions = servers.map((server) => showInstructions(profile, server, servers.length > 1));
  return {
    tools: shown.map(({ tool }) => tool),
    instructions: instructions.map(({ text }) => text),
    changes: [
      ...instructions.flatMap(({ changes }) => changes),
      ...findExcess(profile, served),
      ...shown.flatMap(({ changes }) => changes),
      ...findClashes(
        profile,
        shown.map(({ tool }) => tool),
      ),
      ...findRefusal(profile, served),
    ],
  };
}

/** A sentence for the tools that no model gets; null if the model gets this tool. */
function explainUnlisted(profile: HostProfile, { server, tool, label }: Served): HostChange | null {
  const { refused } = profile.schemas;
  if (refused?.value != null) {
    const isBad = hasTrueProperty(tool.inputSchema);
    const bad = server.surface.tools.filter(({ inputSchema }) => hasTrueProperty(inputSchema)).map(({ name }) => name);
    const isDropped = refused.value.drops === 'server' ? bad.length > 0 : isBad;
    if (isDropped) {
      const of = refused.value.drops === 'server' ? 'all tools of the server' : 'the tool';
      const message = `drops ${of}, because a property has the schema \`true\` (in ${listSome(bad, maxListed)})`;
      return createChange({ path: 'schemas.refused', fact: refused }, { kind: 'dropped', tool: label, message });
    }
  }
  const { forApps } = profile.tools;
  if (forApps?.value === 'hidden' && isForAppsOnly(tool)) {
    const message = 'does not show the model tools that the server keeps for its apps';
    return createChange({ path: 'tools.forApps', fact: forApps }, { kind: 'hidden', tool: label, message });
  }
  return null;
}

function showTool(profile: HostProfile, served: Served): { tool: ShownTool; changes: HostChange[] } {
  const { server, tool, label } = served;
  const unlisted: ShownTool = { label, state: 'unlisted', name: null, description: null, inputSchema: null };
  const reason = explainUnlisted(profile, served);
  if (reason !== null) return { tool: unlisted, changes: [reason] };
  const { name, changes: renaming } = showName(profile.names, { server: server.name, tool: tool.name, label });
  if (name === null) return { tool: unlisted, changes: renaming };
  const { forApps, deferral } = profile.tools;
  const isDeferred = deferral?.value.kind === 'search';
  const description = showDescription(profile, { text: tool.description ?? null, label, isDeferred });
  const { changes: schemaChanges } = profile.schemas;
  const { schema, effects } = showSchema(tool.inputSchema, schemaChanges?.value ?? []);
  const changes = [
    ...renaming,
    ...(forApps?.value === 'shown' && isForAppsOnly(tool)
      ? [
          createChange(
            { path: 'tools.forApps', fact: forApps },
            { kind: 'exposed', tool: label, message: 'shows the model tools that the server keeps for its apps' },
          ),
        ]
      : []),
    ...findDeferral(profile, label),
    ...description.changes,
    ...(schemaChanges === undefined
      ? []
      : effects.map((message) =>
          createChange({ path: 'schemas.changes', fact: schemaChanges }, { kind: 'rewritten', tool: label, message }),
        )),
    ...findLost(profile, tool, label),
  ];
  const state = isDeferred ? 'deferred' : 'shown';
  return { tool: { label, state, name, description: description.text, inputSchema: schema }, changes };
}

function findDeferral({ tools: { deferral } }: HostProfile, tool: string): HostChange[] {
  if (deferral === undefined || deferral.value.kind === 'none') return [];
  const make = (message: string) =>
    createChange({ path: 'tools.deferral', fact: deferral }, { kind: 'deferred', tool, message });
  if (deferral.value.kind === 'by-model') {
    return [make('defers tools for some models, which search them or call them from a program')];
  }
  const { characters } = deferral.value;
  const part = characters === 0 ? 'names only' : `names and about ${characters} characters of each description`;
  return [make(`shows ${part} until the model searches for a tool`)];
}

function showDescription(
  { description: fact }: HostProfile,
  { text, label, isDeferred }: { text: string | null; label: string; isDeferred: boolean },
): { text: string | null; changes: HostChange[] } {
  const limit = fact?.value.limit ?? null;
  if (fact === undefined || text === null || limit === null || isDeferred || text.length <= limit) {
    return { text, changes: [] };
  }
  const change = createChange(
    { path: 'description', fact },
    {
      kind: 'cut',
      tool: label,
      message: `cuts descriptions to ${formatCount(limit, 'character')}`,
      detail: `${label} (${text.length})`,
    },
  );
  return { text: text.slice(0, limit), changes: [change] };
}

function showInstructions(
  { instructions: fact }: HostProfile,
  { name, surface: { instructions = '' } }: ServedSurface,
  isOneOfSeveral: boolean,
): { text: string | null; changes: HostChange[] } {
  if (instructions === '') return { text: '', changes: [] };
  if (fact === undefined) return { text: null, changes: [] };
  const size = formatCount(instructions.length, 'character');
  const make = (kind: HostChange['kind'], message: string) =>
    createChange(
      { path: 'instructions', fact },
      { kind, message, server: name, detail: isOneOfSeveral ? `${name} (${size})` : `${size} here` },
    );
  if (fact.value.shown === 'never') {
    return { text: '', changes: [make('never-shown', 'never shows the model the instructions of a server')] };
  }
  const { limit } = fact.value;
  if (limit === null || instructions.length <= limit) return { text: instructions, changes: [] };
  const change = make('cut', `cuts the instructions of a server to ${formatCount(limit, 'character')}`);
  return { text: instructions.slice(0, limit), changes: [change] };
}

/** Finds what a model does not see of results, as far as the declaration of the tool says what these hold. */
function findLost({ results }: HostProfile, { outputSchema }: SurfaceTool, tool: string): HostChange[] {
  const { structured, structuredAlone } = results;
  if (outputSchema === undefined || structured === undefined || structured.value === 'both') return [];
  const alone = {
    json: '',
    nothing: ', and nothing of a result without texts',
    placeholder: ', and a placeholder for a result without texts',
  }[structuredAlone?.value ?? 'json'];
  const message =
    structured.value === 'structured'
      ? 'shows the model `structuredContent` of a result, and not its texts'
      : `shows the model the texts of a result, and not its \`structuredContent\`${alone}`;
  return [createChange({ path: 'results.structured', fact: structured }, { kind: 'lost', tool, message })];
}

function findExcess({ tools: { limit } }: HostProfile, served: readonly Served[]): HostChange[] {
  if (limit === undefined || served.length <= limit.value) return [];
  const message = `accepts at most ${formatCount(limit.value, 'tool')} in a request, with those of other servers`;
  const detail = `${formatCount(served.length, 'tool')} here`;
  return [createChange({ path: 'tools.limit', fact: limit }, { kind: 'refused', message, detail })];
}

function findClashes({ names }: HostProfile, tools: readonly ShownTool[]): HostChange[] {
  const named = tools.filter(({ name }) => name !== null);
  return [...Map.groupBy(named, ({ name }) => name)].flatMap(([name, same]) =>
    same.length < 2
      ? []
      : same.map(({ label }) =>
          createChange(
            { path: 'names', fact: names },
            { kind: 'clashing', tool: label, message: `has one name for several tools: \`${name}\`` },
          ),
        ),
  );
}

function findRefusal({ arguments: fact }: HostProfile, served: readonly Served[]): HostChange[] {
  if (fact?.value !== 'checked' || served.length === 0) return [];
  const message = 'refuses arguments that break an input schema, so that the server never gets these calls';
  return [createChange({ path: 'arguments', fact }, { kind: 'refused', message })];
}

/** MCP Apps 2026-01-26: a tool with a visibility that does not name models. */
function isForAppsOnly({ _meta: meta = {} }: SurfaceTool): boolean {
  const { ui } = meta;
  const visibility = isRecord(ui) ? ui['visibility'] : undefined;
  return Array.isArray(visibility) && !visibility.includes('model');
}

/** The most tools that a message names. */
const maxListed = 3;
