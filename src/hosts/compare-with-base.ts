import { listSome } from '../base/text.ts';
import type { HostsComparison, HostsComparisonFinding } from '../model/hosts-comparison.ts';
import {
  describeBasis,
  type HostChange,
  hostChangeKinds,
  type HostFact,
  type HostFinding,
} from '../model/hosts-report.ts';
import { defaultConfiguration, type SurfaceFile } from '../model/surface.ts';
import { hostProfiles } from './catalog.ts';
import { joinChanges } from './compare-hosts.ts';
import { type HostProfile, listFacts } from './profile.ts';
import { type HostView, type ServedSurface, showSurface } from './show-surface.ts';

/** The name of a server without one. Hosts have it in their configuration, and most put it in front of the names of tools. */
export const defaultServerName = 'server';

/** The servers before and after a change, and what the former are called. */
export interface ServerSides {
  /** The path of a surface file, or `base`. */
  against: string;
  before: readonly ServedSurface[];
  after: readonly ServedSurface[];
}

/** Names the servers as the configuration of a host would. */
export function nameServers(configurations: SurfaceFile['configurations']): ServedSurface[] {
  return Object.entries(configurations).map(([name, surface]) => ({
    name: name === defaultConfiguration ? defaultServerName : name,
    surface,
  }));
}

/**
 * Finds what hosts keep from a model, or show it only in part. With `before`, says of each finding if it is new with the change. How the
 * findings count is open.
 */
export function findHostFindings(
  after: readonly ServedSurface[],
  { before, against }: { before: readonly ServedSurface[]; against: string } | { before: null; against: null },
  profiles: readonly HostProfile[] = hostProfiles,
): HostsComparison {
  const findings = profiles.flatMap((profile): HostsComparisonFinding[] => {
    const view = showSurface(profile, after);
    if (before === null) return describeAll(profile, view.changes, { change: null, count: view.tools.length });
    const { worse, same, better, count } = compareViews(profile, { against, before, after });
    return [
      ...describeAll(profile, worse, { change: 'worse', count }),
      ...describeAll(profile, same, { change: 'same', count }),
      ...describeAll(profile, better, { change: 'better', count }),
    ];
  });
  return { against, unread: null, findings };
}

/** What a change makes of the differences between the servers and what a host shows of them. */
interface ComparedViews {
  worse: HostChange[];
  same: HostChange[];
  /** Those before the change. */
  better: HostChange[];
  /** The number of tools after the change. */
  count: number;
}

/** Compares what a host makes of servers before and after a change. */
export function compareViews(profile: HostProfile, { before, after }: ServerSides): ComparedViews {
  // A server without a counterpart had no tools. Both sides have the same number of servers, so that tools have the same labels.
  const counterparts = after.map(
    ({ name }) => before.find((server) => server.name === name) ?? { name, surface: emptySurface },
  );
  const [old, now] = [showSurface(profile, counterparts), showSurface(profile, after)];
  const [known, found] = [old, now].map(({ changes }) => new Set(changes.map(keyOf)));
  const [wasUnlisted, isUnlisted] = [listUnlisted(old), listUnlisted(now)];
  const labels = new Set(now.tools.map(({ label }) => label));
  const speaking = new Set(after.flatMap(({ name, surface }) => (surface.instructions ? [name] : [])));
  // A tool that a model did not get cannot become worse, and one that it does not get now is not better, nor are instructions that are gone.
  const isWorse = (change: HostChange) =>
    known?.has(keyOf(change)) === false && (change.tool === null || !wasUnlisted.has(change.tool));
  const isBetter = (change: HostChange) =>
    found?.has(keyOf(change)) === false &&
    (change.server === null || speaking.has(change.server)) &&
    (change.tool === null || (labels.has(change.tool) && !isUnlisted.has(change.tool)));
  return {
    worse: now.changes.filter(isWorse),
    same: now.changes.filter((change) => !isWorse(change)),
    better: old.changes.filter(isBetter),
    count: now.tools.length,
  };
}

const emptySurface = { capabilities: {}, tools: [], prompts: [], resources: [], resourceTemplates: [] };

