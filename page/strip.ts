import type { CaseReport } from '../src/model/case-report.ts';
import type { PageMark } from '../src/report/html/page-data.ts';
import { create } from './dom.ts';

type Standing = PageMark[1] | 'missing';

const maxMarks = 24;

/**
 * Draws a mark per iteration, or the shares of the results if there are many iterations. Failed ones are also higher. Null for a single
 * iteration, whose result is the mark of the case.
 */
export function createStrip(member: CaseReport, marks: readonly PageMark[]): HTMLElement | null {
  const counts = countStandings(member);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 1) return null;
  if (total > maxMarks) {
    const shares = counts
      .filter(([, count]) => count > 0)
      .map(([standing, count]) => {
        const share = create('i', { class: standing });
        share.style.flexGrow = String(count);
        return share;
      });
    return create('span', { class: 'strip shares' }, ...shares);
  }
  const known = marks.length === total ? marks.map(([, standing]) => standing) : null;
  const standings = known ?? counts.flatMap(([standing, count]) => Array.from({ length: count }, () => standing));
  return create('span', { class: 'strip' }, ...standings.map((standing) => create('i', { class: standing })));
}

function countStandings({ passed, failed, total, planned }: CaseReport): Array<[Standing, number]> {
  return [
    ['passed', passed],
    ['failed', failed],
    ['missing', Math.max(0, planned - total)],
  ];
}
