import { endSentence } from '../base/text.ts';
import type { HostChangeKind, HostFinding } from '../model/hosts-report.ts';
import { hostProfiles } from './catalog.ts';
import { joinChanges } from './compare-hosts.ts';
import { describeFinding, isHarm, nameHost } from './compare-with-base.ts';
import type { HostProfile } from './profile.ts';
import { type ServedSurface, showSurface } from './show-surface.ts';

/** The kinds that a server shows by its declaration alone, the worst first. */
const worstKinds: readonly HostChangeKind[] = ['dropped', 'clashing', 'refused', 'cut', 'exposed', 'never-shown'];

/** Describes the worst findings of all hosts, one sentence or two for each: measured ones and those about many tools first. */
export function listWorst(servers: readonly ServedSurface[], maxListed: number): { worst: string[]; total: number } {
  const found = hostProfiles.flatMap((profile) => {
    const { tools, changes } = showSurface(profile, servers);
    const findings = joinChanges(profile.id, changes).filter(
      (finding) => isHarm(finding) && worstKinds.includes(finding.kind),
    );
    return findings.map((finding) => ({ profile, finding, count: tools.length }));
  });
  const groups = [
    ...Map.groupBy(found, ({ finding: { kind, message, tools } }) => JSON.stringify([kind, message, tools])).values(),
  ];
  const sentences = groups
    .toSorted(([a], [b]) => (a === undefined || b === undefined ? 0 : compareFindings(a.finding, b.finding)))
    .flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [
            describe(
              first,
              others.map(({ profile }) => nameHost(profile)),
            ),
          ],
    );
  return { worst: sentences.slice(0, maxListed), total: found.length };
}

function compareFindings(a: HostFinding, b: HostFinding): number {
  const rank = ({ kind, fact }: HostFinding) =>
    worstKinds.indexOf(kind) + (fact.kind === 'sourced' ? worstKinds.length : 0);
  return rank(a) - rank(b) || b.tools.length - a.tools.length;
}

function describe(
  { profile, finding, count }: { profile: HostProfile; finding: HostFinding; count: number },
  others: readonly string[],
): string {
  const sentence = endSentence(describeFinding(profile, finding, { change: null, count }));
  const last = others.at(-1);
  if (last === undefined) return sentence;
  const rest = others.slice(0, -1).join(', ');
  return `${sentence} ${others.length === 1 ? `So does ${last}` : `So do ${rest} and ${last}`}.`;
}
