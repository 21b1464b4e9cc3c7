import { clipText, formatCount, listSome } from '../../base/text.ts';
import {
  describeBasis,
  type HostChangeKind,
  hostChangeKinds,
  type HostFinding,
  type HostOutcome,
  type HostsReport,
} from '../../model/hosts-report.ts';
import { asName, asProse, type Block, heading, type Line, list, table, text } from './block.ts';

/** The letter for each kind in the table of tools, and what it stands for, in the order of the letters of a cell. */
const kinds: ReadonlyArray<readonly [HostChangeKind, string, string]> = [
  ['dropped', 'x', 'dropped'],
  ['refused', 'x', 'refused'],
  ['hidden', 'h', 'hidden'],
  ['exposed', 'e', 'shown, although for apps only'],
  ['clashing', '!', 'name clashes'],
  ['renamed', 'r', 'characters replaced in the name'],
  ['cut', 'c', 'cut'],
  ['deferred', 'd', 'deferred'],
  ['rewritten', 's', 'schema changed'],
  ['lost', 'l', 'part of results lost'],
];
const unchanged = '·';

/** Composes what hosts make of servers. `columns` has the heads of the table of tools: numbers are narrower than the ids of hosts. */
export function composeHosts(report: HostsReport, columns: 'numbers' | 'ids'): Block[] {
  const { hosts, servers } = report;
  const hasInstructions = servers.some(({ instructions }) => instructions > 0);
  const rows = hosts.map((host, index) => composeRow(host, { index, hasInstructions }));
  return [
    heading('brief', ['Hosts'], [describeServers(servers)]),
    table('screen', ['', 'Host', 'Version', 'Tools', 'Instructions', 'Timeout'], rows, {
      noun: 'host',
    }),
    ...composeTools(report, columns),
    text('screen', `A fact holds for the version and the date that it names. ${describeResults(report)}`),
    ...(hosts.every(({ findings }) => findings.length === 0)
      ? [text('brief', 'No host is known to change anything.')]
      : []),
    ...hosts.flatMap(composeFindings),
  ];
}

function describeResults({ results }: HostsReport): string {
  if (results === null) return 'Of results, only the output schemas are known here.';
  const { count, tools } = results;
  return `Of results, ${formatCount(count, 'result')} of ${formatCount(tools, 'tool')} and the output schemas of the others are known here.`;
}

function describeServers(servers: HostsReport['servers']): Line {
  return servers.flatMap(({ name, tools, instructions }, index): Line => [
    index === 0 ? '' : '; ',
    asName(name),
    `: ${formatCount(tools, 'tool')}, ${instructions === 0 ? 'no instructions' : `${formatCount(instructions, 'character')} of instructions`}`,
  ]);
}

function composeRow(
  { id, version, tools, instructions, timeout }: HostOutcome,
  { index, hasInstructions }: { index: number; hasInstructions: boolean },
): Line[] {
  const count = (state: string) => tools.filter((tool) => tool.state === state).length;
  const states = [
    [count('shown'), 'shown'],
    [count('deferred'), 'deferred'],
    [count('unlisted'), 'not shown'],
  ] as const;
  const parts = states.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return [
    [String(index + 1)],
    [id],
    [version ?? 'not measured'],
    [parts.join(', ') || 'none'],
    [hasInstructions ? (instructions === null ? 'unknown' : String(instructions)) : ''],
    [timeout === null ? '' : `${timeout} s`],
  ];
}

/** Composes the table of tools and hosts. Tools with the same row share it. */
function composeTools({ hosts }: HostsReport, columns: 'numbers' | 'ids'): Block[] {
  const names = hosts[0]?.tools.map(({ tool }) => tool) ?? [];
  const rows = names.map((name, index) => ({
    name,
    cells: hosts.map(({ tools }) => composeCell(tools[index]?.kinds ?? [])),
  }));
  const groups = [...Map.groupBy(rows, ({ cells }) => cells.join(' ')).values()];
  if (groups.length === 0) return [];
  const used = rows.flatMap(({ cells }) => cells).join('');
  const words = [unchanged, ...new Set(kinds.map(([, letter]) => letter))].filter((letter) => used.includes(letter));
  const legend = words.map((letter) => `${letter} ${describeLetter(letter)}`).join(', ');
  const heads = hosts.map(({ id }, index) => (columns === 'ids' ? id : String(index + 1)));
  const items = groups.map((same): Line[] => [
    nameGroup(
      same.map(({ name }) => name),
      columns,
    ),
    ...(same[0]?.cells ?? []).map((cell): Line => [cell]),
  ]);
  return [
    heading('screen', ['Tools']),
    table('screen', ['Tool', ...heads], items, { noun: 'row' }),
    text('screen', `${legend}.`),
  ];
}

/** A longer name would leave no room for ten hosts on a line of 80 characters. */
const narrowName = 22;

function nameGroup(names: readonly string[], columns: 'numbers' | 'ids'): Line {
  const [first = '', ...others] = names;
  if (columns === 'numbers') {
    return [asName(clipText(first, narrowName)), ...(others.length === 0 ? [] : [` +${others.length}`])];
  }
  return [asName(first), ...(others.length === 0 ? [] : [` and ${others.length} more`])];
}

function composeCell(found: readonly HostChangeKind[]): string {
  const letters = kinds.filter(([kind]) => found.includes(kind)).map(([, letter]) => letter);
  return [...new Set(letters)].join('') || unchanged;
}

function describeLetter(letter: string): string {
  if (letter === unchanged) return 'no known change';
  return kinds
    .filter(([, each]) => each === letter)
    .map(([, , words]) => words)
    .join(' or ');
}

function composeFindings({ title, version, tools, findings }: HostOutcome): Block[] {
  if (findings.length === 0) return [];
  const name = version === null ? title : `${title} ${version}`;
  const bases = new Set(findings.map(({ fact }) => describeBasis(fact)));
  const [shared] = bases.size === 1 ? bases : [];
  const sorted = findings.toSorted((a, b) => hostChangeKinds.indexOf(a.kind) - hostChangeKinds.indexOf(b.kind));
  const items = sorted.map((finding) =>
    composeFinding(finding, { count: tools.length, isBasisNamed: shared === undefined }),
  );
  return [
    heading('screen', [name], shared === undefined ? [] : [[asProse(shared)]]),
    list('screen', items, { noun: 'finding' }),
  ];
}

/** The most details or tools of one finding; a server may have hundreds of tools. */
const maxListed = 5;

function composeFinding(
  { kind, message, tools, details, fact }: HostFinding,
  { count, isBasisNamed }: { count: number; isBasisNamed: boolean },
): Line {
  const isAll = tools.length === count && count > 1 && details.length === 0;
  const listed =
    details.length > 0 ? listSome(details, maxListed) : isAll ? `all ${count} tools` : listSome(tools, maxListed);
  // A note about the limits of names says nothing about the characters of names.
  const note = fact.note === null || kind === 'renamed' ? '' : ` ${fact.note}`;
  return [
    { kind: 'strong', text: kind },
    ': ',
    asProse(`${message}${listed === '' ? '' : `: ${listed}`}.${note}`),
    ...(isBasisNamed ? [' ', asProse(`(${describeBasis(fact)})`)] : []),
  ];
}
