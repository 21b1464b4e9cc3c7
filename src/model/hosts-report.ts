import type { HostId } from './host-ids.ts';

/** What a host does with a part of a server that a model would see differently, or not at all; first what a model does not get. */
export const hostChangeKinds = [
  'never-shown',
  'dropped',
  'refused',
  'hidden',
  'exposed',
  'clashing',
  'renamed',
  'cut',
  'deferred',
  'rewritten',
  'lost',
] as const;
export type HostChangeKind = (typeof hostChangeKinds)[number];

/** The fact about a host that a change rests on. */
export interface HostFact {
  /** Its path in the profile, such as `results.image`. */
  path: string;
  kind: 'measured' | 'sourced';
  /** The version of the host; null if the source names none. */
  version: string | null;
  date: string;
  /** The document; null for a measured fact. */
  source: string | null;
  /** A sentence about what the value leaves out; null if there is none. */
  note: string | null;
}

/** Describes how a fact was obtained: `measured with 1.2.3, 2026-11-24`. */
export function describeBasis({ kind, version, date, source }: HostFact): string {
  const what = kind === 'measured' ? `measured with ${version}` : `from ${source}`;
  return `${what}, ${date}`;
}

/** A difference between what the server sends and what the host shows a model. */
export interface HostChange {
  kind: HostChangeKind;
  /** The tool, `server/tool` if there are several servers; null if it is about a whole server or result. */
  tool: string | null;
  /** The server, if the change is about its instructions; else null. */
  server: string | null;
  /** What the host does, as the end of a sentence that begins with the host: `shows the model …`. The same for all tools that it applies to. */
  message: string;
  /** What is special about this tool, such as its new name; null if nothing is. */
  detail: string | null;
  fact: HostFact;
}

/** How a host treats a tool. `unlisted`: the model does not get it. */
export type ToolState = 'shown' | 'deferred' | 'unlisted';

export interface HostedTool {
  tool: string;
  state: ToolState;
  /** The name that the model is shown; null if it is shown none. */
  shownAs: string | null;
  kinds: HostChangeKind[];
}

/** Changes of the same kind and for the same reason, of one host. */
export interface HostFinding extends Omit<HostChange, 'tool' | 'server' | 'detail'> {
  host: HostId;
  tools: string[];
  /** In the order of the tools, without those that have none. */
  details: string[];
}

/** What one host makes of the servers. */
export interface HostOutcome {
  id: HostId;
  title: string;
  /** The version and the kind of its facts. */
  version: string | null;
  kind: 'measured' | 'sourced';
  date: string;
  tools: HostedTool[];
  /** The number of characters of the instructions that the model is shown; null if it is not known. */
  instructions: number | null;
  /** The default timeout of a call in seconds; null if there is none or it is not known. */
  timeout: number | null;
  findings: HostFinding[];
}

/** What hosts make of the surface of one or several servers. */
export interface HostsReport {
  servers: Array<{ name: string; tools: number; instructions: number }>;
  hosts: HostOutcome[];
  /** The numbers of results that the servers gave, and of their tools; null if none are known. */
  results: { count: number; tools: number } | null;
}
