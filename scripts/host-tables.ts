import { hostProfiles } from '../src/hosts/catalog.ts';
import { type HostProfile, listFacts } from '../src/hosts/profile.ts';
import { renderTable } from './option-tables.ts';

/** A row of the table: its head, and the text for a host. An unknown fact has none. */
type Row = readonly [head: string, read: (profile: HostProfile) => string | null | undefined];

const readResult =
  (key: keyof HostProfile['results']) =>
  ({ results }: HostProfile) => {
    const value = results[key]?.value;
    return typeof value === 'string' ? value : null;
  };

const rows: readonly Row[] = [
  ['Version', ({ names }) => names.basis.version],
  ['Facts', ({ names }) => `${names.basis.kind}, ${names.basis.date}`],
  ['Name of a tool', describeName],
  ['Longer names', describeLongName],
  ['Tools shown', describeTools],
  ['Tools only for apps', ({ tools }) => tools.forApps?.value],
  ['Descriptions', ({ description }) => description && describeLimit(description.value.limit)],
  ['Instructions', describeInstructions],
  ['Schemas', describeSchemas],
  ['A property schema `true`', describeRefused],
  [
    'Arguments that break the schema',
    ({ arguments: fact }) => fact?.value.replace('checked', 'refused').replace('-', ' '),
  ],
  [
    'Default timeout',
    ({ timeout }) => timeout && (timeout.value === null ? (timeout.note ?? 'none') : `${timeout.value} s`),
  ],
  ['Structured content and texts', readResult('structured')],
  ['Images next to structured content', readResult('structuredImage')],
  ['Structured content alone', readResult('structuredAlone')],
  ['Errors', readResult('error')],
  ['Images', readResult('image')],
  ['Embedded resources', readResult('resource')],
  ['Resource links', readResult('link')],
  ['Audio', readResult('audio')],
  ['Content for the user', readResult('forUser')],
  ['Long results', describeLong],
];

/** Renders the facts about all hosts, a column for each host. */
export function renderHostTable(profiles: readonly HostProfile[] = hostProfiles): string {
  const head = ['', ...profiles.map(({ id }) => `\`${id}\``)];
  return renderTable(
    head,
    rows.map(([name, read]) => [name, ...profiles.map((profile) => read(profile) || '–')]),
  );
}

/** Renders the notes of facts and the documents that facts are from. */
export function renderHostNotes(profiles: readonly HostProfile[] = hostProfiles): string {
  return profiles
    .flatMap((profile) => {
      const facts = listFacts(profile);
      const notes = facts.flatMap(({ path, fact }) => (fact.note === undefined ? [] : [`\`${path}\`: ${fact.note}`]));
      const sourced = facts.flatMap(({ path, fact: { basis } }) =>
        basis.kind === 'sourced' ? [{ path, source: basis.source }] : [],
      );
      const isSourced = sourced.length === facts.length;
      const from = isSourced
        ? [`From ${[...new Set(sourced.map(({ source }) => source))].join(' and ')}.`]
        : sourced.map(({ path, source }) => `\`${path}\`: From ${source}.`);
      return notes.length + from.length === 0 ? [] : [`- **${profile.title}.** ${[...from, ...notes].join(' ')}`];
    })
    .join('\n');
}

function describeLimit(limit: number | null): string {
  return limit === null ? 'whole' : `${limit.toLocaleString('en')} characters`;
}

function describeName({ names: { value } }: HostProfile): string {
  const { pattern, namespace, kept } = value;
  const space = namespace === null ? '' : `\`${namespace}\` with `;
  return `${space}\`${pattern}\`${kept === null ? '' : `, \`_\` for all but \`${kept}\``}`;
}

function describeLongName({ names: { value } }: HostProfile): string {
  const { limit, long, counted } = value;
  if (limit === null) return 'kept';
  const words = {
    kept: 'kept',
    'cut-end': 'cut at the end',
    'cut-middle': 'cut in the middle',
    hash: 'cut, with a hash',
    'tool-dropped': 'tool dropped',
    refused: 'refused',
  };
  return `over ${limit}${counted === undefined ? '' : ` (\`${counted}\`)`}: ${words[long]}`;
}

function describeTools({ tools: { deferral, search, limit } }: HostProfile): string {
  const how = search === undefined ? '' : ` (\`${search.value.name}\`)`;
  const words = { none: 'all', search: `names, then a search${how}`, 'by-model': 'by model' };
  const parts = [
    ...(deferral === undefined ? [] : [words[deferral.value.kind]]),
    ...(deferral?.value.kind === 'search' && deferral.value.characters > 0
      ? [`${deferral.value.characters} characters of descriptions`]
      : []),
    ...(limit === undefined ? [] : [`at most ${limit.value}`]),
  ];
  return parts.join('; ');
}

function describeInstructions({ instructions }: HostProfile): string | null {
  if (instructions === undefined) return null;
  const { value } = instructions;
  if (value.shown === 'never') return 'never';
  return `${value.shown.replaceAll('-', ' ')}, ${describeLimit(value.limit)}`;
}

function describeSchemas({ schemas: { changes } }: HostProfile): string | null {
  if (changes === undefined) return null;
  const words = {
    'keywords-dropped': 'bounds, patterns, defaults and examples dropped',
    'keywords-described': 'bounds and patterns moved into descriptions',
    'parameter-added': 'a parameter added to each tool',
    closed: '`additionalProperties: false` added',
  };
  return changes.value.map(({ kind }) => words[kind]).join('; ') || 'as sent';
}

function describeRefused({ schemas: { refused } }: HostProfile): string | null {
  if (refused === undefined) return null;
  if (refused.value === null) return 'accepted';
  return refused.value.drops === 'server' ? 'drops all tools of the server' : 'drops the tool';
}

function describeLong({ results: { long } }: HostProfile): string | null {
  if (long === undefined) return null;
  if (long.value === null) return 'whole';
  const { over, unit, head, tail, rest, isError } = long.value;
  const format = (count: number) => count.toLocaleString('en');
  const kept = [...(head > 0 ? [`first ${format(head)}`] : []), ...(tail > 0 ? [`last ${format(tail)}`] : [])];
  const parts = [
    ...(isError ? ['an error'] : []),
    ...(kept.length === 0 ? ['nothing shown'] : [`${kept.join(' and ')} characters`]),
    ...(rest === 'file' ? ['a file'] : []),
  ];
  return `from ${format(over)} ${unit}: ${parts.join(', ')}`;
}
