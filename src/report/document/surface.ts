import { formatCount } from '../../base/text.ts';
import type { SurfaceChange, SurfaceReport, SurfaceSeverity } from '../../model/surface-report.ts';
import { compareSurfaceTexts } from '../differences.ts';
import { describeSize, describeSurface } from '../surface-wording.ts';
import { type Alike, describeAlike, groupAlike } from './alike.ts';
import {
  asMark,
  asName,
  asPlace,
  asProse,
  type Block,
  briefly,
  type ChangeItem,
  heading,
  joinLines,
  list,
  type Mark,
  text,
} from './block.ts';

const maxTools = 3;

const severityMarks: Record<SurfaceSeverity, Mark> = {
  breaking: 'failed',
  review: 'inconclusive',
  additive: 'added',
  cosmetic: 'minor',
};

/** Composes the changes of the tool surface, worst first, then findings and sizes; empty if it is not compared. */
export function composeSurface(
  surface: SurfaceReport | undefined,
  { isFirst = false }: { isFirst?: boolean } = {},
): Block[] {
  if (surface === undefined) return [];
  const { configurations, unread } = surface;
  const tools = configurations.reduce((sum, configuration) => sum + configuration.tools.length, 0);
  const title = `Tool surface: ${isFirst ? `${formatCount(tools, 'tool')}, written for the first time` : describeSurface(surface)}`;
  const against = surface.against === 'base' ? 'the server of the base' : asName(surface.against);
  return [
    heading('screen', [title]),
    briefly(text('brief', `${title}.`)),
    ...(isFirst
      ? []
      : [unread === null ? text('screen', 'Compared with ', against, '.') : text('brief', asProse(unread))]),
    ...configurations.flatMap((configuration) => composeConfiguration(configuration, configurations.length > 1)),
  ];
}

function composeConfiguration(
  { name, changes, findings, tools, ...sizes }: SurfaceReport['configurations'][number],
  isOneOfSeveral: boolean,
): Block[] {
  const largest = tools.slice(0, maxTools).map((tool) => [asName(tool.name), ` ${describeSize(tool)}`]);
  const items = groupAlike(changes, writeKey).map(describeChange);
  const worst = items.filter(({ mark }) => mark === 'failed' || mark === 'inconclusive');
  return [
    ...(isOneOfSeveral ? [text('brief', { kind: 'strong', text: 'Configuration' }, ' ', asName(name))] : []),
    { kind: 'changes', from: 'screen', items, by: 'rows', noun: 'change' },
    briefly({
      kind: 'list',
      from: 'brief',
      items: worst.map(({ mark, message, id, alike, texts }) => [
        [asMark(mark), ' ', message, ' (', id, ')'],
        ...texts,
        ...(alike.length === 0 ? [] : [alike]),
      ]),
      by: 'rows',
      noun: 'change',
    }),
    text(
      'brief',
      `A model reads ${describeSize(sizes)} of ${formatCount(tools.length, 'tool')}`,
      ...(largest.length === 0 ? [] : ['; most of it: ', ...joinLines(largest, ', ')]),
      '.',
    ),
    list(
      'screen',
      findings.map(({ id, message, reason }) => [
        asMark('inconclusive'),
        ' ',
        asProse(`${message}. ${reason}`),
        ' (',
        asName(id),
        ')',
      ]),
      { noun: 'finding', open: 0 },
    ),
  ];
}

/** Reads the tool or prompt from the id of a change; null for another subject, or a name that an id quotes. */
function readSubject(id: string): { kind: string; name: string } | null {
  const [, kind, name] = /^(tool|prompt)\.([^."]+)\./.exec(id) ?? [];
  return kind === undefined || name === undefined ? null : { kind, name };
}

/** Writes what a change says without the name of its tool or prompt. */
function writeKey({ severity, id, message, reason, before, after }: SurfaceChange): string {
  const subject = readSubject(id);
  if (subject === null) return id;
  const { kind, name } = subject;
  const parts = [kind, id.slice(`${kind}.${name}.`.length), message.replace(`the ${kind} ${name}`, '')];
  return JSON.stringify([severity, ...parts, reason, before, after]);
}

function describeChange({ first: change, others }: Alike<SurfaceChange>): ChangeItem {
  const { severity, id, message, reason, before, after, location } = change;
  const difference = compareSurfaceTexts(change);
  return {
    mark: severityMarks[severity],
    severity,
    id: asName(id),
    message: asProse(message),
    reason: asProse(reason),
    alike: describeAlike(others.map((other) => [asName(readSubject(other.id)?.name ?? other.id)])),
    texts:
      difference === null
        ? []
        : [...(before === null ? [] : [['- ', asProse(before)]]), ...(after === null ? [] : [['+ ', asProse(after)]])],
    ...(difference !== null && { difference }),
    place: location === null ? null : asPlace(location),
  };
}