function listUnlisted({ tools }: HostView): Set<string> {
  return new Set(tools.filter(({ state }) => state === 'unlisted').map(({ label }) => label));
}

/** Identifies a change on both sides. The message of most kinds has values of the server, which may differ. */
function keyOf({ kind, tool, server, message, fact }: HostChange): string {
  return JSON.stringify([kind, tool, server, fact.path, kind === 'rewritten' ? message : null]);
}

/** The kinds that take nothing from a model. A host does them to most tools of all servers. */
const harmless: ReadonlySet<HostChange['kind']> = new Set(['renamed', 'deferred', 'rewritten', 'hidden']);

/** Checks if a change keeps something from a model. Refused arguments are the model's own, and a server gets none that break its schemas. */
export function isHarm({ kind, fact }: Pick<HostFinding, 'kind' | 'fact'>): boolean {
  return !harmless.has(kind) && fact.path !== 'arguments';
}

function describeAll(
  profile: HostProfile,
  changes: readonly HostChange[],
  context: { change: HostsComparisonFinding['change']; count: number },
): HostsComparisonFinding[] {
  return joinChanges(profile.id, changes)
    .filter(isHarm)
    .toSorted((a, b) => hostChangeKinds.indexOf(a.kind) - hostChangeKinds.indexOf(b.kind))
    .map((finding) => {
      const { host, kind, tools, fact } = finding;
      const [subject = null] = tools;
      return {
        id: [host, fact.path, kind, ...(subject === null ? [] : [subject])].join('.'),
        host,
        kind,
        change: context.change,
        tools,
        message: describeFinding(profile, finding, context),
        reason: describeReason(fact),
        doubt: explainDoubt(profile, finding),
        disposition: 'note',
      };
    });
}

function describeReason(fact: HostFact): string {
  const basis = describeBasis(fact);
  return `${basis.charAt(0).toUpperCase()}${basis.slice(1)}.${fact.note === null ? '' : ` ${fact.note}`}`;
}

/** Names a host with the version of its facts. */
export function nameHost({ title, names: { basis } }: HostProfile): string {
  return basis.version === null ? title : `${title} ${basis.version}`;
}

/** The most tools that a message names. */
const maxNamed = 5;

/** Describes a finding in a sentence without its full stop. */
export function describeFinding(
  profile: HostProfile,
  { kind, message, tools, details }: HostFinding,
  { change, count }: { change: HostsComparisonFinding['change']; count: number },
): string {
  const host = nameHost(profile);
  const quoted = tools.map((tool) => `\`${tool.replaceAll('`', "'")}\``);
  const named = tools.length > maxNamed && tools.length === count ? `all ${count} tools` : listSome(quoted, maxNamed);
  if (kind === 'dropped') {
    if (change === 'worse') return `This change makes ${named} invisible in ${host}, which ${message}`;
    if (change === 'better') return `This change makes ${named} visible in ${host}, which no longer ${message}`;
    return `${host} never shows ${named}: it ${message}`;
  }
  const listed = details.length > 0 ? listSome(details, maxNamed) : named;
  const what = `${message}${listed === '' ? '' : `: ${listed}`}`;
  if (change === 'worse') return `With this change, ${host} ${what}`;
  return change === 'better' ? `No longer true of ${host}: it ${what}` : `${host} ${what}`;
}

/** Explains why a finding cannot fail a verdict; null if it can: it is measured, and takes something from every model of the host. */
function explainDoubt(profile: HostProfile, { kind, fact }: HostFinding): string | null {
  const { names } = profile;
  if (fact.kind === 'sourced') return `The fact was not measured; it is from ${fact.source}`;
  if (fact.version !== names.basis.version) return `The fact was measured with ${fact.version} only`;
  const { models } = listFacts(profile).find(({ path }) => path === fact.path)?.fact ?? {};
  if (models !== undefined) return `The fact holds only for ${models}`;
  if (kind === 'lost') return 'The declaration of a tool does not say if its texts and its structured content differ';
  if (kind === 'never-shown') return 'The host shows a model the instructions of no server';
  return null;
}
