import type { Report } from '../../model/report.ts';
import { describeServer, describeTotals, listServers } from '../wording.ts';
import { asProse, type Block, briefly, joinLines, type Line } from './block.ts';

/** Composes the end: what ran in all, the servers, and links. */
export function composeTotals(report: Report, links: readonly Line[]): Block[] {
  const totals = [describeTotals(report)];
  const servers = listServers(report).map((server) => [asProse(describeServer(server))]);
  const more = links.length === 0 ? [] : [joinLines(links, ' · ')];
  return [
    { kind: 'footer', from: 'screen', lines: [totals, ...servers, ...more] },
    briefly({ kind: 'footer', from: 'brief', lines: [totals, ...more] }),
  ];
}
