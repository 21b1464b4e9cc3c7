// Compares what was measured with a profile, fact by fact.
import { isJsonEqual, isRecord } from '../../src/base/json.ts';
import { type HostProfile, listFacts } from '../../src/hosts/profile.ts';
import type { Facts } from './facts.ts';
import { serverName } from './probe.ts';

export type Line = { path: string } & (
  | { kind: 'same'; value: unknown }
  | { kind: 'changed'; profile: unknown; measured: unknown }
  | { kind: 'new'; measured: unknown }
  | { kind: 'not-measured'; reason: string }
);

/** Compares each fact of the profile, and lists what was measured that the profile does not have. */
export function compareFacts(profile: HostProfile, facts: Facts): Line[] {
  const known = listFacts(profile);
  const paths = new Set(known.map(({ path }) => path));
  return [
    ...known.map(({ path, fact }): Line => {
      const measured = facts.get(path) ?? { missing: 'The benchmark has no measurement of it.' };
      if ('missing' in measured) return { path, kind: 'not-measured', reason: measured.missing };
      return isSame(path, fact.value, measured.value)
        ? { path, kind: 'same', value: measured.value }
        : { path, kind: 'changed', profile: fact.value, measured: measured.value };
    }),
    ...[...facts].flatMap(([path, measured]): Line[] =>
      paths.has(path) || 'missing' in measured ? [] : [{ path, kind: 'new', measured: measured.value }],
    ),
  ];
}

/** A message, a reminder and the context of a project are all messages in a request. */
const messages = new Set(['message', 'reminder', 'project-context']);

/** A measured time contains the way to the server and back. */
const toleranceSeconds = 2;

/** The head and tail of a long result are measured in words of 10 characters, and tokens are estimates. */
const toleranceShare = 0.1;
const charactersPerToken = 4;

function isSame(path: string, profile: unknown, measured: unknown): boolean {
  if (path === 'timeout' && typeof profile === 'number' && typeof measured === 'number') {
    return Math.abs(profile - measured) <= toleranceSeconds;
  }
  // A chat message has no mark for errors, so that the words are the mark.
  if (path === 'results.error') return profile === measured || (profile !== 'unmarked' && measured === 'prefixed');
  if (!isRecord(profile) || !isRecord(measured)) return isJsonEqual(sortKinds(profile), sortKinds(measured));
  switch (path) {
    case 'names': {
      const { counted: _, ...rest } = profile;
      return isJsonEqual({ ...rest, limit: readOwnLimit(profile) }, measured);
    }
    case 'tools.search':
      return profile['name'] === measured['name'];
    case 'instructions': {
      const isPlace =
        profile['shown'] === measured['shown'] ||
        (measured['shown'] === 'message' && messages.has(String(profile['shown'])));
      return isPlace && (profile['limit'] ?? null) === (measured['limit'] ?? null);
    }
    case 'results.long':
      return isSameLong(profile, measured);
    default:
      return isJsonEqual(profile, measured);
  }
}

/** The limit of the name alone, which is measured: a profile can count more than the name. */
function readOwnLimit({ limit, pattern, counted = pattern }: Record<string, unknown>): unknown {
  if (typeof limit !== 'number') return limit;
  const measure = (text: unknown) => String(text).replace('{server}', serverName).length;
  return limit - (measure(counted) - measure(pattern));
}

function isSameLong(profile: Record<string, unknown>, measured: Record<string, unknown>): boolean {
  const isNear = (left: unknown, right: unknown) => {
    const [a, b] = [Number(left), Number(right)];
    return Math.abs(a - b) <= Math.max(20, toleranceShare * a);
  };
  const over = Number(profile['over']) * (profile['unit'] === 'tokens' ? charactersPerToken : 1);
  return (
    isNear(over, measured['cut']) &&
    isNear(profile['head'], measured['head']) &&
    isNear(profile['tail'], measured['tail']) &&
    profile['rest'] === measured['rest'] &&
    profile['isError'] === measured['isError']
  );
}

/** The order of changes and of keywords says nothing. */
function sortKinds(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const sorted = value.map((each: unknown) =>
    isRecord(each) && Array.isArray(each['keywords'])
      ? { ...each, keywords: each['keywords'].map(String).toSorted() }
      : each,
  );
  return sorted.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

/** Prints a line for readers. */
export function formatLine(line: Line): string {
  switch (line.kind) {
    case 'same':
      return `same          ${line.path}: ${JSON.stringify(line.value)}`;
    case 'changed':
      return `changed       ${line.path}: the profile says ${JSON.stringify(line.profile)}, measured ${JSON.stringify(line.measured)}`;
    case 'new':
      return `new           ${line.path}: measured ${JSON.stringify(line.measured)}`;
    case 'not-measured':
      return `not measured  ${line.path}: ${line.reason}`;
  }
}
