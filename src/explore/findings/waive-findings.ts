import type { ExplorePolicy } from '../../model/explore-policy.ts';
import type { Finding } from '../exploration.ts';

/** Adds to each finding the reason of the waiver for its kind and tool. `unused` are the waivers that no finding needs. */
export function waiveFindings(
  findings: readonly Finding[],
  { waivers }: Pick<ExplorePolicy, 'waivers'>,
): { findings: Finding[]; unused: ExplorePolicy['waivers'] } {
  const fits = (waiver: ExplorePolicy['waivers'][number], { kind, tool }: Finding) =>
    waiver.kind === kind && waiver.tool === tool;
  return {
    findings: findings.map((finding) => {
      const waiver = waivers.find((each) => fits(each, finding));
      return waiver === undefined ? finding : { ...finding, waived: waiver.reason };
    }),
    unused: waivers.filter((waiver) => !findings.some((finding) => fits(waiver, finding))),
  };
}
