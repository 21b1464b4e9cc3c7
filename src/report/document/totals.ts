import type { Report } from '../../model/report.ts';
import { describeServer, describeTotals, listServers } from '../wording.ts';
import { asProse, type Block, type Line } from './block.ts';

/** Composes the end: what ran in all, the servers, and links. */
export function composeTotals(report: Report, links: readonly Line[]): Block[] {
  return [
    {
      kind: 'footer',
      level: 'brief',
      lines: [
        { level: 'brief', line: [describeTotals(report)] },
        ...listServers(report).map((server) => ({ level: 'screen' as const, line: [asProse(describeServer(server))] })),
        ...(links.length === 0
          ? []
          : [
              {
                level: 'brief' as const,
                line: links.flatMap((link, index) => [...(index === 0 ? [] : [' · ']), ...link]),
              },
            ]),
      ],
    },
  ];
}
