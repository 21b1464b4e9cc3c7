import { endSentence, formatCount } from '../../base/text.ts';
import type { HostsComparison, HostsComparisonFinding } from '../../model/hosts-comparison.ts';
import { asMark, asName, asProse, type Block, briefly, type ChangeItem, heading, list, text } from './block.ts';

/** Composes what a change makes worse in hosts, then what it makes better and what was there before; empty if the policy names no host. */
export function composeHostFindings(hosts: HostsComparison | undefined): Block[] {
  if (hosts === undefined) return [];
  const { against, unread } = hosts;
  if (unread !== null) return [heading('screen', ['Hosts: not known']), text('brief', 'Hosts: ', asProse(unread))];
  const findings = hosts.findings.filter(({ disposition }) => disposition !== 'off');
  const worse = findings.filter(({ change }) => change === 'worse');
  const better = findings.filter(({ change }) => change === 'better');
  const known = findings.filter(({ change }) => change === 'same');
  const notes = findings.filter(({ change }) => change === null);
  const counts = [
    ...(worse.length === 0 ? [] : [`${worse.length} worse`]),
    ...(better.length === 0 ? [] : [`${better.length} better`]),
  ];
  const title = `Hosts: ${against === null ? formatCount(notes.length, 'finding') : counts.join(', ') || 'nothing worse'}`;
  return [
    heading('screen', [title]),
    briefly(text('brief', `${title}.`)),
    against === null
      ? text('screen', 'Without a base, these are notes.')
      : text('screen', 'Compared with ', against === 'base' ? 'the server of the base' : asName(against), '.'),
    { kind: 'changes', from: 'screen', items: worse.map(describeWorse), by: 'rows', noun: 'finding', why: 'Fact' },
    briefly(
      list(
        'brief',
        worse.map((finding) => [asMark(markOf(finding)), ' ', asProse(endSentence(finding.message))]),
        { noun: 'finding' },
      ),
    ),
    list(
      'screen',
      [
        ...better.map((finding) => [asMark('passed'), ' ', asProse(endSentence(finding.message))]),
        ...notes.map((finding) => [asMark('minor'), ' ', asProse(endSentence(finding.message))]),
      ],
      { noun: 'note' },
    ),
    ...(known.length === 0
      ? []
      : [
          {
            ...text(
              'screen',
              `${formatCount(known.length, 'finding')} that the base has, too: \`mcp-eval-ci hosts\` lists all.`,
            ),
            isFine: true,
          },
        ]),
  ];
}

function markOf({ disposition }: HostsComparisonFinding): 'failed' | 'inconclusive' {
  return disposition === 'fail' ? 'failed' : 'inconclusive';
}

function describeWorse(finding: HostsComparisonFinding): ChangeItem {
  const { id, kind, message, reason, doubt } = finding;
  return {
    mark: markOf(finding),
    severity: kind,
    id: asName(id),
    message: asProse(message),
    reason: asProse(reason),
    alike: [],
    texts: doubt === null ? [] : [['For review only: ', asProse(endSentence(doubt))]],
    place: null,
  };
}
