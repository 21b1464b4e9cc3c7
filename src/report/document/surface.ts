import { formatCount } from '../../base/text.ts';
import type { SurfaceChange, SurfaceReport, SurfaceSeverity } from '../../model/surface-report.ts';
import { describeSize, describeSurface } from '../surface-wording.ts';
import { asName, asProse, type Block, type ChangeItem, heading, type Line, type Mark, text } from './block.ts';

const maxFindings = 20;
const maxTools = 3;

const severityMarks: Record<SurfaceSeverity, Mark> = {
  breaking: 'failed',
  review: 'inconclusive',
  additive: 'added',
  cosmetic: 'minor',
};

/** Composes the changes of the tool surface, worst first, then findings and sizes; empty if it is not compared. */
export function composeSurface(surface: SurfaceReport | undefined): Block[] {
  if (surface === undefined) return [];
  const { configurations, unread } = surface;
  const against: Line = surface.against === 'base' ? ['the server of the base'] : [asName(surface.against)];
  return [
    heading('brief', [`Tool surface: ${describeSurface(surface)}`], [], { isLine: true }),
    ...(unread === null ? [text('screen', 'Compared with ', ...against, '.')] : [text('brief', asProse(unread))]),
    ...configurations.flatMap((configuration) => composeConfiguration(configuration, configurations.length > 1)),
  ];
}

function composeConfiguration(
  { name, changes, findings, tools, ...sizes }: SurfaceReport['configurations'][number],
  isOneOfSeveral: boolean,
): Block[] {
  const largest = tools
    .slice(0, maxTools)
    .flatMap((tool, index) => [index === 0 ? '; most of it: ' : ', ', asName(tool.name), ` ${describeSize(tool)}`]);
  const findingItems = findings.map(({ id, message, reason }) => [
    [asProse(message), '. ', asProse(reason), ' (', asName(id), ')'],
  ]);
  return [
    ...(isOneOfSeveral ? [text('brief', { kind: 'strong', text: 'Configuration' }, ' ', asName(name))] : []),
    {
      kind: 'changes',
      level: 'brief',
      changes: changes.map(describeChange),
      cut: { by: 'rows', rest: (hidden) => `${formatCount(hidden, 'more change')}; the report lists them.` },
    },
    text('brief', `A model reads ${describeSize(sizes)} of ${formatCount(tools.length, 'tool')}`, ...largest, '.'),
    ...(findings.length === 0
      ? []
      : [
          {
            kind: 'fold' as const,
            level: 'screen' as const,
            summary: formatCount(findings.length, 'finding'),
            blocks: [
              {
                kind: 'list' as const,
                level: 'screen' as const,
                items: findingItems,
                cut: {
                  by: 'rows' as const,
                  max: maxFindings,
                  rest: (hidden: number) => `and ${formatCount(hidden, 'more finding')}`,
                },
              },
            ],
          },
        ]),
  ];
}

function describeChange({ severity, id, message, reason, before, after, location }: SurfaceChange): ChangeItem {
  const isSaid = [before, after].every((each) => each === null || message.includes(each));
  return {
    mark: severityMarks[severity],
    severity,
    id: asName(id),
    message: asProse(message),
    reason: asProse(reason),
    texts: isSaid
      ? []
      : [...(before === null ? [] : [['- ', asProse(before)]]), ...(after === null ? [] : [['+ ', asProse(after)]])],
    place: location === null ? null : { kind: 'place', place: location },
  };
}
