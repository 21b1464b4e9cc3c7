import type { HostChange, HostFact } from '../model/hosts-report.ts';
import type { AnyFact } from './profile.ts';

/** Describes a fact of a profile for the reader of a change. */
export function describeFact(path: string, { basis, note }: AnyFact): HostFact {
  const { kind, version, date } = basis;
  return { path, kind, version, date, source: kind === 'sourced' ? basis.source : null, note: note ?? null };
}

/** Builds a change that rests on a fact. */
export function createChange(
  { path, fact }: { path: string; fact: AnyFact },
  change: Pick<HostChange, 'kind' | 'message'> & Partial<Pick<HostChange, 'tool' | 'server' | 'detail'>>,
): HostChange {
  return { tool: null, server: null, detail: null, ...change, fact: describeFact(path, fact) };
}
