import { hash } from 'node:crypto';
import { formatCount } from '../base/text.ts';
import type { HostChange } from '../model/hosts-report.ts';
import { createChange } from './fact.ts';
import type { NamingFact } from './profile.ts';

/** The name under which a host shows a tool; null if it drops the tool because of its name. */
export interface ShownName {
  name: string | null;
  changes: HostChange[];
}

/** Names a tool as a host does. `label` names the tool in changes. */
export function showName(
  fact: NamingFact,
  { server, tool, label }: { server: string; tool: string; label: string },
): ShownName {
  const { pattern, namespace, kept, limit, counted = pattern, long } = fact.value;
  const build = (text: string) => replaceRefused(fillIn(text, { server, tool }), kept);
  const full = build(pattern);
  const space = namespace === null ? '' : `${build(namespace)}.`;
  const make = (change: Pick<HostChange, 'kind' | 'message' | 'detail'>) =>
    createChange({ path: 'names', fact }, { ...change, tool: label });
  const renamed =
    replaceRefused(tool, kept) === tool
      ? []
      : [
          make({
            kind: 'renamed',
            message: 'replaces characters in names',
            detail: `${quote(tool)} as ${quote(space + full)}`,
          }),
        ];
  const length = fillIn(counted, { server, tool }).length;
  if (limit === null || length <= limit || long === 'kept') return { name: space + full, changes: renamed };
  const size = formatCount(limit, 'character');
  const detail = `${quote(tool)} (${length})`;
  if (long === 'tool-dropped') {
    return { name: null, changes: [make({ kind: 'dropped', message: `drops tools with names over ${size}`, detail })] };
  }
  if (long === 'refused') {
    const message = `does not accept names over ${size}`;
    return { name: full, changes: [...renamed, make({ kind: 'refused', message, detail })] };
  }
  // The limit can count more than the name, such as its namespace.
  const cut = cutName(full, Math.max(1, limit - (length - full.length)), long);
  const message = `cuts names to ${size}`;
  const shown = `${quote(tool)} as ${quote(space + cut)}`;
  return { name: space + cut, changes: [...renamed, make({ kind: 'cut', message, detail: shown })] };
}

/** Returns the whole name by which a model calls a tool, with its namespace, however long it is. */
export function nameWhole(
  { pattern, namespace, kept }: Pick<NamingFact['value'], 'pattern' | 'namespace' | 'kept'>,
  names: { server: string; tool: string },
): string {
  const parts = namespace === null ? [pattern] : [namespace, pattern];
  return parts.map((part) => replaceRefused(fillIn(part, names), kept)).join('__');
}

/** Fills in both names at once, because a name may contain a placeholder itself. */
function fillIn(pattern: string, names: { server: string; tool: string }): string {
  return pattern.replaceAll(/\{(server|tool)\}/g, (_, key: 'server' | 'tool') => names[key]);
}

function replaceRefused(text: string, kept: string | null): string {
  return kept === null ? text : text.replaceAll(new RegExp(`[^${kept}]`, 'g'), '_');
}

const middle = '...';
const hashLength = 8;

function cutName(name: string, limit: number, long: 'cut-end' | 'cut-middle' | 'hash'): string {
  switch (long) {
    case 'cut-end':
      return name.slice(0, limit);
    case 'cut-middle': {
      const left = Math.max(0, limit - middle.length);
      const head = Math.ceil(left / 2);
      return `${name.slice(0, head)}${middle}${name.slice(name.length - (left - head))}`.slice(0, limit);
    }
    case 'hash':
      return `${name.slice(0, Math.max(0, limit - hashLength - 1))}_${hash('sha256', name).slice(0, hashLength)}`.slice(
        -limit,
      );
  }
}

function quote(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}
