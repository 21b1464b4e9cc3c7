import { endSentence, formatCount } from '../base/text.ts';
import type { HostsComparison, HostsComparisonFinding } from '../model/hosts-comparison.ts';
import type { HostsPolicy } from '../model/hosts-policy.ts';
import { describeSource } from '../model/source.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The meaning of what hosts make of the servers for the verdict. */
export interface HostsJudgement {
  /** The reasons why the verdict is not `passed`. */
  reasons: VerdictReason[];
  /** The findings that only warn, a sentence for each host. */
  warnings: string[];
}

/** Judges what a change makes worse in hosts, once it is decided how each finding counts. Pure: the same input always gives the same result. */
export function judgeHosts({ unread, findings }: HostsComparison, policy: HostsPolicy): HostsJudgement {
  if (unread !== null) {
    const isRequired = Object.values(policy).some(({ value }) => value === 'fail');
    const message = `The surface of the server is not known: ${unread}`;
    return { reasons: isRequired ? [{ code: 'surface-unread', message }] : [], warnings: [] };
  }
  const describe = (disposition: 'fail' | 'review') =>
    [
      ...Map.groupBy(
        findings.filter((finding) => finding.disposition === disposition),
        ({ host }) => host,
      ),
    ].map(([host, found]) => describeHost(found, { host, ...policy[host] }));
  return {
    reasons: describe('fail').map((message) => ({ code: 'hosts-worse', message })),
    warnings: describe('review'),
  };
}

/** Describes the findings of a host by the first of them. */
function describeHost(
  [first, ...others]: readonly HostsComparisonFinding[],
  { host, value, source }: { host: string; value: string; source: string },
): string {
  if (first === undefined) return '';
  const rest = others.length === 0 ? '' : ` and ${formatCount(others.length, 'more finding')}`;
  const rule = `hosts.${host}: ${value}, ${describeSource(source)}`;
  const doubt = value === 'fail' && first.disposition === 'review' && first.doubt !== null ? first.doubt : null;
  return `${first.message}${rest} (${rule}).${doubt === null ? '' : ` It does not fail the verdict. ${endSentence(doubt)}`}`;
}
